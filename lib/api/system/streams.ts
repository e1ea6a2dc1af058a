// What happens, as it happens: server-sent events of the catalogue, of tasks and of scans.
import { Readable } from 'node:stream'
import type { Identity } from '../../auth/identify.ts'
import { messagesNow } from '../../catalog/scan/scan-events.ts'
import { mayHear, type Seer } from '../../event/audience.ts'
import type { Stream } from '../../event/event-rows.ts'
import type { Progress } from '../../event/publish.ts'
import { progressBlock } from '../../event/sse-format.ts'
import { beginning, follow } from '../../event/sse-stream.ts'
import { lacks } from '../../http/authorize.ts'
import type { Deps } from '../../http/deps.ts'
import { answer, type Input, type Need, route } from '../../http/route.ts'
import { bytes, maybe, record, Type, text } from '../../schema.ts'

const Query = record({
  lastEventId: maybe(
    text(100, {
      description:
        'In place of the header Last-Event-ID: what came after this event is sent first.',
    }),
  ),
  unnamed: maybe(
    Type.Boolean({ description: 'Blocks begin with `data:` and do not name their type.' }),
  ),
})

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

const common =
  'Ids increase; whoever comes back with the last one gets what was missed, for an hour at least. When that cannot be had a `resync` event says so: load anew what is shown. A comment comes every 15 seconds.'

export const streams = [
  stream('entity', {
    path: '/events/stream',
    permission: { any: ['LibrariesRead', 'SeriesRead', 'BooksRead'] },
    summary: 'What changes in the catalogue',
    description: `Books, series, libraries, covers and the caller's own progress. ${common}`,
  }),
  stream('task', {
    path: '/tasks/stream',
    permission: { any: ['TasksRead', 'LibrariesRead'] },
    summary: 'How tasks get on',
    description: `Begins with the tasks of scans that wait or run. ${common}`,
  }),
  stream('scan', {
    path: '/scans/stream',
    permission: 'LibrariesRead',
    summary: 'How scans get on',
    description: `Begins with the scans that wait or run. ${common}`,
  }),
]

type Spec = { path: string; permission: Need; summary: string; description: string }

function stream(name: Stream, spec: Spec) {
  return route({
    ...spec,
    method: 'GET',
    cookie: true,
    bucket: 'exempt',
    query: Query,
    responses: { 200: bytes('text/event-stream') },
    handle: (input, deps) => open(name, input, { ...deps, permission: spec.permission }),
  })
}

type Asked = Pick<
  Input<'auth', undefined, typeof Query, undefined>,
  'query' | 'request' | 'reply' | 'signal'
> & { identity: Identity | null }

async function open(name: Stream, input: Asked, deps: Deps & { permission: Need }) {
  const { request, reply, query, signal } = input
  // A body without end would be read to its end.
  if (request.method === 'HEAD') return answer(200, Readable.from([]), headers)
  const identity = input.identity!
  const { feed, sql, identities } = deps
  const listener = await feed.join({
    accountId: identity.account.id,
    stream: name,
    end: () => reply.raw.destroy(),
  })
  try {
    signal.addEventListener('abort', listener.leave)
    if (signal.aborted) listener.leave()
    const unnamed = query.unnamed === true
    const given = request.headers['last-event-id'] ?? query.lastEventId
    const lastId = given === '' ? undefined : given?.toString()
    const begin = await beginning(sql, lastId, feed.tail())
    const isResumed = lastId !== undefined && begin.resync === null
    const opening = isResumed ? [] : await stateNow(name, identity, { ...deps, unnamed })
    const identify = async () => {
      const now = await identities.identify(
        { headers: request.headers, address: request.ip },
        { cookieAllowed: true },
      )
      return now && lacks(now, deps.permission) === null ? now : null
    }
    const following = { ...begin, stream: name, unnamed, opening, identify }
    return answer(200, Readable.from(follow(feed, listener, following)), headers)
  } catch (error) {
    listener.leave()
    throw error
  }
}

/** Scans and their tasks as they stand, so that whoever comes in the middle need not wait. */
async function stateNow(
  name: Stream,
  seer: Seer,
  { sql, unnamed }: Pick<Deps, 'sql'> & { unnamed: boolean },
): Promise<Buffer[]> {
  if (name === 'entity') return []
  const messages = await messagesNow(sql)
  return messages
    .filter(message => message.stream === name && mayHear(rowOf(message), seer))
    .map(({ type, data }) => progressBlock(type, data as Record<string, unknown>, { unnamed }))
}

function rowOf({ stream, type, data, libraryId }: Progress) {
  const ids = { libraryId: libraryId ?? null, seriesIds: null, bookIds: null }
  const none = { fields: null, accountId: null, audience: null }
  const row = { ...ids, ...none, stream, type, number: 0, count: 1, at: new Date() }
  return { ...row, data: data as Record<string, unknown> }
}
