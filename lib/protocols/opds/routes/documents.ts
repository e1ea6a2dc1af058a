// OPDS documents that are not feeds: books, the OpenSearch description (1.2), the authentication document (2.0).
import { bytes } from '../../../base/schema.ts'
import { BookId } from '../../../http/params.ts'
import { respond, route } from '../../../http/route.ts'
import { openSettings } from '../../../store/setting/setting.ts'
import { authenticationType, publicationType } from '../../publication/media-types.ts'
import { publicationById } from '../../publication/publication.ts'
import { atomEntry } from '../atom/entry.ts'
import { searchType } from '../atom/link.ts'
import { searchDescription } from '../atom/opensearch.ts'
import { authenticationDocument } from '../json/authentication.ts'
import { jsonPublication } from '../json/publication.ts'
import { atomType, browsePermission, feedContext, linksOf } from './feeds.ts'
import { inCatalog } from './protocol.ts'

export const atomDocuments = [
  route('GET /opds/v1/books/{id}', {
    operationId: 'getOpds1Book',
    ...inCatalog,
    permission: browsePermission,
    summary: 'Get a book (OPDS 1.2 entry)',
    params: BookId,
    responses: { 200: bytes('application/atom+xml') },
    async handle({ params, viewer, identity, request }, deps) {
      const [book, context] = await Promise.all([
        publicationById(deps.sql, viewer, params.id),
        feedContext(request, identity, deps),
      ])
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
    async handle({ params, viewer, identity, request }, deps) {
      const [book, context] = await Promise.all([
        publicationById(deps.sql, viewer, params.id),
        feedContext(request, identity, deps),
      ])
      return documentResponse(jsonPublication(book, context), publicationType)
    },
  }),
]

const documentResponse = (document: object, type: string) =>
  respond(200, JSON.stringify(document), { 'content-type': type })
