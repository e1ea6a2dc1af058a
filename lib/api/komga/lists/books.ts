// Lists of books of the Komga-compatible API.
import { duplicateBooks } from '../../../catalog/duplicate/duplicate.ts'
import { readLists } from '../../../catalog/grouping/grouping.ts'
import { findGrouping } from '../../../catalog/grouping/list.ts'
import { booksOnDeck } from '../../../catalog/progress/continue-reading.ts'
import { requireSeries } from '../../../catalog/series/series-record.ts'
import { type Route, route } from '../../../http/route.ts'
import { BookDto, bookDtos } from '../../../komga/book-dto.ts'
import { type ParsedCondition, parseBookCondition } from '../../../komga/search/condition.ts'
import { type BookFilters, bookFilters } from '../../../komga/search/filters.ts'
import { findBooks, type Search } from '../../../komga/search/find.ts'
import { mediaStatusNames } from '../../../komga/search/keys.ts'
import type { SortProperty } from '../../../komga/search/sort.ts'
import { type Reader, readerOf } from '../../../komga/values.ts'
import type { Sql } from '../../../postgres/db.ts'
import { maybe, nullable, oneOf, record, Type, text } from '../../../schema.ts'
import { ReadListId, SeriesId } from '../../params.ts'
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
import { readStatusNames } from './series.ts'

const BookPage = pageOf(BookDto)
const texts = () => listParameter(Type.String())
const filterQuery = {
  media_status: listParameter(oneOf(mediaStatusNames)),
  read_status: listParameter(oneOf(readStatusNames)),
  tag: texts(),
}
const memberQuery = {
  ...filterQuery,
  deleted: maybe(Type.Boolean()),
  author: listParameter(Type.String(), { hasCommas: false }),
}

/** A condition and a full-text query; no body is none of both. */
const BookSearch = record(
  {
    condition: maybe(nullable(Type.Unsafe<unknown>({ type: 'object' }))),
    fullTextSearch: maybe(nullable(text(500))),
  },
  { component: 'BookSearch' },
)

const contextOf = ({ isAdmin }: Reader) => ({ isAdmin, now: new Date() })
const by = (property: string, isDescending: boolean): SortProperty[] => [{ property, isDescending }]

type BookList = { sql: Sql; reader: Reader; request: PageRequest; search: Search }

/** The books of a search in an order. */
function bookList({ sql, reader, request, search }: BookList, sort: readonly SortProperty[]) {
  const seed = seedOf(reader, request)
  return listResponse({
    ...{ request, sort, item: BookDto },
    find: window => findBooks(sql, reader, { ...search, ...window, sort, seed }),
    load: ids => bookDtos(sql, reader, ids),
  })
}

const conditionOf = (
  filters: BookFilters,
  scope: { seriesId?: string; readListId?: string },
  reader: Reader,
): ParsedCondition => bookFilters(filters, scope, contextOf(reader))

const orElse = (sort: string[] | undefined, order: SortProperty[]): SortProperty[] => {
  const keys = sortKeys(sort)
  return keys.length > 0 ? keys : order
}

export const bookLists: Route[] = [
  route({
    operationId: 'getBooksLatest',
    method: 'GET',
    path: '/books/latest',
    permission: 'BooksRead',
    summary: 'Recently added or changed books',
    query: record(pageQuery),
    responses: { 200: BookPage },
    cost: ({ query }) => costOfList(pageRequest(query), () => ({ condition: null })),
    handle(input, { sql }) {
      const request = pageRequest(input.query)
      const list = {
        sql,
        reader: readerOf(input),
        request,
        search: { condition: null, includeDeleted: false },
      }
      return bookList(list, by('lastModified', true)) as never
    },
  }),
  route({
    operationId: 'getBooksOnDeck',
    method: 'GET',
    path: '/books/ondeck',
    permission: 'BooksRead',
    summary: 'The next books of the series that the caller reads',
    description:
      'The first unread book of each series with a completed book and none in progress; the last read series first.',
    query: record({ ...pageQuery, library_id: texts() }),
    responses: { 200: BookPage },
    cost: ({ query }) =>
      costOfList(pageRequest(query), () => ({ condition: null }), { isShort: true }),
    handle(input, { sql }) {
      const { viewer, query } = input
      const reader = readerOf(input)
      const { library_id: ids } = query
      const isRequested = (id: string) => ids === undefined || ids.includes(id)
      const libraries = viewer.libraries?.filter(isRequested) ?? libraryIds(ids)
      return listResponse({
        ...{ request: pageRequest(query), sort: [], item: BookDto },
        find: ({ offset, limit }) =>
          booksOnDeck(
            sql,
            { ...viewer, libraries },
            { page: Math.floor(offset / limit) + 1, pageSize: limit },
          ),
        load: ids => bookDtos(sql, reader, ids),
      }) as never
    },
  }),
  route({
    operationId: 'getBooksDuplicates',
    method: 'GET',
    path: '/books/duplicates',
    permission: 'SystemAdmin',
    cost: 'list',
    summary: 'Books with equal files',
    description: 'By the hash of their files.',
    query: record({ ...pageQuery, ...sortQuery }),
    responses: { 200: BookPage },
    handle(input, { sql }) {
      const reader = readerOf(input)
      return listResponse({
        ...{ request: pageRequest(input.query), sort: by('fileHash', false), item: BookDto },
        find: window => duplicateBooks(sql, input.viewer, window),
        load: ids => bookDtos(sql, reader, ids),
      }) as never
    },
  }),
  route({
    operationId: 'getAllBooksDeprecated',
    method: 'GET',
    path: '/books',
    permission: 'BooksRead',
    summary: 'List books',
    query: record({
      ...{ ...pageQuery, ...sortQuery, ...filterQuery, library_id: texts() },
      search: maybe(text(500)),
      released_after: maybe(text(40)),
    }),
    responses: { 200: BookPage },
    cost: input =>
      costOfList(pageRequest(input.query), () => conditionOf(input.query, {}, readerOf(input))),
    handle(input, { sql }) {
      const { query } = input
      const reader = readerOf(input)
      const search = { ...conditionOf(query, {}, reader), fullText: query.search }
      const list = { sql, reader, request: pageRequest(query), search }
      return bookList(list, sortKeys(query.sort)) as never
    },
  }),
  route({
    operationId: 'getBooks',
    method: 'POST',
    path: '/books/list',
    permission: 'BooksRead',
    summary: 'List books by condition and text',
    query: record({ ...pageQuery, ...sortQuery }),
    body: BookSearch,
    bodyOptional: true,
    responses: { 200: BookPage },
    cost: ({ query, body, ...input }) =>
      costOfList(pageRequest(query), () =>
        parseBookCondition(body?.condition, contextOf(readerOf(input))),
      ),
    handle(input, { sql }) {
      const { query, body } = input
      const reader = readerOf(input)
      const search = {
        ...parseBookCondition(body?.condition, contextOf(reader)),
        fullText: body?.fullTextSearch,
      }
      const list = { sql, reader, request: pageRequest(query), search }
      return bookList(list, sortKeys(query.sort)) as never
    },
  }),
  route({
    operationId: 'getBooksBySeriesId',
    method: 'GET',
    path: '/series/{id}/books',
    permission: { all: ['SeriesRead'], any: ['BooksRead'] },
    summary: 'List the books of a series',
    params: SeriesId,
    query: record({ ...pageQuery, ...sortQuery, ...memberQuery }),
    responses: { 200: BookPage },
    cost: ({ query }) =>
      costOfList(pageRequest(query), () => ({ condition: null }), { isShort: true }),
    async handle(input, { sql }) {
      const { viewer, query } = input
      const seriesId = input.params.id
      const reader = readerOf(input)
      await requireSeries(sql, viewer, seriesId)
      const search = conditionOf(query, { seriesId }, reader)
      const list = { sql, reader, request: pageRequest(query), search }
      const sort = orElse(query.sort, by('metadata.numberSort', false))
      return (await bookList(list, sort)) as never
    },
  }),
  route({
    operationId: 'getBooksByReadListId',
    method: 'GET',
    path: '/readlists/{id}/books',
    permission: { all: ['BooksRead'], any: ['ReadListsRead'] },
    summary: 'List the books of a read list',
    params: ReadListId,
    query: record({ ...pageQuery, ...sortQuery, ...memberQuery, library_id: texts() }),
    responses: { 200: BookPage },
    cost: ({ query }) =>
      costOfList(pageRequest(query), () => ({ condition: null }), { isShort: true }),
    async handle(input, { sql }) {
      const { viewer, query } = input
      const readListId = input.params.id
      const reader = readerOf(input)
      const request = { id: readListId, withEmpty: reader.isAdmin }
      const { ordered } = await findGrouping(sql, viewer, readLists, request)
      const search = conditionOf(query, { readListId }, reader)
      const list = { sql, reader, request: pageRequest(query), search }
      const order = by(ordered ? 'readList.number' : 'metadata.releaseDate', false)
      return (await bookList(list, orElse(query.sort, order))) as never
    },
  }),
]

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Null for all; ids that no library can have are left out. */
const libraryIds = (ids: readonly string[] | undefined) =>
  ids === undefined ? null : ids.filter(id => uuid.test(id))
