// What apps read of a book: position lists, progression (Readium) and resources of EPUBs, also below /api/v1.
import { hash } from 'node:crypto'
import { NotFound, Unreadable } from '../../../base/errors.ts'
import { bytes, ErrorBody } from '../../../base/schema.ts'
import type { BookFile } from '../../../catalog/book/book-file.ts'
import { isFresh, versionKey } from '../../../download/range.ts'
import { chunkedBody, emptyBody } from '../../../http/exchange.ts'
import { BookId } from '../../../http/params.ts'
import { type AccessRequirement, respond, route } from '../../../http/route.ts'
import { positionsType } from '../../publication/media-types.ts'
import { positionList, positionsOf } from '../../publication/positions.ts'
import { ProgressionUpdate } from '../../publication/progression.ts'
import {
  findProgression,
  readableBook,
  updateProgression,
} from '../../publication/routes/reading.ts'
import {
  ResourcePath,
  resourceResponse,
  resourceResponses,
} from '../../publication/routes/resource.ts'
import { linksOf } from './feeds.ts'
import { readingPlaces } from './protocol.ts'

/** Permissions for the contents of a book. */
const readPermission = {
  all: ['BooksRead'],
  any: ['PagesRead'],
} as const satisfies AccessRequirement
const writePermission = {
  all: ['BooksRead'],
  any: ['ProgressWrite', 'BooksWrite'],
} as const satisfies AccessRequirement

export const readingRoutes = readingPlaces.flatMap(({ name, folder, place, media, mediaType }) => [
  route(`GET ${folder}/books/{id}/positions`, {
    ...media,
    operationId: `get${name}Positions`,
    params: BookId,
    permission: readPermission,
    summary: 'List positions of a book (Readium position list)',
    description: 'One position per page, or per 1024 bytes of reflowable text.',
    responses: { 200: bytes(positionsType), 304: null, 422: ErrorBody },
    async handle({ request, ...input }, deps) {
      const book = await readableBook(linksOf(request), input, deps)
      if (book.file.format === null) throw unreadableError(book.file)
      const etag = `W/"${hash('sha1', `${versionKey(book.file)} ${book.links.to('')}`, 'base64url')}"`
      const headers = { 'content-type': positionsType, etag }
      if (isFresh(request.headers, { etag })) return respond(304, emptyBody(request), headers)
      const { count, locators } = await positionsOf(book)
      return respond(200, chunkedBody(request, positionList(count, locators)), headers)
    },
  }),
  route(`GET ${folder}/books/{id}/progression`, {
    ...place,
    operationId: `get${name}Progression`,
    permission: 'BooksRead',
    summary: 'Get reading progression of a book (Readium locator)',
    description: '204 if the caller has not started the book.',
    params: BookId,
    responses: { 200: { ...bytes(mediaType), schema: ProgressionUpdate }, 204: null },
    async handle({ request, ...input }, deps) {
      const progression = await findProgression(linksOf(request), input, deps)
      if (progression === null) return respond(204, undefined)
      return respond(200, JSON.stringify(progression), { 'content-type': mediaType })
    },
  }),
  route(`PUT ${folder}/books/{id}/progression`, {
    ...place,
    operationId: `update${name}Progression`,
    permission: writePermission,
    summary: 'Update reading progression of a book (Readium locator)',
    description:
      'The position is the page of a comic or PDF, or a resource of an EPUB and the progression in it. 409 if any client has stored newer progress, compared at the precision of `modified`; an equal time overwrites. A time in the future counts as now.',
    params: BookId,
    body: ProgressionUpdate,
    responses: { 204: null, 422: ErrorBody },
    handle: (input, deps) =>
      updateProgression(linksOf(input.request), { ...input, surface: 'opds' }, deps),
  }),
  route(`GET ${folder}/books/{id}/resource/{*}`, {
    ...place,
    operationId: `get${name}Resource`,
    permission: readPermission,
    cookie: true,
    bucket: 'images',
    summary: 'Get a resource of an EPUB',
    description:
      'Identified by its path in the archive; 404 for resources that are not in the manifest. Scripts are sent as plain text, and a Content-Security-Policy prevents their execution. Supports Range for audio and video. Encrypted resources are sent as stored.',
    params: ResourcePath,
    responses: resourceResponses,
    handle: (input, deps) => resourceResponse(input, deps),
  }),
])

function unreadableError({ errorCode, errorMessage }: BookFile) {
  return errorCode === null
    ? new NotFound('The book has not been analyzed yet')
    : new Unreadable(errorMessage ?? 'The file cannot be read', errorCode)
}
