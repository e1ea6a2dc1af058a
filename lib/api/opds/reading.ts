// The positions of a book, and where readers are in it.
import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Viewer } from '../../auth/viewer.ts'
import { type BookFile, bookFile, packedPages } from '../../catalog/book/book-file.ts'
import { isFresh } from '../../download/range.ts'
import { Invalid, NotFound, Unreadable } from '../../errors.ts'
import type { Deps } from '../../http/deps.ts'
import { answer, type Need, route } from '../../http/route.ts'
import { progressionType } from '../../opds/json/media.ts'
import { positionList, positionsOf, positionsType, type Read } from '../../opds/positions.ts'
import { moveBy, progressionOf } from '../../opds/progression.ts'
import { versionKey } from '../../page/etag.ts'
import { unpackPages } from '../../page/page-list.ts'
import {
  bytes,
  ErrorBody,
  Id,
  list,
  maybe,
  nullable,
  record,
  Type,
  text,
  timestamp,
} from '../../schema.ts'
import { readSetting } from '../../setting/setting.ts'
import { nothing } from '../images/image.ts'
import { bodyInTurn } from './chunked-body.ts'
import { linksOf } from './feeds.ts'

/** What is needed to read a book as it is in its file. */
export const reading = { all: ['BooksRead'], any: ['PagesRead'] } as const satisfies Need
const writes = { all: ['BooksRead'], any: ['ProgressWrite', 'BooksWrite'] } as const satisfies Need

const longestLocator = 8 * 1024
const said = (most: number) => text(most, { minLength: 1, pattern: '\\S' })
const share = () => maybe(nullable(Type.Number({ minimum: 0, maximum: 1 })))
const quote = () => maybe(nullable(text(longestLocator)))

// What cannot be told again as it was said is refused; what says nothing is left out.
const Progression = record({
  modified: timestamp({ description: 'Older than what is stored: 409, and nothing is written.' }),
  device: record({ id: said(500), name: said(500) }),
  locator: record(
    {
      href: said(longestLocator),
      type: said(200),
      title: quote(),
      locations: maybe(
        nullable(
          record({
            fragments: maybe(nullable(list(text(2000)))),
            position: maybe(nullable(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }))),
            progression: share(),
            totalProgression: share(),
          }),
        ),
      ),
      text: maybe(nullable(record({ before: quote(), highlight: quote(), after: quote() }))),
    },
    {
      description:
        'A Readium locator, up to 8 KiB; kept as it is. Addresses of this server are told again as those of the catalogue by which they are asked for.',
    },
  ),
})

const at = { method: 'GET', atRoot: true, catalogue: 2, params: Id } as const

export const readingRoutes = [
  route({
    ...at,
    path: '/opds/v2/books/{id}/positions',
    permission: reading,
    summary: 'The positions of a book, as a Readium position list',
    description: 'A page each, or 1024 bytes of a text that flows.',
    responses: { 200: bytes(positionsType), 304: null, 422: ErrorBody },
    async handle({ params, viewer, request, signal }, deps) {
      const read = await readBy(request, { viewer, id: params.id, signal }, deps)
      if (read.file.format === null) throw unread(read.file)
      const tag = `W/"${hash('sha1', `${versionKey(read.file)} ${read.links.to('')}`, 'base64url')}"`
      const headers = { 'content-type': positionsType, etag: tag }
      if (isFresh(request.headers, { tag })) return answer(304, nothing(request), headers)
      const { count, locators } = await positionsOf(read)
      return answer(200, bodyInTurn(request, positionList(count, locators)), headers)
    },
  }),
  route({
    ...at,
    path: '/opds/v2/books/{id}/progression',
    permission: 'BooksRead',
    summary: 'How far the caller is in a book, as a Readium locator',
    description: '204 when the book was not begun.',
    responses: { 200: bytes(progressionType), 204: null },
    async handle({ params, viewer, request, signal }, deps) {
      const read = await readBy(request, { viewer, id: params.id, signal }, deps)
      const name = String(await readSetting(deps.sql, 'application.name'))
      const by = { id: read.links.base, name }
      const found = await progressionOf(deps.sql, viewer, { read, by })
      if (found === null) return answer(204, undefined)
      return answer(200, JSON.stringify(found), { 'content-type': progressionType })
    },
  }),
  route({
    ...at,
    method: 'PUT',
    path: '/opds/v2/books/{id}/progression',
    permission: writes,
    summary: 'Store how far the caller is in a book, as a Readium locator',
    description:
      'Of a comic or a PDF the position is the page; of an EPUB the resource and how far in it. 409 when anyone has written a newer place, by whatever way; the same time again is stored again. Clocks that are ahead count as now.',
    body: Progression,
    responses: { 204: null, 422: ErrorBody },
    async handle({ params, body, viewer, request, signal }, deps) {
      const { device, locator } = body
      if (Buffer.byteLength(JSON.stringify(locator)) > longestLocator)
        throw new Invalid('body/locator is too long')
      const { id, name } = device
      const given = { device: { id, name }, locator, modified: timeOf(body.modified) }
      const read = await readBy(request, { viewer, id: params.id, signal }, deps)
      await moveBy(deps.sql, viewer, { read, given })
      return answer(204, undefined)
    },
  }),
]

type Wanted = { viewer: Viewer; id: string; signal: AbortSignal }

async function readBy(request: FastifyRequest, { viewer, id, signal }: Wanted, deps: Deps) {
  const file = await presentFile(deps, viewer, id)
  return {
    file,
    links: linksOf(request),
    contents: () => deps.pages.epubs.contents(file, signal),
    pageTypes: async () => {
      const packed = await packedPages(deps.sql, file.id)
      return packed === null ? [] : unpackPages(packed).map(page => page.mediaType)
    },
  } satisfies Read
}

/** Throws NotFound, also for a file that is missing on disk. */
export async function presentFile({ sql }: Pick<Deps, 'sql'>, viewer: Viewer, id: string) {
  const file = await bookFile(sql, viewer, id)
  if (file.isMissing) throw new NotFound('The file of the book is not there')
  return file
}

function unread({ errorCode, errorMessage }: BookFile) {
  return errorCode === null
    ? new NotFound('The book was not read yet')
    : new Unreadable(errorMessage ?? 'The file cannot be read', errorCode)
}

function timeOf(given: Date | string): Date {
  const time = new Date(given)
  const year = time.getUTCFullYear()
  if (!(year >= 1 && year <= 9999)) throw new Invalid('body/modified is no time')
  return time
}
