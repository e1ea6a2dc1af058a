// Lists of series.
import type { Identity } from '../../auth/identify.ts'
import { parseSeriesFilter } from '../../catalog/list/filter.ts'
import { alphabeticalGroups, listSeries } from '../../catalog/list/list-series.ts'
import { parseSeriesSort, type SeriesSort, seriesSortNames } from '../../catalog/list/sort.ts'
import { SeriesFull, seriesFull } from '../../catalog/metadata/long-form.ts'
import { seriesBegun } from '../../catalog/progress/on-deck.ts'
import { Series, seriesByIds } from '../../catalog/series/series-record.ts'
import { Invalid } from '../../errors.ts'
import { pageOf, pageQuery, paging } from '../../http/pagination.ts'
import { route } from '../../http/route.ts'
import { body, count, list, maybe, nullable, record, Type, text, uuid } from '../../schema.ts'
import { conditionOnSeries } from '../books/condition.ts'
import {
  type Asked,
  bareOrPaged,
  eitherPaged,
  full,
  isPaged,
  type Kind,
  type List,
  listRoutes,
  pageWanted,
  sorting,
} from '../books/lists.ts'

type Item = Series | SeriesFull
const series: Kind<Item> = {
  of: 'series',
  permission: 'SeriesRead',
  short: Series,
  full: SeriesFull,
  byIds: ({ sql, viewer, full }, ids) => (full ? seriesFull : seriesByIds)(sql, viewer, ids),
}

const mostNames = 50
const newest =
  (sort: SeriesSort): List['find'] =>
  ({ sql, viewer, libraryId, page, pageSize }) =>
    listSeries(sql, viewer, { filter: null, libraryId, page, pageSize, sort, direction: 'desc' })

const lists: readonly List[] = [
  {
    path: '',
    summary: 'Series',
    takes: {
      ...sorting(seriesSortNames),
      genres: maybe(
        text(1000, { description: 'Names with commas between; series that have all.' }),
      ),
      tags: maybe(text(1000, { description: 'Names with commas between; series that have all.' })),
    },
    find: ({ sql, viewer, sort, order, genres, tags, ...asked }) =>
      listSeries(sql, viewer, {
        ...asked,
        ...parseSeriesSort(sort, order),
        filter: havingAll({ genre: genres, tag: tags }),
      }),
  },
  {
    path: '/in-progress',
    summary: 'Series that the caller is reading',
    description: 'With a book begun and not completed; by title.',
    bare: 500,
    find: ({ sql, viewer, ...asked }: Asked) => seriesBegun(sql, viewer, asked),
  },
  { path: '/recently-added', summary: 'Series that came last', bare: 50, find: newest('created') },
  {
    path: '/recently-updated',
    summary: 'Series that changed last',
    bare: 50,
    find: newest('updated'),
  },
]

/** Null when no name is given. Throws Invalid for more names than anybody looks for. */
function havingAll(lists: Record<string, string | undefined>) {
  const leaves = Object.entries(lists).flatMap(([field, names = '']) =>
    names
      .split(',')
      .map(name => name.trim())
      .filter(name => name !== '')
      .map(value => ({ [field]: { operator: 'is', value } })),
  )
  if (leaves.length > mostNames) throw new Invalid(`At most ${mostNames} genres and tags`)
  return leaves.length === 0 ? null : parseSeriesFilter({ allOf: leaves })
}

const asks = ({ permissions }: Identity) => ({ admin: permissions.has('SystemAdmin') })

const Wanted = body(conditionOnSeries)

export const seriesLists = [
  ...listRoutes(series, lists),
  route({
    method: 'POST',
    path: '/series/list',
    permission: 'SeriesRead',
    summary: 'Series that a condition and words choose',
    description: 'Without `sort` by relevance where words are looked for, else by title.',
    query: record({ ...pageQuery, ...sorting(seriesSortNames), ...full }),
    body: Wanted,
    bodyOptional: true,
    responses: { 200: eitherPaged<Item>(series) },
    async handle({ query, body, viewer, identity, request, reply }, { sql }) {
      const asked = paging(query)
      const { ids, total } = await listSeries(sql, viewer, {
        ...parseSeriesSort(query.sort, query.order),
        ...{ page: asked.page, pageSize: asked.pageSize },
        filter: parseSeriesFilter(body.condition, asks(identity)),
        text: body.fullTextSearch,
      })
      const data = await series.byIds({ sql, viewer, full: query.full }, ids)
      return pageOf({ request, reply, query }, { data, total, paging: asked })
    },
  }),
  route({
    method: 'POST',
    path: '/series/list/alphabetical-groups',
    permission: 'SeriesRead',
    summary: 'How many series begin with each letter',
    description: 'Of the series that the condition and the words choose, in the order of titles.',
    body: Wanted,
    bodyOptional: true,
    responses: {
      200: list(
        record({
          group: Type.String({ description: 'First character of the sort title, in lower case.' }),
          count: count(),
        }),
      ),
    },
    handle: ({ body, viewer, identity }, { sql }) =>
      alphabeticalGroups(sql, viewer, {
        filter: parseSeriesFilter(body.condition, asks(identity)),
        text: body.fullTextSearch,
      }),
  }),
  route({
    method: 'POST',
    path: '/series/search',
    permission: 'SeriesRead',
    summary: 'Search series',
    description:
      'By titles, other titles, authors and tags; the best match first. An array of at most 500.',
    query: record(pageQuery),
    body: body({
      query: text(500, { description: 'Words, or their beginnings. Blank finds nothing.' }),
      libraryId: maybe(nullable(uuid())),
      full: maybe(nullable(Type.Boolean())),
    }),
    responses: { 200: bareOrPaged<Item>(series) },
    async handle({ query, body, viewer, request, reply }, { sql }) {
      const asked = pageWanted(query, 500)
      const { page, pageSize } = asked
      const { ids, total } =
        body.query.trim() === ''
          ? { ids: [], total: 0 }
          : await listSeries(sql, viewer, {
              ...{ filter: null, text: body.query, page, pageSize },
              libraryId: body.libraryId ?? undefined,
            })
      const data = await series.byIds({ sql, viewer, full: body.full ?? undefined }, ids)
      if (!isPaged(query)) return data
      return pageOf({ request, reply, query }, { data, total, paging: asked })
    },
  }),
]
