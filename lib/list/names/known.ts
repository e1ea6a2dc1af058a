// What was read of a whole catalog, in memory for one version of it and all accounts that see the same of it.
import { LRUCache } from 'lru-cache'
import type { Viewer } from '../../accounts/viewer.ts'
import { createSingleFlight } from '../../base/async/single-flight.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { listVersion } from '../list-version.ts'
import { readHidden } from './name-statement.ts'

type Known<T> = {
  version: string
  /** What was hidden from the viewers (`readHidden`). */
  hidden: string
  value: T
  /** When it may be read again although the catalog changes all the time. */
  nextRead: number
}

const maxBytes = 48 * 1024 ** 2
const maxUnusedMs = 15 * 60_000
/** At most 5 % of a processor, while a catalog changes all the time. */
const defaultPause = 20
const defaultMinPausedMs = 250

/** `pause`: as a multiple of the time that reading took. */
type Pauses = { pause?: number; minPausedMs?: number }
type Reading<T> = { name: string; read: () => Promise<T> }

/**
 * `textsOf`: what takes most of the memory. What takes at least `minPausedMs` to read is not read again at once after each
 * change, unless something of it may have been hidden.
 */
export function createKnown<T>(
  textsOf: (value: T) => readonly string[],
  { pause = defaultPause, minPausedMs = defaultMinPausedMs }: Pauses = {},
) {
  const known = new LRUCache<string, Known<T>>({
    maxSize: maxBytes,
    sizeCalculation: ({ value }) =>
      textsOf(value).reduce((sum, { length }) => sum + 2 * length + 40, 100),
    ...{ ttl: maxUnusedMs, updateAgeOnGet: true, ttlAutopurge: true },
  })
  const flight = createSingleFlight<T>()
  return async (sql: Queryable, viewer: Viewer, { name, read }: Reading<T>): Promise<T> => {
    const { accountId: _, ...sees } = viewer
    const key = JSON.stringify([sees, name])
    // Before what is read: if it changes meanwhile, it is read again.
    const [row] = await sql<{ version: string }[]>`
      select concat_ws(' ', ${listVersion(sql, 'book')}, ${listVersion(sql, 'series')},
        ${listVersion(sql, 'label')}) as version`
    const { version } = row!
    const remembered = known.get(key)
    if (remembered?.version === version) return remembered.value
    const hidden = await readHidden(sql, viewer)
    const isRecent = remembered && performance.now() < remembered.nextRead
    // Nothing of it was hidden since.
    if (isRecent && remembered.hidden === hidden) return remembered.value
    return await flight(`${version} ${key}`, async () => {
      const started = performance.now()
      const value = await read()
      const ms = performance.now() - started
      const nextRead = ms < minPausedMs ? 0 : performance.now() + pause * ms
      known.set(key, { version, hidden, value, nextRead })
      return value
    })
  }
}
