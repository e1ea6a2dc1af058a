// Files of books for the acquisition links of OPDS feeds.

import { bytes, ErrorBody, record, Type } from '../../../base/schema.ts'
import { bookFile } from '../../../catalog/book/book-file.ts'
import { fileAccess } from '../../../catalog/library/library-root.ts'
import { fileResponse } from '../../../download/file.ts'
import { emptyBody } from '../../../http/body.ts'
import { failureBody } from '../../../http/error-response.ts'
import { BookId } from '../../../http/params.ts'
import { respond, route } from '../../../http/route.ts'
import { type FormatName, formatNames } from '../../../media/format/formats.ts'
import { fileType } from '../../publication/media-types.ts'
import { inCatalog } from './protocol.ts'

const versions = [1, 2] as const
const formats: (FormatName | null)[] = [...formatNames, null]

export const fileRoutes = versions.map(version => {
  const files = bytes(...formats.map(format => fileType(format, version)))
  return route(`GET /opds/v${version}/books/{id}/file/{name}`, {
    operationId: `downloadOpds${version}Book`,
    ...inCatalog,
    permission: 'BooksRead',
    cost: 'record',
    cookie: true,
    summary: `Download the file of a book (OPDS ${version === 1 ? '1.2' : '2.0'})`,
    description:
      'Supports Range, If-Range and conditional requests. The name in the path is ignored; some apps save the file under it.',
    params: record({
      ...BookId.properties,
      name: Type.String({ description: 'Any file name.' }),
    }),
    responses: {
      200: files,
      206: files,
      304: null,
      412: ErrorBody,
      416: ErrorBody,
      422: ErrorBody,
    },
    async handle({ params, viewer, request }, { sql, config }) {
      const book = await bookFile(sql, viewer, params.id)
      const mediaType = fileType(book.format, version)
      const { status, headers, body } = await fileResponse(
        book,
        fileAccess(config),
        request,
        mediaType,
      )
      const allHeaders = { ...headers, 'cache-control': 'private, no-cache' }
      if (status === 412 || status === 416) return respond(status, failureBody(status), allHeaders)
      if (status === 304) return respond(status, emptyBody(request), allHeaders)
      return respond(status, body ?? emptyBody(request) ?? null, allHeaders)
    },
  })
})
