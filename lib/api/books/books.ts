// Single books.
import { Book, booksByIds } from '../../catalog/book/book-record.ts'
import { BookDetail, BookFull, bookDetail } from '../../catalog/metadata/long-form.ts'
import { neighbours } from '../../catalog/series/series-books.ts'
import { route } from '../../http/route.ts'
import { Id, nullable, record, Type } from '../../schema.ts'
import { full } from './lists.ts'

export const books = [
  route({
    method: 'GET',
    path: '/books/{id}',
    permission: 'BooksRead',
    summary: 'A book',
    description: 'With its metadata beside it; in the long form within it.',
    params: Id,
    query: record(full),
    responses: { 200: Type.Union([BookDetail, BookFull]) },
    handle: ({ params, query, viewer }, { sql }) =>
      bookDetail(sql, viewer, { id: params.id, full: query.full === true }),
  }),
  route({
    method: 'GET',
    path: '/books/{id}/adjacent',
    permission: 'BooksRead',
    summary: 'The books before and after a book',
    description:
      'In the reading order of its series. Missing books are left out, and have no neighbours.',
    params: Id,
    responses: { 200: record({ prev: nullable(Book), next: nullable(Book) }) },
    async handle({ params, viewer }, { sql }) {
      const { prev, next } = await neighbours(sql, viewer, params.id)
      const ids = [prev, next].filter(id => id !== null)
      const found = await booksByIds(sql, viewer, ids)
      const byId = (id: string | null) => found.find(book => book.id === id) ?? null
      return { prev: byId(prev), next: byId(next) }
    },
  }),
]
