// Event stream of the Komga-compatible API: changes to what the caller may see, and the state of the tasks.
import type { Sql } from 'postgres'
import { bytes } from '../../../../base/schema.ts'
import { missingPermission } from '../../../../http/authorize.ts'
import type { Deps } from '../../../../http/deps.ts'
import { eventStreamResponse } from '../../../../http/event-stream.ts'
import { type Input, route } from '../../../../http/route.ts'
import type { Subscriber } from '../../../../store/event/audience.ts'
import { createRenderer, type Renderer } from '../../../../store/event/render.ts'
import { startPosition } from '../../../../store/event/sse-stream.ts'
import { taskScope } from '../../../../store/queue/task/scope.ts'
import { openTaskStats } from '../../../../store/queue/task/stats.ts'
import type { Services } from '../../../../store/services.ts'
import { openSettings } from '../../../../store/setting/setting.ts'
import { identifyCaller } from '../session/authenticate.ts'
import { formatKomgaEvents, formatKomgaMessage } from './event-format.ts'
import { withListEvents } from './list-events.ts'

const permission = { any: ['LibrariesRead', 'SeriesRead', 'BooksRead'] } as const
const cacheBytes = 8 * 1024 * 1024

export const events = [
  route('GET /sse/v1/events', {
    operationId: 'streamEvents',
    atRoot: true,
    permission,
    bucket: 'exempt',
    // The stream reads for as long as it is open.
    cost: 'record',
    summary: 'Stream events (SSE)',
    responses: { 200: bytes('text/event-stream') },
    handle: openStream,
  }),
]

type StreamInput = Input<typeof permission, undefined, undefined, undefined>

function openStream(input: StreamInput, deps: Deps) {
  const { request, identity } = input
  const { feed, sql, services } = deps
  const { id: accountId } = identity.account
  const stream = 'entity' as const
  const optionsOf = async () => {
    const lastEventId = request.headers['last-event-id']?.toString() || undefined
    const identify = async () => {
      if (!(await services(openSettings).cached('komga.enabled'))) return null
      const caller = await identifyCaller(request, deps)
      return caller && missingPermission(caller.identity, permission) === null
        ? caller.identity
        : null
    }
    return {
      ...(await startPosition(sql, lastEventId, feed.tail())),
      ...{ stream, unnamed: false, opening: [], identify },
      render: services(createKomgaRenderer),
      readStatus: (subscriber: Subscriber) => readTaskStatus(deps, subscriber),
      farewell: formatKomgaMessage({ name: 'SessionExpired', data: { userId: accountId } }),
    }
  }
  return eventStreamResponse(input, deps, { accountId, stream, optionsOf })
}

/** Shared by all streams of a process. */
const createKomgaRenderer = (pool: Sql, services: Services): Renderer =>
  withListEvents(
    { sql: pool, services },
    createRenderer(pool, { formatEvents: formatKomgaEvents, maxCacheBytes: cacheBytes }),
  )

/** For administrators; sent even if there is nothing to do, because some clients wait for it. */
async function readTaskStatus({ services }: Deps, { viewer, permissions }: Subscriber) {
  if (!permissions.has('TasksRead')) return null
  const stats = await services(openTaskStats)
    .all(taskScope(viewer))
    .catch(() => null)
  if (stats === null) return null
  const active = stats
    .map(({ type, pending, running }) => [type, pending + running] as const)
    .filter(([, count]) => count > 0)
  const count = active.reduce((sum, [, n]) => sum + n, 0)
  const data = { count, countByType: Object.fromEntries(active) }
  return formatKomgaMessage({ name: 'TaskQueueStatus', data })
}
