// Downloads: the file of a book, and the files of a series as one ZIP archive.
import { create } from 'content-disposition'
import type { FastifyRequest } from 'fastify'
import { type Viewer, visibleSeries } from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import { bytes, ErrorBody } from '../../base/schema.ts'
import { type BookFile, bookFile, seriesFiles } from '../../catalog/book/book-file.ts'
import { fileAccess } from '../../catalog/library/library-root.ts'
import type { Deps } from '../../http/deps.ts'
import { failureBody } from '../../http/error-response.ts'
import { bodyFor, emptyBody } from '../../http/exchange.ts'
import { BookId, SeriesId } from '../../http/params.ts'
import { respond, route } from '../../http/route.ts'
import { formatNames } from '../../media/format/formats.ts'
import { fileResponse, mediaTypeOf } from '../file.ts'
import { zipSeries } from '../series-zip.ts'

const files = bytes(...[...formatNames, null].map(mediaTypeOf))

export const bookFileResponses = {
  200: files,
  206: files,
  304: null,
  412: ErrorBody,
  416: ErrorBody,
  422: ErrorBody,
} as const

const caching = { 'cache-control': 'private, no-cache' }

export const downloads = [
  route('GET /books/{id}/file', {
    operationId: 'downloadBook',
    permission: 'BooksRead',
    // Reads a single row; its disk must not hold up lists.
    cost: 'record',
    cookie: true,
    summary: 'Download the file of a book',
    description:
      'With its original file name. Supports Range, If-Range and conditional requests. 404 if the file is missing on disk; 422 if it lies outside its library or is not an archive, EPUB or PDF.',
    params: BookId,
    responses: bookFileResponses,
    handle: ({ params, viewer, request }, deps) =>
      bookFileResponse(request, deps, { viewer, id: params.id }),
  }),
  route('GET /series/{id}/download', {
    operationId: 'downloadSeries',
    permission: 'BooksRead',
    cookie: true,
    summary: 'Download the files of a series as a ZIP archive',
    description:
      'Present books in reading order, stored without compression and generated while sending; files that cannot be downloaded individually are omitted. 404 if there are none.',
    params: SeriesId,
    responses: { 200: bytes('application/zip'), 422: ErrorBody },
    async handle({ params, viewer, request, signal }, deps) {
      const { sql } = deps
      const [series] = await sql<{ title: string }[]>`
        select title from series s where id = ${params.id} and ${visibleSeries(sql, viewer)}`
      if (!series) throw new NotFound('Series not found')
      const books = await seriesFiles(sql, viewer, params.id)
      return await zipResponse(request, deps, { title: series.title, books, signal })
    },
  }),
]

/** The file with Range and conditional requests. Throws NotFound, Unreadable, NotResponding. */
export async function bookFileResponse(
  request: FastifyRequest,
  { sql, config }: Pick<Deps, 'sql' | 'config'>,
  { viewer, id }: { viewer: Viewer; id: string },
) {
  const file = await bookFile(sql, viewer, id)
  const { status, headers, body } = await fileResponse(file, fileAccess(config), request)
  const allHeaders = { ...headers, ...caching }
  if (status === 412 || status === 416) return respond(status, failureBody(status), allHeaders)
  if (status === 304) return respond(status, emptyBody(request), allHeaders)
  return respond(status, body ?? emptyBody(request) ?? null, allHeaders)
}

/** The files as one archive. Throws NotFound if there are none, NotResponding. */
export async function zipResponse(
  request: FastifyRequest,
  { config }: Pick<Deps, 'config'>,
  { title, books, signal }: { title: string; books: readonly BookFile[]; signal: AbortSignal },
) {
  const { body, length } = await zipSeries(books, fileAccess(config))
  if (signal.aborted) body.destroy()
  return respond(200, bodyFor(request, body), {
    ...caching,
    'content-type': 'application/zip',
    'content-length': String(length),
    'content-disposition': create(`${title.replaceAll('/', '_')}.zip`),
  })
}
