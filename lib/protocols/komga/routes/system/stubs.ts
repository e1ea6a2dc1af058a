// Operations of the Komga-compatible API without a counterpart (imports, temporary books, duplicate pages, fonts):
// empty results of the right shape, or refusals.
import { Forbidden, NotFound } from '../../../../base/errors.ts'
import {
  component,
  json,
  list,
  maybe,
  nullable,
  record,
  type TSchema,
  Type,
  text,
} from '../../../../base/schema.ts'
import { type Route, route } from '../../../../http/route.ts'
import { PageDto } from '../../book-dto.ts'
import { texts, time } from '../../values.ts'
import { pageOf, pageOfAll, pageQuery, pageRequest, sortQuery } from '../http/paging.ts'

const HistoricalEventDto = component('HistoricalEventDto', {
  ...texts('id', 'type'),
  timestamp: time(),
  bookId: nullable(Type.String()),
  seriesId: nullable(Type.String()),
  properties: json(),
})
const fontFamily = text(200)
const fontResources = [
  ['getFontFamilyAsCss', 'css', { fontFamily }],
  ['getFontFile', '{fontFile}', { fontFamily, fontFile: text(200) }],
] as const

const empty = [
  route('GET /history', {
    operationId: 'getHistoricalEvents',
    permission: 'SystemAdmin',
    cost: 'record',
    summary: 'List file changes; none are recorded',
    query: record({ ...pageQuery, ...sortQuery }),
    responses: { 200: pageOf(HistoricalEventDto) },
    handle: ({ query }) => pageOfAll(pageRequest(query), []),
  }),
  route('GET /announcements', {
    operationId: 'getAnnouncements',
    permission: 'SystemAdmin',
    cost: 'record',
    summary: 'Get announcements; there are none',
    responses: {
      200: component('JsonFeedDto', {
        version: Type.String(),
        title: Type.String(),
        home_page_url: nullable(Type.String()),
        description: nullable(Type.String()),
        items: list(record({})),
      }),
    },
    handle: () => ({
      version: 'https://jsonfeed.org/version/1.1',
      title: 'Announcements',
      ...{ home_page_url: null, description: null },
      items: [],
    }),
  }),
  route('PUT /announcements', {
    operationId: 'markAnnouncementsRead',
    permission: 'SystemAdmin',
    summary: 'Accept read announcements without effect',
    body: list(text(1000), { maxItems: 1000 }),
    responses: { 204: null },
    handle() {},
  }),
  route('GET /releases', {
    operationId: 'getReleases',
    permission: 'SystemAdmin',
    cost: 'record',
    summary: 'List server releases; none are looked up',
    responses: { 200: list(record({})) },
    handle: () => [],
  }),
  route('DELETE /syncpoints/me', {
    operationId: 'deleteSyncPointsForCurrentUser',
    permission: 'auth',
    summary: 'Accept without effect: Kobo devices are not synchronized',
    query: record({ key_id: maybe(text(200)) }),
    responses: { 204: null },
    handle() {},
  }),
  route('GET /fonts/families', {
    operationId: 'getFonts',
    permission: 'auth',
    summary: 'List server fonts; there are none',
    responses: { 200: list(Type.String()) },
    handle: () => [],
  }),
  ...fontResources.map(([operationId, file, params]) =>
    route(`GET /fonts/resource/{fontFamily}/${file}`, {
      operationId,
      permission: 'auth',
      summary: 'Get a server font; there are none',
      params: record(params),
      responses: { 200: record({}) },
      handle: () => {
        throw new NotFound('Font not found')
      },
    }),
  ),
]

const hash = {
  hash: Type.String(),
  size: nullable(Type.Integer()),
  matchCount: Type.Integer(),
}
const UnknownHash = component('PageHashUnknownDto', hash)
const KnownHash = component('PageHashKnownDto', {
  ...hash,
  action: Type.String(),
  deleteCount: Type.Integer(),
  ...{ created: time(), lastModified: time() },
})
const HashMatch = component('PageHashMatchDto', {
  ...{ bookId: Type.String(), url: Type.String(), pageNumber: Type.Integer() },
  ...{ fileName: Type.String(), fileSize: Type.Integer(), mediaType: Type.String() },
})
const TransientBook = component('TransientBookDto', {
  ...{ id: Type.String(), name: Type.String(), url: Type.String(), fileLastModified: time() },
  ...{ sizeBytes: Type.Integer(), size: Type.String(), status: Type.String() },
  ...{ mediaType: Type.String(), pages: list(PageDto), files: list(Type.String()) },
  ...{ comment: Type.String(), number: nullable(Type.Number()) },
  seriesId: nullable(Type.String()),
})

const Hash = record({ hash: text(200) })

const emptyPages = (operationId: string, path: string, item: TSchema, params?: typeof Hash) =>
  route(`GET ${path}`, {
    ...{ operationId, permission: 'SystemAdmin', cost: 'record', summary: 'List duplicate pages' },
    description: 'Always empty: pages are not compared.',
    ...(params ? { params } : {}),
    query: record({ ...pageQuery, ...sortQuery, action: maybe(list(Type.String())) }),
    responses: { 200: pageOf(item) },
    handle: ({ query }) => pageOfAll(pageRequest(query as object), []) as never,
  })

type Refusal = { params?: TSchema; status?: 403 | 404; response?: TSchema }

const refusal = (
  address: Parameters<typeof route>[0],
  [operationId, summary]: readonly [string, string],
  { params, status = 403, response }: Refusal = {},
) =>
  route(address, {
    ...{ operationId, permission: 'SystemAdmin', cost: 'record', summary },
    description: `Always ${status}.`,
    ...(params ? { params } : {}),
    responses: response ? { 200: response } : { 202: null },
    handle() {
      if (status === 404) throw new NotFound('Pages are not compared')
      throw new Forbidden('This server does not change the files of libraries')
    },
  })

const Transient = record({ id: text(200) })
const TransientPage = record({ ...Transient.properties, page: text(20) })
const opening = 'Refuse to open books in other folders'
const ofPage = 'Refuse the page of a temporary book'
const image = 'Get the image of duplicate pages'
const deletion = 'Refuse to delete pages from files'

const refusals = [
  refusal('POST /books/import', ['importBooks', 'Refuse to import books']),
  refusal('POST /transient-books', ['scanTransientBooks', opening], {
    response: list(TransientBook),
  }),
  refusal(
    'POST /transient-books/{id}/analyze',
    ['analyzeTransientBook', 'Refuse to analyze a temporary book'],
    { params: Transient, response: TransientBook },
  ),
  refusal('GET /transient-books/{id}/pages/{page}', ['getPageByTransientBookId', ofPage], {
    ...{ params: TransientPage, status: 404 },
  }),
  emptyPages('getKnownPageHashes', '/page-hashes', KnownHash),
  emptyPages('getUnknownPageHashes', '/page-hashes/unknown', UnknownHash),
  emptyPages('getPageHashMatches', '/page-hashes/{hash}', HashMatch, Hash),
  refusal('PUT /page-hashes', ['createOrUpdateKnownPageHash', 'Refuse to store duplicate pages']),
  refusal('GET /page-hashes/{hash}/thumbnail', ['getKnownPageHashThumbnail', image], {
    ...{ params: Hash, status: 404 },
  }),
  refusal('GET /page-hashes/unknown/{hash}/thumbnail', ['getUnknownPageHashThumbnail', image], {
    ...{ params: Hash, status: 404 },
  }),
  refusal('POST /page-hashes/{hash}/delete-all', ['deleteDuplicatePagesByPageHash', deletion], {
    params: Hash,
  }),
  refusal('POST /page-hashes/{hash}/delete-match', ['deleteSingleMatchByPageHash', deletion], {
    params: Hash,
  }),
]

export const stubs: readonly Route[] = [...empty, ...refusals]
