// Lists of series of the Komga-compatible API.

import { component, list, maybe, oneOf, record, Type, text } from '../../../../base/schema.ts'
import { CollectionId } from '../../../../http/params.ts'
import { type Route, route } from '../../../../http/route.ts'
import { collections } from '../../../../organize/grouping/grouping.ts'
import { findGrouping } from '../../../../organize/grouping/list.ts'
import { parseSeriesCondition } from '../../search/condition.ts'
import { allOfParts, type Part, predicate } from '../../search/condition-tree.ts'
import { seriesFilters } from '../../search/filters.ts'
import { findSeries, groupSeries } from '../../search/find.ts'
import { readStatusNames } from '../../search/keys.ts'
import type { SortProperty } from '../../search/sort.ts'
import { SeriesDto, seriesDtos } from '../../series-dto.ts'
import { readerOf, seriesStatusNames } from '../../values.ts'
import { listParameter } from '../http/read-request.ts'
import { contextOf, listRoutes, searchBody } from './list-route.ts'

const texts = () => listParameter(Type.String())

const recentQuery = {
  library_id: texts(),
  deleted: maybe(Type.Boolean()),
  oneshot: maybe(Type.Boolean()),
}
const memberQuery = {
  library_id: texts(),
  status: listParameter(oneOf(seriesStatusNames)),
  read_status: listParameter(oneOf(readStatusNames)),
  publisher: listParameter(Type.String(), { hasCommas: false }),
  language: texts(),
  genre: texts(),
  tag: texts(),
  age_rating: texts(),
  release_year: texts(),
  deleted: maybe(Type.Boolean()),
  complete: maybe(Type.Boolean()),
  author: listParameter(Type.String(), { hasCommas: false }),
}
const filterQuery = {
  ...memberQuery,
  search: maybe(text(500)),
  collection_id: texts(),
  sharing_label: texts(),
  oneshot: maybe(Type.Boolean()),
  search_regex: maybe(text(300)),
}

const SeriesSearch = searchBody('SeriesSearch')

const GroupCount = component('GroupCountDto', { group: Type.String(), count: Type.Integer() })

const { filtered, searched, members } = listRoutes({
  item: SeriesDto,
  permission: 'SeriesRead',
  find: findSeries,
  load: seriesDtos,
  parse: parseSeriesCondition,
})

const by = (property: string, isDescending = true): SortProperty[] => [{ property, isDescending }]
const isChanged = predicate('isUnchanged', { kind: 'boolean', value: true }, true)

type RecentList = { operationId: string; path: string; summary: string; sort: SortProperty[] }

/** `only`: an additional condition. */
const recent = (names: RecentList, only: Part = null): Route =>
  filtered({
    ...names,
    filters: record(recentQuery),
    search(filters, reader) {
      const { condition, ...search } = seriesFilters(filters, contextOf(reader))
      return { ...search, condition: allOfParts([condition, only]) }
    },
  })

export const seriesLists: Route[] = [
  recent({
    operationId: 'getSeriesNew',
    path: '/series/new',
    summary: 'List recently added series',
    sort: by('created'),
  }),
  recent(
    {
      operationId: 'getSeriesUpdated',
      path: '/series/updated',
      summary: 'List recently changed series, except those that were only added',
      sort: by('lastModified'),
    },
    isChanged,
  ),
  recent({
    operationId: 'getSeriesLatest',
    path: '/series/latest',
    summary: 'List recently added or changed series',
    sort: by('lastModified'),
  }),
  filtered({
    operationId: 'getSeriesDeprecated',
    path: '/series',
    summary: 'List series',
    filters: record(filterQuery),
    search: ({ search, ...filters }, reader) => ({
      ...seriesFilters(filters, contextOf(reader)),
      fullText: search,
    }),
  }),
  searched({
    operationId: 'getSeries',
    path: '/series/list',
    summary: 'List series by condition and text',
    body: SeriesSearch,
  }),
  members({
    operationId: 'getSeriesByCollectionId',
    path: '/collections/{id}/series',
    summary: 'List the series of a collection',
    permission: { all: ['SeriesRead'], any: ['CollectionsRead'] },
    params: CollectionId,
    filters: record(memberQuery),
    search: (filters, reader, id) =>
      seriesFilters({ ...filters, collection_id: [id] }, contextOf(reader)),
    async orderOf(db, { viewer, isAdmin }, id) {
      const { ordered } = await findGrouping(db, viewer, collections, { id, withEmpty: isAdmin })
      return by(ordered ? 'collection.number' : 'metadata.titleSort', false)
    },
  }),
  route('POST /series/list/alphabetical-groups', {
    operationId: 'getSeriesAlphabeticalGroups',
    permission: 'SeriesRead',
    cost: 'list',
    summary: 'Count series by the first character of their sort titles',
    body: SeriesSearch,
    bodyOptional: true,
    responses: { 200: list(GroupCount) },
    async handle(input, deps) {
      const reader = readerOf(input)
      const { body } = input
      return await groupSeries(deps, reader, {
        ...parseSeriesCondition(body?.condition, contextOf(reader)),
        fullText: body?.fullTextSearch,
      })
    },
  }),
  route('GET /series/alphabetical-groups', {
    operationId: 'getSeriesAlphabeticalGroupsDeprecated',
    permission: 'SeriesRead',
    cost: 'list',
    summary: 'Count series by the first character of their sort titles',
    query: record(filterQuery),
    responses: { 200: list(GroupCount) },
    async handle(input, deps) {
      const reader = readerOf(input)
      const { search, ...filters } = input.query
      return await groupSeries(deps, reader, {
        ...seriesFilters(filters, contextOf(reader)),
        fullText: search,
      })
    },
  }),
]
