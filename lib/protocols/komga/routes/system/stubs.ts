// Operations of the Komga-compatible API without a counterpart: empty results of the right shape, or refusals.
import { NotFound } from '../../../../base/errors.ts'
import {
  component,
  json,
  list,
  maybe,
  nullable,
  record,
  Type,
  text,
} from '../../../../base/schema.ts'
import { route } from '../../../../http/route.ts'
import { time } from '../../values.ts'
import { pageOf, pageOfAll, pageQuery, pageRequest, sortQuery } from '../http/paging.ts'

const HistoricalEventDto = component('HistoricalEventDto', {
  id: Type.String(),
  type: Type.String(),
  timestamp: time(),
  bookId: nullable(Type.String()),
  seriesId: nullable(Type.String()),
  properties: json(),
})
export const stubs = [
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
  ...(['getFontFamilyAsCss', 'getFontFile'] as const).map(operationId =>
    route(
      `GET /fonts/resource/{fontFamily}/${operationId === 'getFontFile' ? '{fontFile}' : 'css'}`,
      {
        operationId,
        permission: 'auth',
        summary: 'Get a server font; there are none',
        params: record({ fontFamily: text(200), fontFile: maybe(text(200)) }),
        responses: { 200: record({}) },
        handle: () => {
          throw new NotFound('Font not found')
        },
      },
    ),
  ),
]
