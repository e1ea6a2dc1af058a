// Single books and series of the Komga-compatible API, their neighbors, their files, and operations on these.
import { Forbidden, Invalid, NotFound } from '../../../../base/errors.ts'
import { bytes, ErrorBody, record, Type } from '../../../../base/schema.ts'
import { filesOf, seriesFiles } from '../../../../catalog/book/book-file.ts'
import { analyzeBook, analyzeSeries } from '../../../../catalog/scan/analyze.ts'
import { neighbors } from '../../../../catalog/series/series-books.ts'
import { seriesById } from '../../../../catalog/series/series-record.ts'
import {
  bookFileResponse,
  bookFileResponses,
  zipResponse,
} from '../../../../download/routes/files.ts'
import { BookId, ofBook, ofSeries, ReadListId, SeriesId } from '../../../../http/params.ts'
import { route } from '../../../../http/route.ts'
import { BookDto, bookDto } from '../../book-dto.ts'
import { SeriesDto, seriesDto } from '../../series-dto.ts'
import { readListBooks } from '../../tracker-progress.ts'
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

const zipResponses = { 200: bytes('application/zip'), 422: ErrorBody } as const

const downloads = [
  ...[false, true].map(isNamed =>
    route(`GET /books/{id}/file${isNamed ? '/{*}' : ''}`, {
      operationId: isNamed ? 'downloadBookFile_1' : 'downloadBookFile',
      permission: 'BooksRead',
      cost: 'record',
      summary: 'Download the file of a book',
      description: 'Supports Range. A name after `/file/` is ignored.',
      params: isNamed ? record({ ...BookId.properties, '*': Type.String() }) : BookId,
      responses: bookFileResponses,
      handle: ({ params: { id }, viewer, request }, deps) =>
        bookFileResponse(request, deps, { viewer, id }),
    }),
  ),
  route('GET /series/{id}/file', {
    operationId: 'downloadSeriesAsZip',
    permission: { all: ['SeriesRead'], any: ['BooksRead'] },
    summary: 'Download the files of a series as a ZIP archive',
    params: SeriesId,
    responses: zipResponses,
    async handle({ params, viewer, request, signal }, deps) {
      const { title } = await seriesById(deps.sql, viewer, params.id)
      const books = await seriesFiles(deps.sql, viewer, params.id)
      return await zipResponse(request, deps, { title, books, signal })
    },
  }),
  route('GET /readlists/{id}/file', {
    operationId: 'downloadReadListAsZip',
    permission: { all: ['ReadListsRead'], any: ['BooksRead'] },
    summary: 'Download the files of a read list as a ZIP archive',
    params: ReadListId,
    responses: zipResponses,
    async handle(input, deps) {
      const { params, viewer, request, signal } = input
      const { name, books: members } = await readListBooks(deps, readerOf(input), params.id)
      const ids = members.map(({ id }) => id)
      const books = await filesOf(deps.sql, viewer, ids)
      return await zipResponse(request, deps, { title: name, books, signal })
    },
  }),
]

export const items = [...books, ...series, ...files, ...downloads]
