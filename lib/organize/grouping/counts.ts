// How many members of each collection or read list a restricted account sees: one statement for all, cached for
// all accounts with the same restrictions until the catalog or the members change.
import { LRUCache } from 'lru-cache'
import type { Viewer } from '../../accounts/viewer.ts'
import { createSingleFlight } from '../../base/async/single-flight.ts'
import { listVersion } from '../../list/list-version.ts'
import type { Queryable, Sql } from '../../store/postgres/db.ts'
import { unprepared } from '../../store/postgres/statement.ts'
import type { WithServices } from '../../store/services.ts'
import { type Grouping, tablesOf } from './grouping.ts'

/** Visible members by grouping id, for hand-picked groupings in which the viewer sees any. */
export type VisibleCounts = ReadonlyMap<string, number>

type Known = { version: string; counts: VisibleCounts }

// A grouping takes about 150 bytes; there are at most 10,000 of each kind.
const maxCounts = 100_000
/** The counts cached by a process. */
const createCache = (pool: Sql) => ({
  pool,
  known: new LRUCache<string, Known>({
    maxSize: maxCounts,
    sizeCalculation: ({ counts }) => counts.size + 1,
  }),
  flight: createSingleFlight<VisibleCounts>(),
})

/** Current as of the call or later. Collections with a rule have no members. */
export async function visibleCounts(
  db: WithServices,
  viewer: Viewer,
  grouping: Grouping,
): Promise<VisibleCounts> {
  const { cache, key, version, counts } = await lookUp(db, viewer, grouping)
  if (counts) return counts
  // On the pool: one client that disconnects would cancel the statement for all.
  return await cache.flight(`${version} ${key}`, async () => {
    const found = await countVisible(cache.pool, viewer, grouping)
    cache.known.set(key, found)
    return found.counts
  })
}

/** Null unless cached: counting one grouping is faster than counting all. */
export async function knownCounts(
  db: WithServices,
  viewer: Viewer,
  grouping: Grouping,
): Promise<VisibleCounts | null> {
  return (await lookUp(db, viewer, grouping)).counts
}

async function lookUp({ sql, services }: WithServices, viewer: Viewer, grouping: Grouping) {
  const cache = services(createCache)
  const key = `${grouping.table} ${restrictionsOf(viewer)}`
  const [row] = await sql<{ version: string }[]>`select ${versionOf(sql)} as version`
  const { version } = row!
  const known = cache.known.get(key)
  return { cache, key, version, counts: known?.version === version ? known.counts : null }
}

/** A consistent snapshot: the counts and the version they belong to. */
async function countVisible(sql: Sql, viewer: Viewer, grouping: Grouping): Promise<Known> {
  const { m, owner } = tablesOf(sql, grouping)
  const [row] = await unprepared(sql<{ version: string; ids: string[]; counts: number[] }[]>`
    select ${versionOf(sql)} as version, coalesce(array_agg(n.id), '{}') as ids,
      coalesce(array_agg(n.count), '{}') as counts
    from (
      select m.${owner} as id, count(*)::integer as count from ${m} m
      where ${grouping.isShown(sql, viewer)}
      group by 1) n`)
  const { version, ids, counts } = row!
  return { version, counts: new Map(ids.map((id, i) => [id, counts[i]!])) }
}

const versionOf = (sql: Queryable) =>
  sql`(${listVersion(sql)} || ' ' || ${listVersion(sql, 'grouping')})`

/** Equal for accounts that see the same series and books. */
function restrictionsOf(viewer: Viewer): string {
  const { libraries, allowedTags, deniedTags, ageLimit, showsUnrated } = viewer
  const sorted = [libraries?.toSorted(), allowedTags.toSorted(), deniedTags.toSorted()]
  return JSON.stringify([...sorted, ageLimit, showsUnrated])
}
