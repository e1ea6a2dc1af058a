// Documents of OPDS 2.0 that are no feeds: a book, and how to sign in.

import { answer, route } from '../../http/route.ts'
import { authenticationDocument } from '../../opds/json/authentication.ts'
import { authenticationType, publicationType } from '../../opds/json/media.ts'
import { jsonPublication } from '../../opds/json/publication.ts'
import { publicationById } from '../../opds/publication.ts'
import { bytes, Id } from '../../schema.ts'
import { readSetting } from '../../setting/setting.ts'
import { browsing, linksOf, writingFor } from './feeds.ts'

export const jsonDocuments = [
  route({
    method: 'GET',
    atRoot: true,
    catalogue: 2,
    path: '/opds/v2/auth',
    permission: 'public',
    summary: 'How to sign in to the catalogue, as Authentication for OPDS',
    responses: { 200: bytes(authenticationType) },
    async handle({ request }, { sql }) {
      const server = String(await readSetting(sql, 'application.name'))
      return sent(authenticationDocument(linksOf(request), server), authenticationType)
    },
  }),
  route({
    method: 'GET',
    atRoot: true,
    catalogue: 2,
    path: '/opds/v2/books/{id}',
    permission: browsing,
    summary: 'A book of the catalogue, as OPDS 2.0',
    params: Id,
    responses: { 200: bytes(publicationType) },
    async handle({ params, viewer, identity, request }, deps) {
      const [book, writing] = await Promise.all([
        publicationById(deps.sql, viewer, params.id),
        writingFor(request, identity, deps),
      ])
      return sent(jsonPublication(book, writing), publicationType)
    },
  }),
]

const sent = (document: object, type: string) =>
  answer(200, JSON.stringify(document), { 'content-type': type })
