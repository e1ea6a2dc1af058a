// Operations of the Komga-compatible API without a counterpart: empty results of the right shape, or refusals.
import { NotFound } from '../../../../base/errors.ts'
import { json, list, maybe, nullable, record, Type, text } from '../../../../base/schema.ts'
import { respond, route } from '../../../../http/route.ts'
import { time } from '../../values.ts'
import { pageOf, pageOfAll, pageQuery, pageRequest, sortQuery } from '../http/paging.ts'

const HistoricalEventDto = record(
  {
    id: Type.String(),
    type: Type.String(),
    timestamp: time(),
    bookId: nullable(Type.String()),
    seriesId: nullable(Type.String()),
    properties: json(),
  },
  { component: 'HistoricalEventDto' },
)
export const stubs = [
  route({
    operationId: 'getHistoricalEvents',
    method: 'GET',
    path: '/history',
    permission: 'SystemAdmin',
    cost: 'record',
    summary: 'List file changes; none are recorded',
    query: record({ ...pageQuery, ...sortQuery }),
    responses: { 200: pageOf(HistoricalEventDto) },
    handle: ({ query }) => pageOfAll(pageRequest(query), []),
  }),
  route({
    operationId: 'getAnnouncements',
    method: 'GET',
    path: '/announcements',
    permission: 'SystemAdmin',
    cost: 'record',
    summary: 'Get announcements; there are none',
    responses: {
      200: record(
        {
          version: Type.String(),
          title: Type.String(),
          home_page_url: nullable(Type.String()),
          description: nullable(Type.String()),
          items: list(record({})),
        },
        { component: 'JsonFeedDto' },
      ),
    },
    handle: () => ({
      version: 'https://jsonfeed.org/version/1.1',
      title: 'Announcements',
      ...{ home_page_url: null, description: null },
      items: [],
    }),
  }),
  route({
    operationId: 'markAnnouncementsRead',
    method: 'PUT',
    path: '/announcements',
    permission: 'SystemAdmin',
    summary: 'Accept read announcements without effect',
    body: list(text(1000), { maxItems: 1000 }),
    responses: { 204: null },
    handle: () => respond(204),
  }),
  route({
    operationId: 'getReleases',
    method: 'GET',
    path: '/releases',
    permission: 'SystemAdmin',
    cost: 'record',
    summary: 'List server releases; none are looked up',
    responses: { 200: list(record({})) },
    handle: () => [],
  }),
  route({
    operationId: 'deleteSyncPointsForCurrentUser',
    method: 'DELETE',
    path: '/syncpoints/me',
    permission: 'auth',
    summary: 'Accept without effect: Kobo devices are not synchronized',
    query: record({ key_id: maybe(text(200)) }),
    responses: { 204: null },
    handle: () => respond(204),
  }),
  route({
    operationId: 'getFonts',
    method: 'GET',
    path: '/fonts/families',
    permission: 'auth',
    summary: 'List server fonts; there are none',
    responses: { 200: list(Type.String()) },
    handle: () => [],
  }),
  ...(['getFontFamilyAsCss', 'getFontFile'] as const).map(operationId =>
    route({
      operationId,
      method: 'GET',
      path: `/fonts/resource/{fontFamily}/${operationId === 'getFontFile' ? '{fontFile}' : 'css'}`,
      permission: 'auth',
      summary: 'Get a server font; there are none',
      params: record({ fontFamily: text(200), fontFile: maybe(text(200)) }),
      responses: { 200: record({}) },
      handle: () => {
        throw new NotFound('Font not found')
      },
    }),
  ),
]
