// What books are read from: Readium manifests, of which a book has one or two.
import type { FastifyRequest } from 'fastify'
import type { Viewer } from '../../auth/viewer.ts'
import { bookFile, packedPages } from '../../catalog/book/book-file.ts'
import { NotFound } from '../../errors.ts'
import type { Deps } from '../../http/deps.ts'
import { answer, type Need, route } from '../../http/route.ts'
import { epubManifest } from '../../opds/epub/manifest.ts'
import { divinaManifest, type Manifest, pdfManifest } from '../../opds/json/manifest.ts'
import { divinaType, webpubType } from '../../opds/json/media.ts'
import type { Profile } from '../../opds/json/metadata.ts'
import { manifestsOf, manifestType } from '../../opds/json/publication.ts'
import { type Publication, publicationById } from '../../opds/publication.ts'
import type { Writing } from '../../opds/writing.ts'
import { unpackPages } from '../../page/page-list.ts'
import { bytes, ErrorBody, Id } from '../../schema.ts'
import { bodyInTurn } from './chunked-body.ts'
import { browsing, writingFor } from './feeds.ts'

// Manifests lead back to the book and its series as well as to its pages.
const permission = {
  all: [...browsing.all, 'PagesRead'],
  any: browsing.any,
} as const satisfies Need

export const manifests = [null, 'divina' as const, 'epub' as const, 'pdf' as const].map(asked =>
  route({
    method: 'GET',
    atRoot: true,
    catalogue: 2,
    path: `/opds/v2/books/{id}/manifest${asked ? `/${asked}` : ''}`,
    permission,
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
      const pieces = await manifestOf(book, profile, { viewer, writing, signal, deps })
      return answer(200, bodyOf(request, pieces), { 'content-type': manifestType(profile) })
    },
  }),
)

/** Throws NotFound for a manifest that the book cannot have. */
function profileFor(book: Publication, asked: Profile | null): Profile {
  const all = manifestsOf(book)
  const profile = asked === null ? all[0] : all.find(known => known === asked)
  if (profile === undefined) throw new NotFound('The book cannot be read so')
  return profile
}

type Making = { viewer: Viewer; writing: Writing; signal: AbortSignal; deps: Deps }

/** Throws NotFound, Unreadable, Unavailable. */
async function manifestOf(book: Publication, profile: Profile, making: Making): Promise<Manifest> {
  const { viewer, writing, signal, deps } = making
  const { sql, pages } = deps
  if (profile === 'pdf') return pdfManifest(book, writing)
  if (profile === 'epub') {
    const file = await bookFile(sql, viewer, book.id)
    return epubManifest(book, await pages.epubs.contents(file, signal), writing)
  }
  const packed = await packedPages(sql, book.id)
  if (packed === null) throw new NotFound('The pages of the book are not known')
  return divinaManifest(book, unpackPages(packed), writing)
}

const wholeLength = 256 * 1024

/** Text, which is tagged then, unless it is long. */
function bodyOf(request: FastifyRequest, pieces: Manifest) {
  let start = ''
  while (start.length < wholeLength) {
    const { value, done } = pieces.next()
    if (done) return start
    start += value
  }
  return bodyInTurn(request, joined(start, pieces))
}

function* joined(start: string, rest: Iterable<string>) {
  yield start
  yield* rest
}
