// Readium Web Publication Manifests for the catalogs and the API; a book has one or two, depending on the profile.
import type { FastifyRequest } from 'fastify'
import type { Viewer } from '../../../accounts/viewer.ts'
import { NotFound } from '../../../base/errors.ts'
import { bytes, ErrorBody } from '../../../base/schema.ts'
import { bookFile, packedPages } from '../../../catalog/book/book-file.ts'
import type { Deps } from '../../../http/deps.ts'
import { chunkedBody } from '../../../http/exchange.ts'
import { BookId } from '../../../http/params.ts'
import { type AccessRequirement, respond, route } from '../../../http/route.ts'
import { unpackPages } from '../../../page/page-list.ts'
import { divinaType, webpubType } from '../../publication/media-types.ts'
import type { Publication } from '../../publication/publication.ts'
import type { FeedContext } from '../feed.ts'
import { epubManifest } from '../json/epub-manifest.ts'
import { divinaManifest, type Manifest, pdfManifest } from '../json/manifest.ts'
import type { Profile } from '../json/metadata.ts'
import { manifestsOf, manifestType } from '../json/publication.ts'
import { bookInContext, browsePermission } from './feeds.ts'
import { readingPlaces } from './protocol.ts'

// A manifest links to the book and its series as well as to its pages.
const permission = {
  all: [...browsePermission.all, 'PagesRead'],
  any: browsePermission.any,
} as const satisfies AccessRequirement

const profiles = [null, 'divina', 'epub', 'pdf'] as const
const operationNames = { divina: 'Divina', epub: 'Epub', pdf: 'Pdf' }

export const manifests = readingPlaces.flatMap(({ name, folder, media }) =>
  profiles.map(requested =>
    route(`GET ${folder}/books/{id}/manifest${requested ? `/${requested}` : ''}`, {
      ...media,
      operationId: `get${name}${requested ? operationNames[requested] : ''}Manifest`,
      permission,
      summary: `Get the Readium manifest of a book${requested ? ` (${requested} profile)` : ''}`,
      description: '404 if the book is not available in this format.',
      params: BookId,
      responses: {
        200: bytes(...(requested ? [manifestType(requested)] : [divinaType, webpubType])),
        422: ErrorBody,
      },
      async handle(input, deps) {
        const { viewer, request, signal } = input
        const [book, context] = await bookInContext(input, deps)
        const profile = profileFor(book, requested)
        const pieces = await manifestOf(book, profile, { viewer, context, signal, deps })
        return respond(200, bodyOf(request, pieces), { 'content-type': manifestType(profile) })
      },
    }),
  ),
)

/** The requested profile, or the book's first one. Throws NotFound. */
function profileFor(book: Publication, requested: Profile | null): Profile {
  const available = manifestsOf(book)
  const profile = requested === null ? available[0] : available.find(name => name === requested)
  if (profile === undefined) throw new NotFound('Not available in this format')
  return profile
}

type ManifestRequest = { viewer: Viewer; context: FeedContext; signal: AbortSignal; deps: Deps }

/** Throws NotFound, Unreadable, Unavailable. */
async function manifestOf(book: Publication, profile: Profile, request: ManifestRequest) {
  const { viewer, context, signal, deps } = request
  const { sql, pages } = deps
  if (profile === 'pdf') return pdfManifest(book, context)
  if (profile === 'epub') {
    const file = await bookFile(sql, viewer, book.id)
    return epubManifest(
      book,
      await pages.epubs.contents(file, { accountId: viewer.accountId, signal }),
      context,
    )
  }
  const packed = await packedPages(sql, book.id)
  if (packed === null) throw new NotFound('The book has not been analyzed yet')
  return divinaManifest(book, unpackPages(packed), context)
}

const maxTextLength = 256 * 1024

/** A string, which gets an ETag, or a stream if the manifest is long. */
function bodyOf(request: FastifyRequest, pieces: Manifest) {
  let start = ''
  while (start.length < maxTextLength) {
    const { value, done } = pieces.next()
    if (done) return start
    start += value
  }
  return chunkedBody(request, concatenate(start, pieces))
}

function* concatenate(start: string, rest: Iterable<string>) {
  yield start
  yield* rest
}
