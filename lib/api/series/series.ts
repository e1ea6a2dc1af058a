// Single series and their books.
import { Book, booksByIds } from '../../catalog/book/book-record.ts'
import { BookFull, booksFull, SeriesFull, seriesDetail } from '../../catalog/metadata/long-form.ts'
import { booksOfSeries } from '../../catalog/series/series-books.ts'
import { Series } from '../../catalog/series/series-record.ts'
import { pageOf, pageQuery, paging } from '../../http/pagination.ts'
import { route } from '../../http/route.ts'
import { Id, maybe, record, Type } from '../../schema.ts'
import { bareOrPaged, full, isPaged } from '../books/lists.ts'

/** Longest bare array; beyond it clients ask for pages. */
const mostBooks = 2_000

export const series = [
  route({
    method: 'GET',
    path: '/series/{id}',
    permission: 'SeriesRead',
    summary: 'A series',
    params: Id,
    query: record(full),
    responses: { 200: Type.Union([SeriesFull, Series]) },
    handle: ({ params, query, viewer }, { sql }) =>
      seriesDetail(sql, viewer, { id: params.id, full: query.full === true }),
  }),
  route({
    method: 'GET',
    path: '/series/{id}/books',
    permission: 'BooksRead',
    summary: 'The books of a series',
    description: `In reading order: by number, then by file name. The array holds the first ${mostBooks}; ask by page for more.`,
    params: Id,
    query: record({
      ...pageQuery,
      includeDeleted: maybe(
        Type.Boolean({
          default: false,
          description: 'Missing books too, for holders of BooksWrite.',
        }),
      ),
      ...full,
    }),
    responses: { 200: bareOrPaged<Book | BookFull>({ short: Book, full: BookFull }) },
    async handle({ params, query, viewer, identity, request, reply }, { sql }) {
      const asked = isPaged(query) ? paging(query) : { page: 1, pageSize: mostBooks, offset: 0 }
      const { ids, total } = await booksOfSeries(sql, viewer, {
        ...{ seriesId: params.id, page: asked.page, pageSize: asked.pageSize },
        includeDeleted: query.includeDeleted === true && identity.permissions.has('BooksWrite'),
      })
      const data = await (query.full ? booksFull : booksByIds)(sql, viewer, ids)
      if (!isPaged(query)) return data
      return pageOf({ request, reply, query }, { data, total, paging: asked })
    },
  }),
]
