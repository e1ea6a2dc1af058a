// Files of books, series and read lists in the Komga-compatible API.

import { bytes, ErrorBody, record, Type } from '../../../../base/schema.ts'
import { filesOf, seriesFiles } from '../../../../catalog/book/book-file.ts'
import { seriesById } from '../../../../catalog/series/series-record.ts'
import {
  bookFileResponse,
  bookFileResponses,
  zipResponse,
} from '../../../../download/routes/files.ts'
import { BookId, ReadListId, SeriesId } from '../../../../http/params.ts'
import { route } from '../../../../http/route.ts'
import { readListBooks } from '../../read-list-books.ts'
import { readerOf } from '../../values.ts'

const zipResponses = { 200: bytes('application/zip'), 422: ErrorBody } as const

export const downloads = [
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
