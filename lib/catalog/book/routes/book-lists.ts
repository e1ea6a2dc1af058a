// Lists of books.

import { body, maybe, Type, uuid } from '../../../base/schema.ts'
import { parseBookFilter } from '../../../list/condition.ts'
import { listBooks } from '../../../list/list-books.ts'
import { bookFilter } from '../../../list/routes/filter-schema.ts'
import {
  type ItemKind,
  libraryListRoutes,
  listRoutes,
  sortQuery,
} from '../../../list/routes/list-routes.ts'
import { bookSortNames, parseBookSort } from '../../../list/sort.ts'
import { booksInProgress, booksOnDeck } from '../../../reading/progress/continue-reading.ts'
import { BookFull, booksFull } from '../../metadata/full-records.ts'
import { Book, booksByIds } from '../book-record.ts'

export const books: ItemKind = {
  path: 'books',
  permission: 'BooksRead',
  short: { schema: Book, load: booksByIds },
  full: { schema: BookFull, load: booksFull },
}

export const bookLists = [
  ...libraryListRoutes(books, {
    operationId: 'listBooks',
    path: '',
    summary: 'List books',
    query: {
      seriesId: maybe(uuid({ description: 'Limits the list to this series.' })),
      ...sortQuery(bookSortNames),
    },
    find: ({
      sql,
      services,
      viewer,
      libraryId,
      query: { seriesId, sort, order },
      page,
      pageSize,
    }) =>
      listBooks({ sql, services }, viewer, {
        ...parseBookSort(sort, order),
        ...{ filter: null, libraryId, seriesId, page, pageSize },
      }),
  }),
  ...libraryListRoutes(books, {
    operationId: 'listBooksInProgress',
    path: '/in-progress',
    summary: 'List books in progress',
    description: 'Books that the caller has started and not completed, most recently read first.',
    find: ({ sql, services, viewer, ...request }) =>
      booksInProgress({ sql, services }, viewer, request),
  }),
  ...libraryListRoutes(books, {
    operationId: 'listOnDeckBooks',
    path: '/on-deck',
    summary: 'List books on deck',
    description:
      'The first unread book of each series in which the caller has completed a book and has none in progress. The most recently read series comes first.',
    find: ({ sql, viewer, ...request }) => booksOnDeck(sql, viewer, request),
  }),
  ...libraryListRoutes(books, {
    operationId: 'listRecentlyAddedBooks',
    path: '/recently-added',
    summary: 'Recently added books',
    find: ({ sql, services, viewer, libraryId, page, pageSize }) =>
      listBooks({ sql, services }, viewer, {
        ...{ filter: null, libraryId, page, pageSize },
        ...{ sort: 'created', direction: 'desc' },
      }),
  }),
  ...libraryListRoutes(books, {
    operationId: 'listRecentlyReadBooks',
    path: '/recently-read',
    summary: 'Recently read books',
    description: 'Including completed books.',
    find: ({ sql, services, viewer, ...request }) =>
      booksInProgress({ sql, services }, viewer, { ...request, includeCompleted: true }),
  }),
  ...listRoutes(books, {
    operationId: 'listCurrentlyReading',
    path: '/progress/currently-reading',
    summary: 'List books the caller is reading',
    description: 'The same list as /books/in-progress.',
    query: { libraryId: maybe(uuid({ description: 'Limits the list to this library.' })) },
    find: ({ sql, services, viewer, query: { libraryId }, page, pageSize }) =>
      booksInProgress({ sql, services }, viewer, { libraryId, page, pageSize }),
  }),
  ...listRoutes(books, {
    operationId: 'filterBooks',
    method: 'POST',
    path: '/books/list',
    summary: 'List books by condition and text',
    description: 'Without `sort`, sorted by relevance if there is a text, otherwise by title.',
    query: sortQuery(bookSortNames),
    body: body('BookFilter', {
      ...bookFilter,
      includeDeleted: maybe(
        Type.Boolean({ description: 'Includes missing books; requires BooksWrite.' }),
      ),
    }),
    bodyOptional: true,
    find: ({ sql, services, viewer, identity, query, body, page, pageSize }) =>
      listBooks({ sql, services }, viewer, {
        ...parseBookSort(query.sort, query.order),
        ...{ page, pageSize },
        filter: parseBookFilter(body.condition),
        text: body.fullTextSearch,
        includeDeleted: body.includeDeleted === true && identity.permissions.has('BooksWrite'),
      }),
  }),
]
