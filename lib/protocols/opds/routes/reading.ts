// Reading positions: position lists and progression of books (Readium), the latter also below /api/v1.
import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Viewer } from '../../../accounts/viewer.ts'
import { Invalid, NotFound, Unreadable } from '../../../base/errors.ts'
import {
  bytes,
  component,
  ErrorBody,
  name,
  record,
  type Static,
  timestamp,
} from '../../../base/schema.ts'
import { type BookFile, bookFile, packedPages } from '../../../catalog/book/book-file.ts'
import { isFresh, versionKey } from '../../../download/range.ts'
import { emptyBody } from '../../../http/body.ts'
import { deviceOf } from '../../../http/client/device.ts'
import type { Deps } from '../../../http/deps.ts'
import { BookId } from '../../../http/params.ts'
import type { Protocol } from '../../../http/protocol.ts'
import { type AccessRequirement, type Route, respond, route } from '../../../http/route.ts'
import { singleLine } from '../../../media/metadata/text.ts'
import { unpackPages } from '../../../page/page-list.ts'
import { openSettings } from '../../../store/setting/setting.ts'
import type { Links } from '../links.ts'
import { positionsType, progressionType } from '../media-types.ts'
import { positionList, positionsOf, type ReadableBook } from '../positions.ts'
import { type Device, readProgression, storeProgression } from '../progression.ts'
import { maxLocatorBytes, ReadiumLocator } from '../readium-locator.ts'
import { withoutApiKeys } from '../stored-locator.ts'
import { chunkedBody } from './chunked-body.ts'
import { linksOf } from './feeds.ts'
import { opdsProtocol } from './protocol.ts'

/** Permissions for the contents of a book. */
export const readPermission = {
  all: ['BooksRead'],
  any: ['PagesRead'],
} as const satisfies AccessRequirement
const writePermission = {
  all: ['BooksRead'],
  any: ['ProgressWrite', 'BooksWrite'],
} as const satisfies AccessRequirement

// Values that could not be returned unchanged are rejected.
export const ProgressionUpdate = component('ProgressionUpdate', {
  modified: timestamp({
    description: 'Time of reading; 409 if it is older than the stored progression.',
  }),
  device: record({ id: name(500), name: name(500) }),
  locator: ReadiumLocator,
})

const common = { atRoot: true, protocol: opdsProtocol } as const

export const readingRoutes = [
  positionsRoute({
    ...common,
    operationId: 'getOpds2Positions',
    path: '/opds/v2/books/{id}/positions',
  }),
  positionsRoute({ cookie: true, operationId: 'getBookPositions', path: '/books/{id}/positions' }),
  ...progressionRoutes({
    ...{ ...common, path: '/opds/v2/books/{id}/progression' },
    ...{ resource: 'Opds2Progression', mediaType: progressionType },
  }),
  ...progressionRoutes({
    path: '/books/{id}/progression',
    ...{ resource: 'BookProgression', mediaType: 'application/json' },
  }),
]

type PositionsPlace = Pick<Route, 'operationId' | 'path' | 'atRoot' | 'protocol' | 'cookie'>

function positionsRoute(place: PositionsPlace): Route {
  return route({
    ...place,
    method: 'GET',
    params: BookId,
    permission: readPermission,
    summary: 'List positions of a book (Readium position list)',
    description: 'One position per page, or per 1024 bytes of reflowable text.',
    responses: { 200: bytes(positionsType), 304: null, 422: ErrorBody },
    async handle({ params, viewer, request, signal }, deps) {
      const book = await readableBook(request, { viewer, id: params.id, signal }, deps)
      if (book.file.format === null) throw unreadableError(book.file)
      const etag = `W/"${hash('sha1', `${versionKey(book.file)} ${book.links.to('')}`, 'base64url')}"`
      const headers = { 'content-type': positionsType, etag }
      if (isFresh(request.headers, { etag })) return respond(304, emptyBody(request), headers)
      const { count, locators } = await positionsOf(book)
      return respond(200, chunkedBody(request, positionList(count, locators)), headers)
    },
  })
}

type ProgressionPlace = {
  path: string
  /** Used in operation ids. */
  resource: string
  mediaType: string
  atRoot?: true
  protocol?: Protocol
}

type Written = Static<typeof ProgressionUpdate>

/** The progression in a body, with the precision of its time. Throws Invalid. */
export function writtenProgression({ device, locator, modified }: Written) {
  if (Buffer.byteLength(JSON.stringify(locator)) > maxLocatorBytes)
    throw new Invalid('body/locator is too long')
  const { id, name } = device
  return {
    progression: { device: { id, name }, locator, modified: parseTime(modified) },
    precisionMs: precisionOf(String(modified)),
  }
}

function progressionRoutes({ resource, mediaType, ...place }: ProgressionPlace): Route[] {
  return [
    route({
      ...place,
      operationId: `get${resource}`,
      method: 'GET',
      permission: 'BooksRead',
      summary: 'Get reading progression of a book (Readium locator)',
      description: '204 if the caller has not started the book.',
      params: BookId,
      responses: { 200: { ...bytes(mediaType), schema: ProgressionUpdate }, 204: null },
      async handle({ params, viewer, request, signal }, deps) {
        const book = await readableBook(request, { viewer, id: params.id, signal }, deps)
        const server = await serverDevice(deps, book.links)
        const progression = await readProgression(deps.sql, viewer, { book, server })
        if (progression === null) return respond(204, undefined)
        return respond(200, JSON.stringify(progression), { 'content-type': mediaType })
      },
    }),
    route({
      ...place,
      operationId: `update${resource}`,
      method: 'PUT',
      permission: writePermission,
      summary: 'Update reading progression of a book (Readium locator)',
      description:
        'The position is the page of a comic or PDF, or a resource of an EPUB and the progression in it. 409 if any client has stored newer progress, compared at the precision of `modified`; an equal time overwrites. A time in the future counts as now.',
      params: BookId,
      body: ProgressionUpdate,
      responses: { 204: null, 422: ErrorBody },
      async handle({ params, body, viewer, identity, request, signal }, deps) {
        const { progression, precisionMs } = writtenProgression(body)
        const book = await readableBook(request, { viewer, id: params.id, signal }, deps)
        const readingDevice = deviceOf(request, identity, withoutApiKeys(body.device))
        const update = { book, progression, precisionMs, readingDevice, surface: 'opds' } as const
        await storeProgression(deps.sql, viewer, update)
      },
    }),
  ]
}

/** The device of progress that was not written by an app. */
export async function serverDevice(
  { services }: Pick<Deps, 'services'>,
  { base }: Links,
): Promise<Device> {
  const name = singleLine(String(await services(openSettings).cached('application.name')))
  return { id: base, name: name ?? 'Library' }
}

type BookRequest = { viewer: Viewer; id: string; signal: AbortSignal }

/** Throws NotFound, also for a file that is missing on disk. */
export function readableBook(request: FastifyRequest, book: BookRequest, deps: Deps) {
  return readableBookAt(linksOf(request), book, deps)
}

/** Like `readableBook`, with links in another tree. */
export async function readableBookAt(
  links: Links,
  { viewer, id, signal }: BookRequest,
  deps: Deps,
) {
  const file = await presentFile(deps, viewer, id)
  return {
    file,
    links,
    contents: () => deps.pages.epubs.contents(file, { accountId: viewer.accountId, signal }),
    pageTypes: async () => {
      const packed = await packedPages(deps.sql, file.id)
      return packed === null ? [] : unpackPages(packed).map(page => page.mediaType)
    },
  } satisfies ReadableBook
}

/** Throws NotFound, also for a file that is missing on disk. */
export async function presentFile({ sql }: Pick<Deps, 'sql'>, viewer: Viewer, id: string) {
  const file = await bookFile(sql, viewer, id)
  if (file.isMissing) throw new NotFound('The file of the book is missing')
  return file
}

function unreadableError({ errorCode, errorMessage }: BookFile) {
  return errorCode === null
    ? new NotFound('The book has not been analyzed yet')
    : new Unreadable(errorMessage ?? 'The file cannot be read', errorCode)
}

function parseTime(value: Date | string): Date {
  const time = new Date(value)
  const year = time.getUTCFullYear()
  if (!(year >= 1 && year <= 9999)) throw new Invalid('body/modified is not a valid time')
  return time
}

/**
 * The precision of a clock in milliseconds, judged by the time it wrote: a thousand for `12:00:00Z`, and also for
 * `12:00:00.000Z`, because clocks with whole seconds are often formatted like that.
 */
function precisionOf(time: string): number {
  const digits = /\.(\d*?)0*(?:[zZ]|[+-])/.exec(time)?.[1]?.length ?? 0
  return 10 ** (3 - Math.min(digits, 3))
}
