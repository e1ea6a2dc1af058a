// Documents of OPDS 2.0 that are no feeds: a book, its manifests, and how to sign in.
import { bookFile, packedPages } from '../../catalog/file-place.ts'
import { readSetting } from '../../catalog/setting.ts'
import type { Viewer } from '../../catalog/viewer.ts'
import { NotFound } from '../../errors.ts'
import { epubManifest } from '../../opds/epub/manifest.ts'
import { authenticationDocument } from '../../opds/json/authentication.ts'
import { divinaManifest, pdfManifest } from '../../opds/json/manifest.ts'
import {
  authenticationType,
  divinaType,
  publicationType,
  webpubType,
} from '../../opds/json/media.ts'
import type { Profile } from '../../opds/json/metadata.ts'
import { jsonPublication, manifestsOf, manifestType } from '../../opds/json/publication.ts'
import { type Publication, publicationById } from '../../opds/publication.ts'
import type { Writing } from '../../opds/writing.ts'
import { unpackPages } from '../../page/page-list.ts'
import { bytes, ErrorBody, Id } from '../../schema.ts'
import type { Deps } from '../deps.ts'
import { answer, route } from '../route.ts'
import { browsing, linksOf, varying, writingFor } from './feeds.ts'
import { reading } from './reading.ts'

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
  ...[null, 'divina' as const, 'pdf' as const].map(asked =>
    route({
      method: 'GET',
      atRoot: true,
      catalogue: 2,
      path: `/opds/v2/books/{id}/manifest${asked ? `/${asked}` : ''}`,
      permission: reading,
      summary: `What a book is read from${asked ? `, by the ${asked} profile` : ''}, as a Readium manifest`,
      description: '404 for a book that cannot be read so.',
      params: Id,
      responses: {
        200: bytes(...(asked ? [manifestType(asked)] : [divinaType, webpubType])),
        422: ErrorBody,
      },
      async handle({ params, viewer, identity, request, signal }, deps) {
        const [book, writing] = await Promise.all([
          publicationById(deps.sql, viewer, params.id),
          writingFor(request, identity, deps),
        ])
        const profile = profileFor(book, asked)
        const making = { viewer, writing, signal, deps }
        return sent(await manifestOf(book, profile, making), manifestType(profile))
      },
    }),
  ),
]

const sent = (document: object, type: string) =>
  answer(200, JSON.stringify(document), { 'content-type': type, ...varying })

/** Throws NotFound for a manifest that the book cannot have. */
function profileFor(book: Publication, asked: Profile | null): Profile {
  const all = manifestsOf(book)
  const profile = asked === null ? all[0] : all.find(known => known === asked)
  if (profile === undefined) throw new NotFound('The book cannot be read so')
  return profile
}

type Making = { viewer: Viewer; writing: Writing; signal: AbortSignal; deps: Deps }

async function manifestOf(book: Publication, profile: Profile, making: Making): Promise<object> {
  const { viewer, writing, signal, deps } = making
  const { sql, pages } = deps
  if (profile === 'pdf') return pdfManifest(book, writing)
  if (profile === 'epub') {
    const file = await bookFile(sql, viewer, book.id)
    return await epubManifest(pages, { book, file, writing, signal })
  }
  const packed = await packedPages(sql, book.id)
  if (packed === null) throw new NotFound('The pages of the book are not known')
  return divinaManifest(book, unpackPages(packed), writing)
}
