// Lists of series.
import type { Identity } from '../../../accounts/identify.ts'
import {
  body,
  component,
  count,
  maybe,
  optional,
  record,
  Type,
  text,
  uuid,
} from '../../../base/schema.ts'
import { paged, shortListQuery, shortListResponse } from '../../../http/pagination.ts'
import { route } from '../../../http/route.ts'
import { parseSeriesFilter } from '../../../list/condition.ts'
import { alphabeticalGroups, listSeries } from '../../../list/list-series.ts'
import { seriesFilter } from '../../../list/routes/filter-schema.ts'
import {
  type ItemKind,
  libraryListRoutes,
  listCost,
  listRoutes,
  sortQuery,
} from '../../../list/routes/list-routes.ts'
import { parseSeriesSort, seriesSortNames } from '../../../list/sort.ts'
import { seriesInProgress } from '../../../reading/progress/continue-reading.ts'
import { SeriesFull, seriesFull } from '../../metadata/full-records.ts'
import { grownSeries } from '../grown-series.ts'
import { Series, seriesByIds } from '../series-record.ts'

export const series: ItemKind = {
  path: 'series',
  permission: 'SeriesRead',
  short: { schema: Series, load: seriesByIds },
  full: { schema: SeriesFull, load: seriesFull },
}

const namesPattern = '^[^,\\u0000]{0,500}(?:,[^,\\u0000]{0,500}){0,49}$'
const names = (label: string) =>
  maybe(
    text(2000, {
      pattern: namesPattern,
      description: `Up to 50 names of ${label}, separated by commas; only series that have all of them.`,
      examples: ['Drama,Mystery'],
    }),
  )
export const labelQuery = { genres: names('genres'), tags: names('tags') }
const SeriesFilter = body('SeriesFilter', seriesFilter)
const AlphabeticalGroup = component('AlphabeticalGroup', {
  group: Type.String({ description: 'First character of the sort title, in lower case.' }),
  count: count({ description: 'Number of series.' }),
})

export const seriesLists = [
  ...libraryListRoutes(series, {
    operationId: 'listSeries',
    path: '',
    summary: 'List series',
    query: { ...sortQuery(seriesSortNames), ...labelQuery },
    find: ({ sql, services, viewer, libraryId, query, page, pageSize }) =>
      listSeries({ sql, services }, viewer, {
        ...parseSeriesSort(query.sort, query.order),
        ...{ libraryId, page, pageSize },
        filter: labelFilter({ genre: query.genres, tag: query.tags }),
      }),
  }),
  ...libraryListRoutes(series, {
    operationId: 'listSeriesInProgress',
    path: '/in-progress',
    summary: 'List series in progress',
    description: 'Series with a book that the caller has started and not completed, by title.',
    find: ({ sql, viewer, ...request }) => seriesInProgress(sql, viewer, request),
  }),
  ...libraryListRoutes(series, {
    operationId: 'listRecentlyAddedSeries',
    path: '/recently-added',
    summary: 'Recently added series',
    find: ({ sql, services, viewer, libraryId, page, pageSize }) =>
      listSeries({ sql, services }, viewer, {
        ...{ filter: null, libraryId, page, pageSize },
        ...{ sort: 'created', direction: 'desc' },
      }),
  }),
  ...libraryListRoutes(series, {
    operationId: 'listRecentlyUpdatedSeries',
    path: '/recently-updated',
    summary: 'Recently updated series',
    query: {
      grown: maybe(
        Type.Boolean({
          description:
            'Only series that got books after the scan that added them, sorted by those books.',
        }),
      ),
    },
    find: ({ sql, services, viewer, libraryId, query, page, pageSize }) =>
      query.grown
        ? grownSeries(sql, viewer, { libraryId, page, pageSize })
        : listSeries({ sql, services }, viewer, {
            ...{ filter: null, libraryId, page, pageSize },
            ...{ sort: 'updated', direction: 'desc' },
          }),
  }),
  ...listRoutes(series, {
    operationId: 'filterSeries',
    method: 'POST',
    path: '/series/list',
    summary: 'List series by condition and text',
    description: 'Without `sort`, sorted by relevance if there is a text, otherwise by title.',
    query: sortQuery(seriesSortNames),
    body: SeriesFilter,
    bodyOptional: true,
    find: ({ sql, services, viewer, identity, query, body, page, pageSize }) =>
      listSeries({ sql, services }, viewer, {
        ...parseSeriesSort(query.sort, query.order),
        ...{ page, pageSize },
        filter: parseSeriesFilter(body.condition, roleOf(identity)),
        text: body.fullTextSearch,
      }),
  }),
  route('POST /series/list/alphabetical-groups', {
    operationId: 'listSeriesAlphabeticalGroups',
    permission: 'SeriesRead',
    summary: 'Number of series by initial letter',
    description: 'Counts the series that match the condition and the text, in title order.',
    query: record(shortListQuery),
    body: SeriesFilter,
    bodyOptional: true,
    responses: { 200: paged(AlphabeticalGroup) },
    cost: listCost,
    async handle({ body, viewer, identity, ...input }, deps) {
      const groups = await alphabeticalGroups(deps, viewer, {
        filter: parseSeriesFilter(body.condition, roleOf(identity)),
        text: body.fullTextSearch,
      })
      return shortListResponse(input, groups)
    },
  }),
  ...listRoutes(series, {
    operationId: 'searchSeries',
    method: 'POST',
    path: '/series/search',
    summary: 'Search series',
    description: 'Searches titles, alternate titles, authors and tags; best match first.',
    body: body('SeriesSearch', {
      query: text(500, { description: 'Words or word prefixes. A blank query has no results.' }),
      libraryId: optional(uuid({ description: 'Limits the search to this library.' })),
      full: maybe(Type.Boolean({ description: 'Includes metadata, like /series/search/full.' })),
    }),
    hasFullInBody: true,
    async find({ sql, services, viewer, body, page, pageSize }) {
      if (body.query.trim() === '') return { ids: [], total: 0 }
      return await listSeries({ sql, services }, viewer, {
        ...{ filter: null, text: body.query, page, pageSize },
        libraryId: body.libraryId ?? undefined,
      })
    },
  }),
]

/** A filter for series with all these labels; null if there are none. */
export function labelFilter(lists: Record<string, string | undefined>) {
  const conditions = Object.entries(lists).flatMap(([field, names = '']) =>
    names
      .split(',')
      .map(name => name.trim())
      .filter(name => name !== '')
      .map(value => ({ [field]: { operator: 'is', value } })),
  )
  return conditions.length === 0 ? null : parseSeriesFilter({ allOf: conditions })
}

const roleOf = ({ permissions }: Identity) => ({ isAdmin: permissions.has('SystemAdmin') })
