// Single books and series of the Komga-compatible API, their neighbors, and operations on their files.

import { Forbidden, Invalid, NotFound } from '../../../../base/errors.ts'
import { analyzeBook, analyzeSeries } from '../../../../catalog/scan/analyze.ts'
import { neighbors } from '../../../../catalog/series/series-books.ts'
import { BookId, ofBook, ofSeries, SeriesId } from '../../../../http/params.ts'
import { route } from '../../../../http/route.ts'
import { BookDto, bookDto } from '../../book-dto.ts'
import { SeriesDto, seriesDto } from '../../series-dto.ts'
import { readerOf } from '../../values.ts'

const books = [
  route('GET /books/{id}', {
    operationId: 'getBookById',
    permission: 'BooksRead',
    summary: 'Get a book',
    params: BookId,
    responses: { 200: BookDto },
    handle: (input, { sql }) => bookDto(sql, readerOf(input), input.params.id),
  }),
  ...(['next', 'previous'] as const).map(side =>
    route(`GET /books/{id}/${side}`, {
      operationId: side === 'next' ? 'getBookSiblingNext' : 'getBookSiblingPrevious',
      permission: 'BooksRead',
      cost: 'record',
      summary: `Get the ${side} book of the series`,
      description: '404 at the end of the series.',
      params: BookId,
      responses: { 200: BookDto },
      async handle(input, { sql }) {
        const { next, prev } = await neighbors(sql, input.viewer, input.params.id)
        const id = side === 'next' ? next : prev
        if (id === null) throw new NotFound(`There is no ${side} book`)
        return await bookDto(sql, readerOf(input), id)
      },
    }),
  ),
]

const series = [
  route('GET /series/{id}', {
    operationId: 'getSeriesById',
    permission: 'SeriesRead',
    summary: 'Get a series',
    params: SeriesId,
    responses: { 200: SeriesDto },
    handle: (input, { sql }) => seriesDto(sql, readerOf(input), input.params.id),
  }),
]

const owners = [
  { ...ofBook, remove: 'BooksDelete', analyze: analyzeBook },
  { ...ofSeries, remove: 'SeriesDelete', analyze: analyzeSeries },
] as const

const files = owners.flatMap(({ kind, ownerName, path, params, write, remove, analyze }) => [
  ...(
    [
      ['Analyze', 'analyze', 'Analyze'],
      ['RefreshMetadata', 'metadata/refresh', 'Refresh the metadata of'],
    ] as const
  ).map(([operation, action, verb]) =>
    route(`POST ${path}/${action}`, {
      operationId: `${kind}${operation}`,
      permission: write,
      summary: `${verb} a ${kind}`,
      description: 'All contents of the files are read again in the background.',
      params,
      responses: { 202: null },
      async handle({ params, viewer }, { sql, queue }) {
        const request = { sql, queue, viewer, unanalyzedOnly: false }
        await analyze(request, params.id).catch(error => {
          // Nothing to read, such as only missing files.
          if (!(error instanceof Invalid)) throw error
        })
      },
    }),
  ),
  route(`DELETE ${path}/file`, {
    operationId: `delete${ownerName}File`,
    permission: remove,
    summary: `Refuse to delete the files of a ${kind}`,
    description: 'Always 403: files of libraries are never changed.',
    params,
    responses: { 202: null },
    handle() {
      throw new Forbidden('Files of libraries are never deleted')
    },
  }),
])

export const items = [...books, ...series, ...files]
