// Books for web readers in the Komga-compatible API: manifests, positions, progression, resources of EPUBs.
import type { FastifyRequest } from 'fastify'
import type { Viewer } from '../../../../accounts/viewer.ts'
import { Invalid, NotFound } from '../../../../base/errors.ts'
import { bytes, ErrorBody } from '../../../../base/schema.ts'
import { bookFile, packedPages } from '../../../../catalog/book/book-file.ts'
import type { Deps } from '../../../../http/deps.ts'
import { BookId } from '../../../../http/params.ts'
import { type AccessRequirement, respond, route } from '../../../../http/route.ts'
import { isReflowable } from '../../../../media/format/formats.ts'
import { unpackPages } from '../../../../page/page-list.ts'
import { formatQuery, type Links } from '../../../publication/links.ts'
import {
  divinaType,
  positionsType,
  progressionType,
  webpubType,
} from '../../../publication/media-types.ts'
import { positionsOf } from '../../../publication/positions.ts'
import { ProgressionUpdate } from '../../../publication/progression.ts'
import { type Publication, publicationById } from '../../../publication/publication.ts'
import {
  findProgression,
  readableBook,
  updateProgression,
} from '../../../publication/routes/reading.ts'
import {
  ResourcePath,
  resourceResponse,
  resourceResponses,
} from '../../../publication/routes/resource.ts'
import { divinaManifest, epubManifest, type ManifestProfile, pdfManifest } from '../../manifest.ts'

const permission = { all: ['BooksRead'], any: ['PagesRead'] } as const satisfies AccessRequirement
const manifestPermission = {
  all: ['BooksRead', 'PagesRead'],
  any: ['SeriesRead'],
} as const satisfies AccessRequirement
const writePermission = {
  all: ['BooksRead'],
  any: ['ProgressWrite', 'BooksWrite'],
} as const satisfies AccessRequirement

/** Links below the request's prefix. */
function linksOf({ base }: Pick<FastifyRequest, 'base'>): Links {
  const root = `${base}/api/v1`
  return {
    to: (path, query = {}) => root + path + formatQuery(query),
    root: () => root,
    template: (path, rest) => root + path + rest,
    base,
  }
}

type WithLocations = { locations?: { fragments?: string[] | null } | null }

/** Komga always writes the list of fragments. */
const withFragments = <T extends WithLocations>(locator: T): T =>
  locator.locations
    ? {
        ...locator,
        locations: { ...locator.locations, fragments: locator.locations.fragments ?? [] },
      }
    : locator

const operationNames = { divina: 'Divina', epub: 'Epub', pdf: 'Pdf' }

const manifests = ([null, 'divina', 'epub', 'pdf'] as const).map(requested =>
  route(`GET /books/{id}/manifest${requested ? `/${requested}` : ''}`, {
    operationId: `getBookWebPubManifest${requested ? operationNames[requested] : ''}`,
    permission: manifestPermission,
    summary: `Get the Readium manifest of a book${requested ? ` (${requested})` : ''}`,
    description: requested
      ? '400 if the book is not available in this form.'
      : 'The form depends on the format; with `Accept: application/divina+json`, page images.',
    params: BookId,
    responses: { 200: bytes(divinaType, webpubType), 422: ErrorBody },
    async handle({ params, viewer, request, signal }, deps) {
      const book = await publicationById(deps.sql, viewer, params.id)
      const profile = profileFor(book, requested, request.headers.accept)
      const manifest = await manifestOf(book, profile, { viewer, request, signal, deps })
      return respond(200, JSON.stringify(manifest), {
        'content-type': profile === 'divina' ? divinaType : webpubType,
      })
    },
  }),
)

/** Throws NotFound for an unreadable book, Invalid for a form that it is not available in. */
function profileFor(book: Publication, requested: ManifestProfile | null, accept = '') {
  const { format, streamMediaType } = book
  if (format === null) throw new NotFound('The book cannot be read')
  const own = format === 'epub' ? 'epub' : format === 'pdf' ? 'pdf' : 'divina'
  const hasImages = streamMediaType !== null
  if (requested === null) return accept.includes(divinaType) && hasImages ? 'divina' : own
  if (requested !== own && (requested !== 'divina' || !hasImages))
    throw new Invalid(`The book has no ${requested} manifest`)
  return requested
}

type ManifestRequest = {
  viewer: Viewer
  request: FastifyRequest
  signal: AbortSignal
  deps: Deps
}

async function manifestOf(
  book: Publication,
  profile: ManifestProfile,
  { viewer, request, signal, deps: { sql, pages } }: ManifestRequest,
): Promise<object> {
  const links = linksOf(request)
  if (profile === 'pdf') return pdfManifest(book, links)
  if (profile === 'epub') {
    const file = await bookFile(sql, viewer, book.id)
    const client = { accountId: viewer.accountId, signal }
    return epubManifest(book, await pages.epubs.contents(file, client), links)
  }
  const packed = await packedPages(sql, book.id)
  return divinaManifest(book, packed === null ? [] : unpackPages(packed), links)
}

export const publication = [
  ...manifests,
  route('GET /books/{id}/positions', {
    operationId: 'getBookPositions',
    permission,
    summary: 'List the positions of an EPUB (Readium position list)',
    params: BookId,
    responses: { 200: bytes(positionsType), 422: ErrorBody },
    async handle({ request, ...input }, deps) {
      const book = await readableBook(linksOf(request), input, deps)
      if (!isReflowable(book.file.format)) throw new NotFound('The book has no positions')
      const { count, locators } = await positionsOf(book)
      const positions = [...locators].map(withFragments)
      const text = JSON.stringify({ total: count, positions })
      return respond(200, text, { 'content-type': positionsType })
    },
  }),
  route('GET /books/{id}/progression', {
    operationId: 'getBookProgression',
    permission: 'BooksRead',
    cost: 'record',
    summary: 'Get the reading progression of a book (Readium locator)',
    description: '204 if the caller has not started the book.',
    params: BookId,
    responses: { 200: bytes(progressionType), 204: null, 422: ErrorBody },
    async handle({ request, ...input }, deps) {
      const progression = await findProgression(linksOf(request), input, deps)
      if (progression === null) return respond(204, undefined)
      const text = JSON.stringify({
        ...progression,
        locator: withFragments(progression.locator),
      })
      return respond(200, text, { 'content-type': progressionType })
    },
  }),
  route('PUT /books/{id}/progression', {
    operationId: 'updateBookProgression',
    permission: writePermission,
    summary: 'Update the reading progression of a book (Readium locator)',
    description: '409 if newer progress is stored.',
    params: BookId,
    body: ProgressionUpdate,
    responses: { 204: null, 422: ErrorBody },
    handle: (input, deps) =>
      updateProgression(linksOf(input.request), { ...input, surface: 'komga' }, deps),
  }),
  route('GET /books/{id}/resource/{*}', {
    operationId: 'getBookEpubResource',
    permission,
    bucket: 'images',
    summary: 'Get a resource of an EPUB',
    description:
      'Identified by its path in the archive. Scripts are not executed. Fonts are not public.',
    params: ResourcePath,
    responses: resourceResponses,
    handle: (input, deps) => resourceResponse(input, deps),
  }),
]
