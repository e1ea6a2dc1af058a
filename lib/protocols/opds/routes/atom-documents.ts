// OPDS 1.2 documents that are not feeds: the entry of a book, the OpenSearch description.

import { bytes } from '../../../base/schema.ts'
import { BookId } from '../../../http/params.ts'
import { respond, route } from '../../../http/route.ts'
import { openSettings } from '../../../store/setting/setting.ts'
import { atomEntry } from '../atom/entry.ts'
import { searchType } from '../atom/link.ts'
import { searchDescription } from '../atom/opensearch.ts'
import { publicationById } from '../publication.ts'
import { atomType, browsePermission, feedContext, linksOf } from './feeds.ts'
import { opdsProtocol } from './protocol.ts'

export const atomDocuments = [
  route('GET /opds/v1/books/{id}', {
    operationId: 'getOpds1Book',
    atRoot: true,
    protocol: opdsProtocol,
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
    atRoot: true,
    protocol: opdsProtocol,
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
