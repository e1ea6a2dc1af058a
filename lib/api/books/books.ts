// Single books.
import { Book, booksByIds } from '../../catalog/book/book-record.ts'
import {
  BookDetail,
  BookFull,
  findBookDetail,
  findBookFull,
} from '../../catalog/metadata/full-records.ts'
import { neighbours } from '../../catalog/series/series-books.ts'
import { route } from '../../http/route.ts'
import { nullable, record } from '../../schema.ts'
import { BookId } from '../params.ts'

const AdjacentBooks = record(
  { prev: nullable(Book), next: nullable(Book) },
  { component: 'AdjacentBooks' },
)

export const booksById = [
  route({
    operationId: 'getBook',
    method: 'GET',
    path: '/books/{id}',
    permission: 'BooksRead',
    summary: 'Get a book',
    params: BookId,
    responses: { 200: BookDetail },
    handle: ({ params, viewer }, { sql }) => findBookDetail(sql, viewer, params.id),
  }),
  route({
    operationId: 'getBookFull',
    method: 'GET',
    path: '/books/{id}/full',
    aliases: [{ path: '/books/{id}', whenFull: true }],
    permission: 'BooksRead',
    summary: 'Get a book, with metadata',
    description: 'In one object, with genres, tags and reading history.',
    params: BookId,
    responses: { 200: BookFull },
    handle: ({ params, viewer }, { sql }) => findBookFull(sql, viewer, params.id),
  }),
  route({
    operationId: 'getAdjacentBooks',
    method: 'GET',
    path: '/books/{id}/adjacent',
    permission: 'BooksRead',
    summary: 'Get the previous and the next book',
    description:
      'In the reading order of the series. Missing books are skipped, and have no neighbours themselves.',
    params: BookId,
    responses: { 200: AdjacentBooks },
    async handle({ params, viewer }, { sql }) {
      const { prev, next } = await neighbours(sql, viewer, params.id)
      const ids = [prev, next].filter(id => id !== null)
      const books = await booksByIds(sql, viewer, ids)
      const byId = (id: string | null) => books.find(book => book.id === id) ?? null
      return { prev: byId(prev), next: byId(next) }
    },
  }),
]
