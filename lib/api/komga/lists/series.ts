// Lists of series of the Komga-compatible API.

import { collections } from '../../../catalog/grouping/grouping.ts'
import { findGrouping } from '../../../catalog/grouping/list.ts'
import { type Route, route } from '../../../http/route.ts'
import { parseSeriesCondition } from '../../../komga/search/condition.ts'
import { allOfParts, type Part, predicate } from '../../../komga/search/condition-tree.ts'
import { type SeriesFilters, seriesFilters } from '../../../komga/search/filters.ts'
import { findSeries, groupSeries, type Search } from '../../../komga/search/find.ts'
import type { SortProperty } from '../../../komga/search/sort.ts'
import { SeriesDto, seriesDtos } from '../../../komga/series-dto.ts'
import { type Reader, readerOf, seriesStatusNames } from '../../../komga/values.ts'
import type { Sql } from '../../../postgres/db.ts'
import { list, maybe, nullable, oneOf, record, Type, text } from '../../../schema.ts'
import { CollectionId } from '../../params.ts'
import {
  type PageRequest,
  pageOf,
  pageQuery,
  pageRequest,
  sortKeys,
  sortQuery,
} from '../http/paging.ts'
import { listParameter } from '../http/read-request.ts'
import { costOfList, listResponse, seedOf } from './list-response.ts'

const SeriesPage = pageOf(SeriesDto)
const texts = () => listParameter(Type.String())

export const readStatusNames = ['UNREAD', 'READ', 'IN_PROGRESS'] as const

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

/** A condition and a full-text query; no body is none of both. */
const SeriesSearch = record(
  {
    condition: maybe(nullable(Type.Unsafe<unknown>({ type: 'object' }))),
    fullTextSearch: maybe(nullable(text(500))),
  },
  { component: 'SeriesSearch' },
)

const contextOf = ({ isAdmin }: Reader) => ({ isAdmin, now: new Date() })

type SeriesList = { sql: Sql; reader: Reader; request: PageRequest; search: Search }

/** The series of a search in an order. */
function seriesList({ sql, reader, request, search }: SeriesList, sort: readonly SortProperty[]) {
  const seed = seedOf(reader, request)
  return listResponse({
    ...{ request, sort, item: SeriesDto },
    find: window => findSeries(sql, reader, { ...search, ...window, sort, seed }),
    load: ids => seriesDtos(sql, reader, ids),
  })
}

const GroupCount = record(
  { group: Type.String(), count: Type.Integer() },
  { component: 'GroupCountDto' },
)

type GetList = {
  operationId: string
  path: string
  summary: string
  sort: readonly SortProperty[]
  /** Beside the filters. */
  only?: Part
}

const by = (property: string, isDescending = true): SortProperty[] => [{ property, isDescending }]
const isChanged = predicate('isUnchanged', { kind: 'boolean', value: true }, true)

const recent: Route[] = (
  [
    {
      ...{ operationId: 'getSeriesNew', path: '/series/new', summary: 'Recently added series' },
      sort: by('created'),
    },
    {
      ...{ operationId: 'getSeriesUpdated', path: '/series/updated' },
      ...{ summary: 'Recently changed series, not those that were only added' },
      ...{ sort: by('lastModified'), only: isChanged },
    },
    {
      ...{ operationId: 'getSeriesLatest', path: '/series/latest' },
      ...{ summary: 'Recently added or changed series', sort: by('lastModified') },
    },
  ] satisfies GetList[]
).map(({ sort, only = null, ...spec }: GetList) =>
  route({
    ...{ ...spec, method: 'GET', permission: 'SeriesRead' },
    query: record({ ...pageQuery, ...recentQuery }),
    responses: { 200: SeriesPage },
    cost: ({ query }) => costOfList(pageRequest(query), () => ({ condition: only })),
    handle(input, { sql }) {
      const reader = readerOf(input)
      const filters = seriesFilters(input.query, contextOf(reader))
      const search = { ...filters, condition: allOfParts([filters.condition, only]) }
      return seriesList({ sql, reader, request: pageRequest(input.query), search }, sort) as never
    },
  }),
)

const conditionOf = (filters: SeriesFilters, reader: Reader) =>
  seriesFilters(filters, contextOf(reader))

export const seriesLists: Route[] = [
  ...recent,
  route({
    operationId: 'getSeriesDeprecated',
    method: 'GET',
    path: '/series',
    permission: 'SeriesRead',
    summary: 'List series',
    query: record({ ...pageQuery, ...sortQuery, ...filterQuery }),
    responses: { 200: SeriesPage },
    cost: input =>
      costOfList(pageRequest(input.query), () => conditionOf(input.query, readerOf(input))),
    handle(input, { sql }) {
      const { query } = input
      const reader = readerOf(input)
      const search = { ...conditionOf(query, reader), fullText: query.search }
      const request = pageRequest(query)
      return seriesList({ sql, reader, request, search }, sortKeys(query.sort)) as never
    },
  }),
  route({
    operationId: 'getSeries',
    method: 'POST',
    path: '/series/list',
    permission: 'SeriesRead',
    summary: 'List series by condition and text',
    query: record({ ...pageQuery, ...sortQuery }),
    body: SeriesSearch,
    bodyOptional: true,
    responses: { 200: SeriesPage },
    cost: ({ query, body, ...input }) =>
      costOfList(pageRequest(query), () =>
        parseSeriesCondition(body?.condition, contextOf(readerOf(input))),
      ),
    handle(input, { sql }) {
      const { query, body } = input
      const reader = readerOf(input)
      const search = {
        ...parseSeriesCondition(body?.condition, contextOf(reader)),
        fullText: body?.fullTextSearch,
      }
      const request = pageRequest(query)
      return seriesList({ sql, reader, request, search }, sortKeys(query.sort)) as never
    },
  }),
  route({
    operationId: 'getSeriesAlphabeticalGroups',
    method: 'POST',
    path: '/series/list/alphabetical-groups',
    permission: 'SeriesRead',
    cost: 'list',
    summary: 'Number of series by the first character of their sort titles',
    body: SeriesSearch,
    bodyOptional: true,
    responses: { 200: list(GroupCount) },
    async handle(input, { sql }) {
      const reader = readerOf(input)
      const { body } = input
      return await groupSeries(sql, reader, {
        ...parseSeriesCondition(body?.condition, contextOf(reader)),
        fullText: body?.fullTextSearch,
      })
    },
  }),
  route({
    operationId: 'getSeriesAlphabeticalGroupsDeprecated',
    method: 'GET',
    path: '/series/alphabetical-groups',
    permission: 'SeriesRead',
    cost: 'list',
    summary: 'Number of series by the first character of their sort titles',
    query: record(filterQuery),
    responses: { 200: list(GroupCount) },
    async handle(input, { sql }) {
      const reader = readerOf(input)
      const { query } = input
      return await groupSeries(sql, reader, {
        ...conditionOf(query, reader),
        fullText: query.search,
      })
    },
  }),
  route({
    operationId: 'getSeriesByCollectionId',
    method: 'GET',
    path: '/collections/{id}/series',
    permission: { all: ['SeriesRead'], any: ['CollectionsRead'] },
    summary: 'List the series of a collection',
    params: CollectionId,
    query: record({ ...pageQuery, ...memberQuery, ...sortQuery }),
    responses: { 200: SeriesPage },
    cost: ({ query }) =>
      costOfList(pageRequest(query), () => ({ condition: null }), { isShort: true }),
    async handle(input, { sql }) {
      const { id } = input.params
      const reader = readerOf(input)
      const withEmpty = reader.isAdmin
      const found = await findGrouping(sql, input.viewer, collections, { id, withEmpty })
      const filters = { ...input.query, collection_id: [id] }
      const search = conditionOf(filters, reader)
      const requested = sortKeys(input.query.sort)
      const order = by(found.ordered ? 'collection.number' : 'metadata.titleSort', false)
      const sort = requested.length > 0 ? requested : order
      return (await seriesList(
        { sql, reader, request: pageRequest(input.query), search },
        sort,
      )) as never
    },
  }),
]
