// OPDS documents that are not feeds: books and their files, the OpenSearch description (1.2), the authentication
// document (2.0).
import { bytes, ErrorBody, record, Type } from '../../../base/schema.ts'
import { bookFile } from '../../../catalog/book/book-file.ts'
import { fileAccess } from '../../../catalog/library/library-root.ts'
import { fileResponse } from '../../../download/file.ts'
import { failureBody } from '../../../http/error-response.ts'
import { emptyBody } from '../../../http/exchange.ts'
import { BookId } from '../../../http/params.ts'
import { respond, route } from '../../../http/route.ts'
import { type FormatName, formatNames } from '../../../media/format/formats.ts'
import { openSettings } from '../../../store/setting/setting.ts'
import { authenticationType, fileType, publicationType } from '../../publication/media-types.ts'
import { atomEntry } from '../atom/entry.ts'
import { searchDescription } from '../atom/feed.ts'
import { searchType } from '../atom/link.ts'
import { authenticationDocument, jsonPublication } from '../json/publication.ts'
import { atomType, bookInContext, browsePermission, linksOf } from './feeds.ts'
import { inCatalog } from './protocol.ts'

export const atomDocuments = [
  route('GET /opds/v1/books/{id}', {
    operationId: 'getOpds1Book',
    ...inCatalog,
    permission: browsePermission,
    summary: 'Get a book (OPDS 1.2 entry)',
    params: BookId,
    responses: { 200: bytes('application/atom+xml') },
    async handle(input, deps) {
      const [book, context] = await bookInContext(input, deps)
      return respond(200, atomEntry(book, context), { 'content-type': atomType })
    },
  }),
  route('GET /opds/v1/search.xml', {
    operationId: 'getOpds1SearchDescription',
    ...inCatalog,
    // Moon+ Reader requests it without credentials.
    permission: 'public',
    summary: 'Get the search description (OpenSearch 1.1)',
    responses: { 200: bytes(searchType) },
    async handle({ request }, deps) {
      const serverName = String(await deps.services(openSettings).cached('application.name'))
      return respond(200, searchDescription(linksOf(request), serverName), {
        'content-type': `${searchType};charset=utf-8`,
      })
    },
  }),
]

export const jsonDocuments = [
  route('GET /opds/v2/auth', {
    operationId: 'getOpds2Authentication',
    ...inCatalog,
    permission: 'public',
    summary: 'Get the authentication document (Authentication for OPDS 1.0)',
    responses: { 200: bytes(authenticationType) },
    async handle({ request }, { services }) {
      const serverName = String(await services(openSettings).cached('application.name'))
      return documentResponse(
        authenticationDocument(linksOf(request), serverName),
        authenticationType,
      )
    },
  }),
  route('GET /opds/v2/books/{id}', {
    operationId: 'getOpds2Book',
    ...inCatalog,
    permission: browsePermission,
    summary: 'Get a book (OPDS 2.0 publication)',
    params: BookId,
    responses: { 200: bytes(publicationType) },
    async handle(input, deps) {
      const [book, context] = await bookInContext(input, deps)
      return documentResponse(jsonPublication(book, context), publicationType)
    },
  }),
]

const documentResponse = (document: object, type: string) =>
  respond(200, JSON.stringify(document), { 'content-type': type })

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
