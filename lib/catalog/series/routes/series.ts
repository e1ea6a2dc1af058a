// Individual series and their books.

import { maybe, Type } from '../../../base/schema.ts'
import { SeriesId } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import { listRoutes } from '../../../list/routes/list-routes.ts'
import { books } from '../../book/routes/book-lists.ts'
import { findSeriesFull, SeriesFull } from '../../metadata/full-records.ts'
import { booksOfSeries } from '../series-books.ts'
import { Series, seriesById } from '../series-record.ts'

export const series = [
  route('GET /series/{id}', {
    operationId: 'getSeries',
    permission: 'SeriesRead',
    summary: 'Get a series',
    params: SeriesId,
    responses: { 200: Series },
    handle: ({ params, viewer }, { sql }) => seriesById(sql, viewer, params.id),
  }),
  route('GET /series/{id}/full', {
    operationId: 'getSeriesFull',
    aliases: [{ path: '/series/{id}', whenFull: true }],
    permission: 'SeriesRead',
    summary: 'Get a series, with metadata',
    params: SeriesId,
    responses: { 200: SeriesFull },
    handle: ({ params, viewer }, { sql }) => findSeriesFull(sql, viewer, params.id),
  }),
  ...listRoutes(books, {
    operationId: 'listBooksOfSeries',
    path: '/series/{id}/books',
    summary: 'List books of a series',
    description: 'In reading order: by number, then by file name.',
    params: SeriesId,
    query: {
      includeDeleted: maybe(
        Type.Boolean({
          default: false,
          description: 'Includes missing books; requires BooksWrite.',
        }),
      ),
    },
    find: ({ sql, viewer, identity, params, query, page, pageSize }) =>
      booksOfSeries(sql, viewer, {
        ...{ seriesId: params.id, page, pageSize },
        includeDeleted: query.includeDeleted === true && identity.permissions.has('BooksWrite'),
      }),
  }),
]
