// The files of books, as the feeds of both catalogues lead to them.
import { bookFile } from '../../catalog/book/book-file.ts'
import { answerFile } from '../../download/file.ts'
import type { FormatName } from '../../format/contract.ts'
import { formatNames } from '../../format/contract.ts'
import { answer, route } from '../../http/route.ts'
import { fileType } from '../../opds/naming.ts'
import { bytes, ErrorBody, record, Type, uuid } from '../../schema.ts'
import { nothing } from '../images/image.ts'

const versions = [1, 2] as const
const formats: (FormatName | null)[] = [...formatNames, null]

export const fileRoutes = versions.map(version => {
  const files = bytes(...formats.map(format => fileType(format, version)))
  return route({
    method: 'GET',
    atRoot: true,
    catalogue: version,
    path: `/opds/v${version}/books/{id}/file/{name}`,
    permission: 'BooksRead',
    cookie: true,
    summary: `The file of a book, for readers of OPDS ${version === 1 ? '1.2' : '2.0'}`,
    description:
      'Ranges, If-Range and the other conditions are understood. The name in the address is for readers that save the file under it; any will do.',
    params: record({ id: uuid(), name: Type.String() }),
    responses: { 200: files, 206: files, 304: null, 412: null, 416: null, 422: ErrorBody },
    async handle({ params, viewer, request }, { sql }) {
      const book = await bookFile(sql, viewer, params.id)
      const mediaType = fileType(book.format, version)
      const { status, headers, body } = await answerFile(book, request, mediaType)
      const sent = { ...headers, 'cache-control': 'private, no-cache' }
      if (status === 304 || status === 412 || status === 416)
        return answer(status, nothing(request), sent)
      return answer(status, body ?? nothing(request) ?? null, sent)
    },
  })
})
