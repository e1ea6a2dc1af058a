// Event renderer: pages of rows as SSE bytes for a subscriber. Subscribers share visibility lookups and
// rendered blocks.
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import { isLimited, type Viewer } from '../../accounts/viewer.ts'
import {
  canReceive,
  lookUpVisibleIds,
  messageFor,
  needsLookup,
  type Subscriber,
  type VisibleIds,
  visibleEventsOf,
} from './audience.ts'
import type { EventRow } from './event-rows.ts'
import { formatEvents } from './sse-format.ts'

/** Blocks of a row: how many there are, and the id of the last one. */
export type Rendered = { bytes: Buffer; count: number; last: number }
type RenderRequest = { subscriber: Subscriber; unnamed: boolean; position: number }
export type Renderer = (
  rows: readonly EventRow[],
  request: RenderRequest,
) => Promise<Generator<Rendered, void, void>>

const defaultCacheBytes = 48 * 1024 * 1024
// How long a visibility result may be reused for subscribers with the same limits.
const visibilityTtlMs = 5_000

/** The renderer yields what follows `position`, row by row as the result is consumed. */
export function createRenderer(
  sql: Sql,
  { formatEvents: write = formatEvents, maxCacheBytes = defaultCacheBytes } = {},
): Renderer {
  const blocks = new LRUCache<string, Buffer>({
    maxSize: maxCacheBytes,
    sizeCalculation: bytes => bytes.length + 100,
  })
  const lookups = new LRUCache<string, Promise<VisibleIds>>({ max: 100, ttl: visibilityTtlMs })

  function lookUp(rows: readonly EventRow[], subscriber: Subscriber, limits: string) {
    const unknown = rows.filter(row => canReceive(row, subscriber) && needsLookup(row, subscriber))
    if (unknown.length === 0) return Promise.resolve(new Set<string>())
    const key = `${unknown.map(row => row.number)} ${limits}`
    const cached = lookups.get(key)
    if (cached) return cached
    const lookup = lookUpVisibleIds(sql, unknown, subscriber.viewer)
    lookups.set(key, lookup)
    lookup.catch(() => lookups.delete(key))
    return lookup
  }

  function format(
    row: EventRow,
    indexes: readonly number[] | undefined,
    { unnamed, limits }: CacheScope,
  ): Buffer {
    const isShared = !indexes && !row.audience?.limited
    const key = `${row.number} ${unnamed} ${isShared ? '' : limits}`
    const cached = blocks.get(key)
    if (cached) return cached
    const bytes = write(row, { unnamed }, indexes)
    // The content of a row never changes, but the visibility of its events may.
    blocks.set(key, bytes, indexes ? { ttl: visibilityTtlMs } : {})
    return bytes
  }

  function* render(
    rows: readonly EventRow[],
    { subscriber, position }: RenderRequest,
    scope: CacheScope & { visibleIds: VisibleIds },
  ) {
    for (const fullRow of rows) {
      if (!canReceive(fullRow, subscriber)) continue
      const row = messageFor(fullRow, subscriber)
      const visible = visibleEventsOf(row, subscriber, scope.visibleIds)
      if (visible === 'none') continue
      const firstId = row.number - row.count + 1
      if (firstId <= position) {
        const all = visible === 'all' ? [...Array(row.count).keys()] : visible
        const rest = all.filter(index => firstId + index > position)
        if (rest.length > 0)
          yield {
            bytes: write(row, scope, rest),
            count: rest.length,
            last: firstId + rest.at(-1)!,
          }
      } else if (visible === 'all') {
        yield { bytes: format(row, undefined, scope), count: row.count, last: row.number }
      } else {
        const last = firstId + visible.at(-1)!
        yield { bytes: format(row, visible, scope), count: visible.length, last }
      }
    }
  }

  return async (rows, request) => {
    const { subscriber, unnamed } = request
    const limits = isLimited(subscriber.viewer) ? limitsKey(subscriber.viewer) : ''
    const visibleIds = await lookUp(rows, subscriber, limits)
    return render(rows, request, { unnamed, limits, visibleIds })
  }
}

type CacheScope = { unnamed: boolean; limits: string }

/** Equal for accounts with equal limits. */
function limitsKey({ allowedTags, deniedTags, ageLimit, showsUnrated }: Viewer): string {
  return JSON.stringify([[...allowedTags].sort(), [...deniedTags].sort(), ageLimit, showsUnrated])
}
