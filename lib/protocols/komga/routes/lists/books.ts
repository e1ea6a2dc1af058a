// Lists of books of the Komga-compatible API.

import { maybe, oneOf, record, Type, text } from '../../../../base/schema.ts'
import { duplicateBooks } from '../../../../catalog/duplicate/duplicate.ts'
import { requireSeries } from '../../../../catalog/series/series-record.ts'
import { ReadListId, SeriesId } from '../../../../http/params.ts'
import { type Route, route } from '../../../../http/route.ts'
import { readLists } from '../../../../organize/grouping/grouping.ts'
import { findGrouping } from '../../../../organize/grouping/list.ts'
import { booksOnDeck } from '../../../../reading/progress/continue-reading.ts'
import { BookDto, bookDtos } from '../../book-dto.ts'
import { parseBookCondition } from '../../search/condition.ts'
import { bookFilters } from '../../search/filters.ts'
import { findBooks } from '../../search/find.ts'
import { mediaStatusNames, readStatusNames } from '../../search/keys.ts'
import type { SortProperty } from '../../search/sort.ts'
import { readerOf } from '../../values.ts'
import { pageOf, pageQuery, pageRequest, sortQuery } from '../http/paging.ts'
import { listParameter } from '../http/read-request.ts'
import { costOfList, listResponse, withinLibraries } from './list-response.ts'
import { contextOf, listRoutes, searchBody } from './list-route.ts'

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

const by = (property: string, isDescending: boolean): SortProperty[] => [{ property, isDescending }]

const { filtered, searched, members } = listRoutes({
  item: BookDto,
  permission: 'BooksRead',
  find: findBooks,
  load: bookDtos,
  parse: parseBookCondition,
})

export const bookLists: Route[] = [
  filtered({
    operationId: 'getBooksLatest',
    path: '/books/latest',
    summary: 'List recently added or changed books',
    filters: record({}),
    search: () => ({ condition: null, includeDeleted: false }),
    sort: by('lastModified', true),
  }),
  filtered({
    operationId: 'getAllBooksDeprecated',
    path: '/books',
    summary: 'List books',
    filters: record({
      ...{ ...filterQuery, library_id: texts() },
      search: maybe(text(500)),
      released_after: maybe(text(40)),
    }),
    search: ({ search, ...filters }, reader) => ({
      ...bookFilters(filters, {}, contextOf(reader)),
      fullText: search,
    }),
  }),
  searched({
    operationId: 'getBooks',
    path: '/books/list',
    summary: 'List books by condition and text',
    body: searchBody('BookSearch'),
  }),
  members({
    operationId: 'getBooksBySeriesId',
    path: '/series/{id}/books',
    summary: 'List the books of a series',
    permission: { all: ['SeriesRead'], any: ['BooksRead'] },
    params: SeriesId,
    filters: record(memberQuery),
    search: (filters, reader, seriesId) => bookFilters(filters, { seriesId }, contextOf(reader)),
    async orderOf({ sql }, { viewer }, id) {
      await requireSeries(sql, viewer, id)
      return by('metadata.numberSort', false)
    },
  }),
  members({
    operationId: 'getBooksByReadListId',
    path: '/readlists/{id}/books',
    summary: 'List the books of a read list',
    permission: { all: ['BooksRead'], any: ['ReadListsRead'] },
    params: ReadListId,
    filters: record({ ...memberQuery, library_id: texts() }),
    search: (filters, reader, readListId) =>
      bookFilters(filters, { readListId }, contextOf(reader)),
    async orderOf(db, { viewer, isAdmin }, id) {
      const { ordered } = await findGrouping(db, viewer, readLists, { id, withEmpty: isAdmin })
      return by(ordered ? 'readList.number' : 'metadata.releaseDate', false)
    },
  }),
  route('GET /books/ondeck', {
    operationId: 'getBooksOnDeck',
    permission: 'BooksRead',
    summary: 'List the next book of each series the caller is reading',
    description:
      'The first unread book of each series with a completed book and none in progress; most recently read series first.',
    query: record({ ...pageQuery, library_id: texts() }),
    responses: { 200: pageOf(BookDto) },
    cost: ({ query }) =>
      costOfList(pageRequest(query), () => ({ condition: null }), { isShort: true }),
    handle({ query, ...input }, { sql }) {
      const viewer = withinLibraries(input.viewer, query.library_id)
      return listResponse({
        ...{ request: pageRequest(query), sort: [], item: BookDto },
        find: ({ offset, limit }) =>
          booksOnDeck(sql, viewer, { page: Math.floor(offset / limit) + 1, pageSize: limit }),
        load: ids => bookDtos(sql, readerOf(input), ids),
      })
    },
  }),
  route('GET /books/duplicates', {
    operationId: 'getBooksDuplicates',
    permission: 'SystemAdmin',
    cost: 'list',
    summary: 'List books with identical files',
    description: 'Sorted by file hash.',
    query: record({ ...pageQuery, ...sortQuery }),
    responses: { 200: pageOf(BookDto) },
    handle: (input, { sql }) =>
      listResponse({
        ...{ request: pageRequest(input.query), sort: by('fileHash', false), item: BookDto },
        find: window => duplicateBooks(sql, input.viewer, window),
        load: ids => bookDtos(sql, readerOf(input), ids),
      }),
  }),
]
