// KOReader sync: the protocol of KOReader's progress sync plugin (koreader-sync-server), at /koreader and
// at the root, so that either can be entered as its custom server.
import type { Viewer } from '../../../accounts/viewer.ts'
import { Forbidden, NotFound, Unreadable } from '../../../base/errors.ts'
import { component, list, maybe, name, oneOf, record, Type, text } from '../../../base/schema.ts'
import type { Deps } from '../../../http/deps.ts'
import { route } from '../../../http/route.ts'
import { isReflowable } from '../../../media/format/formats.ts'
import type { Services } from '../../../store/services.ts'
import { openSettings } from '../../../store/setting/setting.ts'
import { type DocumentMatch, pointerAt } from '../../publication/koreader-position.ts'
import { createApiLinks } from '../../publication/links.ts'
import { sectionsOf } from '../../publication/positions.ts'
import { storedProgress, totalProgressionOf } from '../../publication/progression.ts'
import { type BookInput, readableBook } from '../../publication/routes/reading.ts'
import { withoutApiKeys } from '../../publication/stored-locator.ts'
import {
  type FoundBook,
  findBookOfDocument,
  findUnknown,
  linkDocument,
  type SyncedPosition,
  storePosition,
} from '../documents.ts'
import { koreaderProtocol } from './protocol.ts'

const maxDocument = 128
const matches = ['content', 'structure', 'filename'] as const

const Document = name(maxDocument, {
  description: 'Partial MD5 of the file, or MD5 of its name, in hex.',
})
const Position = component('KoreaderPosition', {
  document: Document,
  progress: maybe(
    Type.String({
      description: 'A page number, or an XPointer in an EPUB, as the device wrote it.',
    }),
  ),
  percentage: maybe(Type.Number({ description: 'From 0 to 1.' })),
  device: maybe(Type.String()),
  device_id: maybe(Type.String()),
  timestamp: maybe(Type.Integer({ description: 'Seconds since 1970.' })),
  progress_match: maybe(
    oneOf(matches, {
      description:
        'How `ids` and the device that wrote the position identified the book: `content` only if both did so by content.',
    }),
  ),
})
const Identifier = record({ type: text(20), value: text(maxDocument) })
const PositionUpdate = component('KoreaderPositionUpdate', {
  document: Document,
  progress: Type.Unsafe<string | number>({
    type: ['string', 'number'],
    maxLength: 4000,
    pattern: '^[^\\u0000]*$',
  }),
  percentage: Type.Number({ minimum: 0, maximum: 1 }),
  device: text(200),
  device_id: maybe(text(200)),
  identifiers: maybe(list(Identifier, { maxItems: 8 })),
  timestamp: maybe(
    Type.Integer({
      minimum: 0,
      maximum: 253_402_300_799,
      description:
        'Time of reading in seconds since 1970; a future time counts as now. Without it, the position is the newest.',
    }),
  ),
})
const Stored = component('KoreaderStored', { document: Type.String(), timestamp: Type.Integer() })

const Health = component('KoreaderHealth', { state: Type.String() })
const User = component('KoreaderUser', { username: Type.String() })
const Registration = component('KoreaderRegistration', {
  username: maybe(text(200)),
  password: maybe(text(200)),
})
const Authorization = component('KoreaderAuthorization', { authorized: Type.String() })

const writePermission = {
  all: ['BooksRead'],
  any: ['ProgressWrite', 'BooksWrite'],
} as const

/** Also available without the prefix. */
const at = (path: string) =>
  ({ aliases: [{ path }], atRoot: true, protocol: koreaderProtocol }) as const

export const koreaderSync = [
  route('GET /koreader/healthcheck', {
    ...at('/healthcheck'),
    operationId: 'getKoreaderHealth',
    permission: 'public',
    summary: 'Check whether KOReader sync is available',
    responses: { 200: Health },
    async handle(_, { services }) {
      await requireEnabled(services)
      return { state: 'OK' }
    },
  }),
  route('POST /koreader/users/create', {
    ...at('/users/create'),
    operationId: 'registerKoreaderUser',
    permission: 'public',
    summary: 'Refuse the registration of a KOReader user',
    description:
      'Always 403: accounts are created by the server, and KOReader signs in with an API key.',
    body: Registration,
    bodyOptional: true,
    responses: { 201: User },
    async handle(_, { services }) {
      await requireEnabled(services)
      throw new Forbidden(
        'Accounts cannot be created here. Log in with your user name and an API key as the password',
      )
    },
  }),
  route('GET /koreader/users/auth', {
    ...at('/users/auth'),
    operationId: 'authorizeKoreaderUser',
    permission: 'auth',
    summary: 'Check KOReader credentials',
    description:
      '`X-Auth-User` is the account name and `X-Auth-Key` the MD5 of an API key; or `X-Auth-User` is the key itself.',
    responses: { 200: Authorization },
    async handle(_, { services }) {
      await requireEnabled(services)
      return { authorized: 'OK' }
    },
  }),
  route('PUT /koreader/syncs/progress', {
    ...at('/syncs/progress'),
    operationId: 'updateKoreaderPosition',
    permission: writePermission,
    summary: 'Update the position in a KOReader document',
    description:
      'A position in an unknown document is stored for the account until a book with its digest appears.',
    body: PositionUpdate,
    responses: { 200: Stored },
    async handle({ body, viewer }, { sql, services }) {
      await requireEnabled(services)
      const { document, percentage, device, device_id = '', identifiers = [], timestamp } = body
      const position = { progress: String(body.progress), percentage, device, device_id }
      const book = await findDocument(sql, viewer, [
        { type: null, value: document },
        ...identifiers,
      ])
      const written = await storePosition(sql, viewer, {
        document,
        book,
        position: withoutApiKeys(position),
        ...(timestamp === undefined ? {} : { at: new Date(timestamp * 1_000) }),
      })
      return { document, timestamp: seconds(written) }
    },
  }),
  route('GET /koreader/syncs/progress/{document}', {
    ...at('/syncs/progress/{document}'),
    operationId: 'getKoreaderPosition',
    permission: 'BooksRead',
    summary: 'Get the position in a KOReader document',
    description: 'Without a position, the response contains only the document.',
    params: record({ document: Document }),
    query: record({
      ids: maybe(
        text(1500, { description: 'Additional identifiers: `content:MD5,filename:MD5`.' }),
      ),
    }),
    responses: { 200: Position },
    async handle({ params, query, viewer, request, signal }, deps) {
      await requireEnabled(deps.services)
      const { document } = params
      const ids = parseIds(query.ids)
      const book = await findDocument(deps.sql, viewer, [{ type: null, value: document }, ...ids])
      const stored = await findUnknown(deps.sql, viewer, document)
      if (book === null) return stored ? { document, ...toWire(stored) } : { document }
      if (stored) await linkDocument(deps.sql, viewer, { document, book, position: stored })
      const input = { params: { id: book.id }, viewer, signal }
      const position = await positionIn(book, { ...input, base: request.base }, deps)
      if (position === null) return { document }
      const isOfContent = book.match === 'content' && position.match !== 'filename'
      const match: DocumentMatch = isOfContent ? 'content' : 'filename'
      return {
        ...{ document, ...toWire(position) },
        ...(ids.length > 0 ? { progress_match: match } : {}),
      }
    },
  }),
]

async function requireEnabled(services: Services) {
  if (!(await services(openSettings).cached('koreader.enabled')))
    throw new NotFound('KOReader sync is disabled on this server')
}

const seconds = (time: Date) => Math.floor(time.getTime() / 1000)

const toWire = ({ updatedAt, match: _, ...position }: SyncedPosition) => ({
  ...position,
  timestamp: seconds(updatedAt),
})

type TypedIdentifier = { type: string | null; value: string }

const maxIds = 8
const parseIds = (ids = ''): TypedIdentifier[] =>
  ids
    .split(',', maxIds)
    .map(id => /^(\w{1,20}):(.+)$/s.exec(id.trim()))
    .flatMap(parts => (parts ? [{ type: parts[1]!, value: parts[2]! }] : []))

/** The first identifier of a visible book. Identifiers by document structure are not supported. */
async function findDocument(
  sql: Deps['sql'],
  viewer: Viewer,
  identifiers: readonly TypedIdentifier[],
): Promise<FoundBook | null> {
  const tried = new Set<string>()
  for (const { type, value } of identifiers) {
    if (tried.has(value) || (type !== null && !isMatch(type))) continue
    tried.add(value)
    const book = await findBookOfDocument(sql, viewer, value)
    if (book) return book
  }
  return null
}

const isMatch = (type: string): type is DocumentMatch => type === 'content' || type === 'filename'

/** The position that KOReader wrote, while it is the newest; otherwise the book's progress in KOReader's terms. */
async function positionIn(
  book: FoundBook,
  { base, ...input }: BookInput & { base: string },
  deps: Deps,
): Promise<SyncedPosition | null> {
  const row = await storedProgress(deps.sql, input.viewer, book.id)
  if (row === null) return null
  const { koreader, updatedAt } = row
  if (koreader !== null) return { ...koreader, updatedAt }
  const percentage = totalProgressionOf(row, book)
  const device = String(await deps.services(openSettings).cached('application.name'))
  const position = { percentage, device, device_id: 'stackroom', updatedAt }
  if (!isReflowable(book.format)) return { ...position, progress: String(Math.max(1, row.page)) }
  try {
    const { contents: load, links } = await readableBook(createApiLinks(base), input, deps)
    const contents = await load()
    const sections = sectionsOf(book.id, contents, links)
    return { ...position, progress: pointerAt(percentage, { contents, sections }) }
  } catch (error) {
    // The device retains its own position.
    if (error instanceof Unreadable || error instanceof NotFound) return null
    throw error
  }
}
