// Lists of names (people, publishers, genres, tags), each with its number of series.
import type { Viewer } from '../../accounts/viewer.ts'
import { searchKey } from '../../media/name/text.ts'
import type { Queryable, Sql } from '../../store/postgres/db.ts'
import type { Services, WithServices } from '../../store/services.ts'
import { catalogCache } from '../catalog-cache.ts'
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

type NameOrder = NonNullable<NameListRequest['sort']>
type Names = { rows: NameRow[]; ordered: (sort: NameOrder, direction: Direction) => NameRow[] }

function createNames(pool: Sql, services: Services) {
  const cached = services(catalogCache)
  const { inTurn } = services(lists)
  return {
    namesOf: (sql: Queryable, viewer: Viewer, source: NameSource) =>
      cached<Names>(sql, viewer, {
        name: `names ${JSON.stringify(source)}`,
        read: async () => withOrders(await inTurn(() => readNames(pool, viewer, source))),
        textsOf: ({ rows }) => rows.flatMap(({ key, value }) => [key, value]),
        mayBeOld: true,
      }),
    rolesOf: (sql: Queryable, viewer: Viewer) =>
      cached(sql, viewer, {
        name: 'roles',
        read: () => inTurn(() => readRoles(pool, viewer)),
        textsOf: roles => roles,
        mayBeOld: true,
      }),
  }
}

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
