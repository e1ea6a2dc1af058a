// The files of books as they lie on disk, and those of a series as one ZIP.
import { create } from 'content-disposition'
import { seesSeries } from '../../auth/viewer.ts'
import { bookFile, seriesFiles } from '../../catalog/book/book-file.ts'
import { answerFile } from '../../download/file.ts'
import { zipSeries } from '../../download/series-zip.ts'
import { NotFound } from '../../errors.ts'
import { answer, route } from '../../http/route.ts'
import { bytes, ErrorBody, Id } from '../../schema.ts'
import { bodyFor, nothing } from '../images/image.ts'

const files = bytes(
  'application/zip',
  'application/x-rar-compressed',
  'application/x-7z-compressed',
  'application/x-tar',
  'application/epub+zip',
  'application/pdf',
  'application/octet-stream',
)

const caching = { 'cache-control': 'private, no-cache' }

export const downloads = [
  route({
    method: 'GET',
    path: '/books/{id}/file',
    permission: 'BooksRead',
    cookie: true,
    summary: 'The file of a book',
    description:
      'With its own name. Ranges, If-Range and the other conditions are understood. 404 when the file is gone from the disk.',
    params: Id,
    responses: { 200: files, 206: files, 304: null, 412: null, 416: null, 422: ErrorBody },
    async handle({ params, viewer, request }, { sql }) {
      const file = await bookFile(sql, viewer, params.id)
      const { status, headers, body } = await answerFile(file, request)
      const sent = { ...headers, ...caching }
      if (status === 304 || status === 412 || status === 416)
        return answer(status, nothing(request), sent)
      return answer(status, body ?? nothing(request) ?? null, sent)
    },
  }),
  route({
    method: 'GET',
    path: '/series/{id}/download',
    permission: 'BooksRead',
    cookie: true,
    summary: 'The files of a series as one ZIP',
    description:
      'Present books in reading order, not compressed, made while it is sent. 404 when there is none.',
    params: Id,
    responses: { 200: bytes('application/zip'), 422: ErrorBody },
    async handle({ params, viewer, request, signal }, { sql }) {
      const [series] = await sql<{ title: string }[]>`
        select title from series s where id = ${params.id} and ${seesSeries(sql, viewer)}`
      if (!series) throw new NotFound('Series not found')
      const { body, length } = await zipSeries(await seriesFiles(sql, viewer, params.id))
      if (signal.aborted) body.destroy()
      return answer(200, bodyFor(request, body), {
        ...caching,
        'content-type': 'application/zip',
        'content-length': String(length),
        'content-disposition': create(`${series.title.replaceAll('/', '_')}.zip`),
      })
    },
  }),
]
