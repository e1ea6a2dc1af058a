// Cache of what was read from the whole catalog: one value for each name and for all accounts that see the same, valid for
// one version of the catalog.

import { LRUCache } from 'lru-cache'
import type { Fragment } from 'postgres'
import {
  fromBooksBeyondAge,
  hidesBooks,
  isUnrestricted,
  unseenSeries,
  type Viewer,
  visibleSeries,
} from '../accounts/viewer.ts'
import { createSingleFlight } from '../base/async/single-flight.ts'
import type { Queryable } from '../store/postgres/db.ts'
import { listVersion } from './list-version.ts'

type Entry = {
  version: string
  /** Digest of what was hidden from the viewers; null if the value must be of the current version. */
  hidden: string | null
  value: unknown
  texts: readonly string[]
  /** Until then an older version may be returned. */
  freshUntil: number
}

const maxBytes = 48 * 1024 ** 2
const maxUnusedMs = 15 * 60_000
/** While the catalog changes all the time, reading takes at most 5 % of a processor. */
const defaultPause = 20
const defaultMinPausedMs = 250

/** `pause`: as a multiple of the time that reading took, if that was at least `minPausedMs`. */
type Pauses = { pause?: number; minPausedMs?: number }

export type CatalogReading<T> = {
  name: string
  read: () => Promise<T>
  /** What takes most of the memory. */
  textsOf: (value: T) => readonly string[]
  /**
   * While the catalog changes, the value may be of an older version, unless something was hidden since. Concurrent requests
   * share one reading, which must not end with one of them.
   */
  mayBeOld: boolean
}

export function createCatalogCache({
  pause = defaultPause,
  minPausedMs = defaultMinPausedMs,
}: Pauses = {}) {
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ texts }) => texts.reduce((sum, { length }) => sum + 2 * length + 40, 100),
    ...{ ttl: maxUnusedMs, updateAgeOnGet: true, ttlAutopurge: true },
  })
  const flight = createSingleFlight<unknown>()
  return async <T>(
    sql: Queryable,
    viewer: Viewer,
    { name, read, textsOf, mayBeOld }: CatalogReading<T>,
  ): Promise<T> => {
    const { accountId: _, ...sees } = viewer
    const key = JSON.stringify([sees, name])
    // Read before the value: if the catalog changes meanwhile, the value is read again.
    const [row] = await sql<{ version: string }[]>`
      select concat_ws(' ', ${listVersion(sql, 'book')}, ${listVersion(sql, 'series')},
        ${listVersion(sql, 'label')}) as version`
    const { version } = row!
    const entry = entries.get(key)
    if (entry?.version === version) return entry.value as T
    const hidden = mayBeOld ? await digestOfHidden(sql, viewer) : null
    const isFresh = entry && performance.now() < entry.freshUntil
    if (mayBeOld && isFresh && entry.hidden === hidden) return entry.value as T
    const readNow = async () => {
      const started = performance.now()
      const value = await read()
      const ms = performance.now() - started
      const freshUntil = ms < minPausedMs ? 0 : performance.now() + pause * ms
      entries.set(key, { version, hidden, value, texts: textsOf(value), freshUntil })
      return value
    }
    return (await (mayBeOld ? flight(`${version} ${key}`, readNow) : readNow())) as T
  }
}

/** The cache of a process. */
export const catalogCache = () => createCatalogCache()

/** Differs as soon as another series or book is hidden from the viewer. */
async function digestOfHidden(sql: Queryable, viewer: Viewer): Promise<string> {
  if (isUnrestricted(viewer)) return ''
  const digest = (ids: Fragment) => sql`(
    select count(*) || ' ' || coalesce(bit_xor(uuid_hash_extended(id, 0)), 0) from (${ids}) i)`
  const books = sql`select y.id ${fromBooksBeyondAge(sql, viewer)}`
  const [row] = await sql<{ hidden: string }[]>`
    select concat_ws(' ', ${digest(unseenSeries(sql, visibleSeries(sql, viewer)))},
      ${hidesBooks(viewer) ? digest(books) : sql`null`}) as hidden`
  return row!.hidden
}
