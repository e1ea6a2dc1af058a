// Event streams (SSE) of catalog changes, tasks and scans.
import { requestedCookie } from '../../accounts/cookie.ts'
import type { Identity } from '../../accounts/identify.ts'
import { bytes, maybe, record, Type, text } from '../../base/schema.ts'
import { currentProgress } from '../../catalog/scan/scan-events.ts'
import { missingPermission } from '../../http/authorize.ts'
import type { Deps } from '../../http/deps.ts'
import { eventStreamResponse } from '../../http/event-stream.ts'
import { type AccessRequirement, type Input, route } from '../../http/route.ts'
import {
  canReceive,
  lookUpVisibleIds,
  messageFor,
  needsLookup,
  type Subscriber,
  visibleEventsOf,
} from '../../store/event/audience.ts'
import type { EventRow, Stream } from '../../store/event/event-rows.ts'
import type { Progress } from '../../store/event/publish.ts'
import { formatProgress } from '../../store/event/sse-format.ts'
import { startPosition } from '../../store/event/sse-stream.ts'
import { streamSchemas } from './stream-events.ts'

const StreamQuery = record({
  lastEventId: maybe(
    text(100, {
      description:
        'Id of the last received event, after which the stream resumes. Replaces the header Last-Event-ID.',
    }),
  ),
  unnamed: maybe(
    Type.Boolean({ default: false, description: 'Whether to omit the `event:` line.' }),
  ),
})

const resumeNote =
  'Event ids increase; a client that reconnects with the last id receives the events it missed, which are available for at least an hour. If they are gone, a `resync` event requests a reload. A comment is sent every 15 seconds.'

type StreamKind = { stream: Stream; path: string; operationId: string; note: string } & {
  permission: Exclude<AccessRequirement, 'public'>
  summary: string
}

const kinds: readonly StreamKind[] = [
  {
    ...{ stream: 'entity', path: '/events/stream', operationId: 'streamEvents' },
    permission: { any: ['LibrariesRead', 'SeriesRead', 'BooksRead'] },
    summary: 'Stream catalog changes (SSE)',
    note: "Changes of books, series, libraries and covers, and of the caller's reading progress.",
  },
  {
    ...{ stream: 'task', path: '/tasks/stream', operationId: 'streamTasks' },
    permission: { any: ['TasksRead', 'LibrariesRead'] },
    summary: 'Stream task progress (SSE)',
    note: 'Starts with the tasks of pending and running scans.',
  },
  {
    ...{ stream: 'scan', path: '/scans/stream', operationId: 'streamScans' },
    permission: 'LibrariesRead',
    summary: 'Stream scan progress (SSE)',
    note: 'Starts with the pending and running scans.',
  },
]

export const streams = kinds.map(({ stream, path, note, ...spec }) =>
  route(`GET ${path}`, {
    ...spec,
    description: `${note} ${resumeNote}`,
    cookie: true,
    bucket: 'exempt',
    // The stream reads for as long as it is open.
    cost: 'record',
    query: StreamQuery,
    responses: { 200: { ...bytes('text/event-stream'), schema: streamSchemas[stream] } },
    handle: (input, deps) => openStream(stream, input, { ...deps, permission: spec.permission }),
  }),
)

type StreamInput = Pick<
  Input<'auth', undefined, typeof StreamQuery, undefined>,
  'query' | 'request' | 'reply' | 'signal'
> & { identity: Identity | null }

async function openStream(
  stream: Stream,
  { request, query, ...input }: StreamInput,
  deps: Deps & { permission: AccessRequirement },
) {
  const identity = input.identity!
  const { feed, sql, identities } = deps
  const optionsOf = async () => {
    const unnamed = query.unnamed === true
    const header = request.headers['last-event-id'] ?? query.lastEventId
    const lastEventId = header === '' ? undefined : header?.toString()
    const start = await startPosition(sql, lastEventId, feed.tail())
    const isResumed = lastEventId !== undefined && start.resync === null
    const opening = isResumed ? [] : await currentState(stream, identity, { ...deps, unnamed })
    const identify = async () => {
      const current = await identities.identify(
        { headers: request.headers, address: request.ip },
        { cookie: requestedCookie(request.query), impersonationAllowed: true },
      )
      return current && missingPermission(current, deps.permission) === null ? current : null
    }
    return { ...start, stream, unnamed, opening, identify }
  }
  const accountId = identity.account.id
  return await eventStreamResponse({ ...input, request }, deps, { accountId, stream, optionsOf })
}

/** Progress of the active scans and their tasks, for a new subscriber. */
async function currentState(
  stream: Stream,
  subscriber: Subscriber,
  { sql, unnamed }: Pick<Deps, 'sql'> & { unnamed: boolean },
): Promise<Buffer[]> {
  if (stream === 'entity') return []
  const messages = await currentProgress(sql)
  const rows = messages
    .filter(message => message.stream === stream)
    .map(eventRow)
    .filter(row => canReceive(row, subscriber))
  const unknown = rows.filter(row => needsLookup(row, subscriber))
  const visible =
    unknown.length > 0 ? await lookUpVisibleIds(sql, unknown, subscriber.viewer) : new Set<string>()
  return rows
    .filter(row => visibleEventsOf(row, subscriber, visible) !== 'none')
    .map(row => formatProgress(row.type, messageFor(row, subscriber).data!, { unnamed }))
}

function eventRow({
  stream,
  type,
  data,
  libraryId,
  seriesId,
  bookId,
  limited,
}: Progress): EventRow {
  return {
    ...{ number: 0, count: 1, at: new Date(), fields: null, accountId: null },
    ...{ stream, type, libraryId: libraryId ?? null },
    seriesIds: seriesId ? [seriesId] : null,
    bookIds: bookId ? [bookId] : null,
    data: data as Record<string, unknown>,
    audience: limited === undefined ? null : { limited },
  }
}
