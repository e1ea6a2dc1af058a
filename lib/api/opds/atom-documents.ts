// Documents of OPDS 1.2 beside its feeds: the entry of a book, and how to search.

import { answer, route } from '../../http/route.ts'
import { atomEntry } from '../../opds/atom/entry.ts'
import { searchType } from '../../opds/atom/link.ts'
import { searchDescription } from '../../opds/atom/opensearch.ts'
import { publicationById } from '../../opds/publication.ts'
import { bytes, Id } from '../../schema.ts'
import { readSetting } from '../../setting/setting.ts'
import { atomType, browsing, linksOf, writingFor } from './feeds.ts'

export const atomDocuments = [
  route({
    method: 'GET',
    atRoot: true,
    catalogue: 1,
    path: '/opds/v1/books/{id}',
    permission: browsing,
    summary: 'A book, as OPDS 1.2',
    params: Id,
    responses: { 200: bytes('application/atom+xml') },
    async handle({ params, viewer, identity, request }, deps) {
      const [book, writing] = await Promise.all([
        publicationById(deps.sql, viewer, params.id),
        writingFor(request, identity, deps),
      ])
      return answer(200, atomEntry(book, writing), { 'content-type': atomType })
    },
  }),
  route({
    method: 'GET',
    atRoot: true,
    catalogue: 1,
    path: '/opds/v1/search.xml',
    // Moon+ Reader sends no credentials for it.
    permission: 'public',
    summary: 'How to search the catalogue, as OpenSearch 1.1',
    responses: { 200: bytes(searchType) },
    async handle({ request }, deps) {
      const server = String(await readSetting(deps.sql, 'application.name'))
      return answer(200, searchDescription(linksOf(request), server), {
        'content-type': `${searchType};charset=utf-8`,
      })
    },
  }),
]
