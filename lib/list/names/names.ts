// Lists of names (people, publishers, genres, tags), each with its number of series: in memory for one version of the
// catalog and all accounts that see the same of it.
import { LRUCache } from 'lru-cache'
import { isUnrestricted, type Viewer } from '../../accounts/viewer.ts'
import { createSingleFlight } from '../../base/async/single-flight.ts'
import { searchKey } from '../../media/name/text.ts'
import type { Queryable, Sql } from '../../store/postgres/db.ts'
import type { Services, WithServices } from '../../store/services.ts'
import { listVersion } from '../list-version.ts'
import { lists } from '../lists.ts'
import type { Direction } from '../sort.ts'
import { type NameRow, type NameSource, readNames, readRoles } from './name-statement.ts'

export type NameListRequest = NameSource & {
  /** Part of the names, without regard to case and accents. */
  search?: string | undefined
  sort?: 'name' | 'series' | undefined
  direction?: Direction | undefined
  /** Only names that series have. */
  onlyUsed?: boolean | undefined
  offset: number
  pageSize: number
}

type NameCount = { value: string; count: number }

/** One page of the names, and how many are on all pages. */
export async function listNames(
  db: WithServices,
  viewer: Viewer,
  request: NameListRequest,
): Promise<{ entries: NameCount[]; total: number }> {
  const { of, role, search = '', sort = 'name', direction = 'asc', onlyUsed } = request
  const { offset, pageSize } = request
  const { ordered } = await db.services(createNames).namesOf(db.sql, viewer, { of, role })
  const text = searchKey(search.trim())
  const isWanted = ({ key, count }: NameRow) =>
    (text === '' || key.includes(text)) && (!onlyUsed || count > 0)
  const all = ordered(sort, direction)
  const found = text === '' && !onlyUsed ? all : all.filter(isWanted)
  return { entries: found.slice(offset, offset + pageSize), total: found.length }
}

/** The roles that people of visible series have, in alphabetical order. */
export const listRoles = ({ sql, services }: WithServices, viewer: Viewer): Promise<string[]> =>
  services(createNames).rolesOf(sql, viewer)

type Known<T> = {
  version: string
  value: T
  /** When it may be read again although the catalog changes all the time. */
  nextRead: number
}
type NameOrder = NonNullable<NameListRequest['sort']>
type Names = { rows: NameRow[]; ordered: (sort: NameOrder, direction: Direction) => NameRow[] }

const maxBytes = 48 * 1024 ** 2
const maxUnusedMs = 15 * 60_000
/** At most 5 % of a processor for what takes long, while a catalog changes all the time. */
const pause = 20
const minPausedMs = 250

function createNames(pool: Sql, services: Services) {
  const namesOf = createKnown<Names>(rowsOf)
  const rolesOf = createKnown<string[]>(roles => roles)
  const { inTurn } = services(lists)
  return {
    namesOf: (sql: Queryable, viewer: Viewer, source: NameSource) =>
      namesOf(sql, viewer, {
        name: JSON.stringify(source),
        read: async () => withOrders(await inTurn(() => readNames(pool, viewer, source))),
      }),
    rolesOf: (sql: Queryable, viewer: Viewer) =>
      rolesOf(sql, viewer, { name: 'roles', read: () => inTurn(() => readRoles(pool, viewer)) }),
  }
}

const rowsOf = ({ rows }: Names) => rows.flatMap(({ key, value }) => [key, value])

/** In each order once; names with equal counts are in alphabetical order. */
function withOrders(rows: NameRow[]): Names {
  const orders = new Map([['name asc', rows]])
  return {
    rows,
    ordered(sort, direction) {
      const name = `${sort} ${direction}`
      const known = orders.get(name)
      if (known) return known
      const sign = direction === 'asc' ? 1 : -1
      const order =
        sort === 'name' ? rows.toReversed() : rows.toSorted((a, b) => sign * (a.count - b.count))
      orders.set(name, order)
      return order
    },
  }
}

type Reading<T> = { name: string; read: () => Promise<T> }

/** What was read for a version of the catalog. `textsOf`: what takes most of the memory. */
function createKnown<T>(textsOf: (value: T) => readonly string[]) {
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
    // A viewer from whom something is hidden gets nothing that may be hidden by now.
    const isRecent = remembered && isUnrestricted(viewer) && performance.now() < remembered.nextRead
    if (remembered && (remembered.version === version || isRecent)) return remembered.value
    return await flight(`${version} ${key}`, async () => {
      const started = performance.now()
      const value = await read()
      const ms = performance.now() - started
      const nextRead = ms < minPausedMs ? 0 : performance.now() + pause * ms
      known.set(key, { version, value, nextRead })
      return value
    })
  }
}
