// Individual books.

import { Forbidden } from '../../../base/errors.ts'
import { component, maybe, nullable, record, uuid } from '../../../base/schema.ts'
import { missingPermission } from '../../../http/authorize.ts'
import { BookId } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import { neighborsInReadList } from '../../../organize/grouping/contents.ts'
import { BookDetail, BookFull, findBookDetail, findBookFull } from '../../metadata/full-records.ts'
import { neighbors } from '../../series/series-books.ts'
import { Book, booksByIds } from '../book-record.ts'

const AdjacentBooks = component('AdjacentBooks', { prev: nullable(Book), next: nullable(Book) })

export const booksById = [
  route('GET /books/{id}', {
    operationId: 'getBook',
    permission: 'BooksRead',
    summary: 'Get a book',
    params: BookId,
    responses: { 200: BookDetail },
    handle: ({ params, viewer }, { sql }) => findBookDetail(sql, viewer, params.id),
  }),
  route('GET /books/{id}/full', {
    operationId: 'getBookFull',
    aliases: [{ path: '/books/{id}', whenFull: true }],
    permission: 'BooksRead',
    summary: 'Get a book, with metadata',
    description: 'One object that includes genres, tags and reading history.',
    params: BookId,
    responses: { 200: BookFull },
    handle: ({ params, viewer }, { sql }) => findBookFull(sql, viewer, params.id),
  }),
  route('GET /books/{id}/adjacent', {
    operationId: 'getAdjacentBooks',
    permission: 'BooksRead',
    summary: 'Get the previous and the next book',
    description:
      'In the reading order of the series or of a read list. Missing books are skipped and have no neighbors themselves.',
    params: BookId,
    query: record({
      readListId: maybe(
        uuid({
          description:
            'The read list, which requires ReadListsRead; 404 if it does not contain the book.',
        }),
      ),
    }),
    responses: { 200: AdjacentBooks },
    async handle({ params: { id: bookId }, query: { readListId }, viewer, identity }, deps) {
      const { sql } = deps
      if (readListId !== undefined && missingPermission(identity, 'ReadListsRead') !== null)
        throw new Forbidden('Missing required permission: ReadListsRead')
      const { prev, next } =
        readListId === undefined
          ? await neighbors(sql, viewer, bookId)
          : await neighborsInReadList(deps, viewer, { readListId, bookId })
      const ids = [prev, next].filter(id => id !== null)
      const books = await booksByIds(sql, viewer, ids)
      const byId = (id: string | null) => books.find(book => book.id === id) ?? null
      return { prev: byId(prev), next: byId(next) }
    },
  }),
]
