// What an index of bitmaps has in memory, and the versions of the catalogue that it is of: a list is made of one version.
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import { listVersions, type Versions } from '../list-version.ts'
import { bytesOf, entryBytes, type Packed } from './bitmap.ts'
import type { Environment } from './environment.ts'
import type {
  KnownOrder,
  OrderSource,
  ReadVersions,
  RowKind,
  RowRequest,
  RowTable,
} from './row-kind.ts'

/** `version` is that of the field or order, null if it is `Versions.rows`. */
type Versioned = { version: string | null }
export type CachedOrder<Table> = KnownOrder & Versioned & { source: OrderSource<Table> }
/** Of the rows below `rowCount`. */
export type Entry = Packed & Versioned & { rowCount: number; coversMissing: boolean }
export type IndexState<Table> = {
  /** Replaced by the table that follows from it. */
  table: Table
  following: Promise<boolean> | null
  orders: LRUCache<string, CachedOrder<Table>>
  bitmaps: LRUCache<string, Entry>
}

/** The table of an index has 24 bytes for each row; an order has 4. */
const maxOrderBytes = 64 * 1024 ** 2
export const maxOrders = 32
const maxBitmapBytes = 16 * 1024 ** 2
const maxBitmaps = 1_000

export const newState = <Table extends RowTable>(table: Table): IndexState<Table> => ({
  table,
  following: null,
  orders: new LRUCache({
    maxSize: Math.min(maxOrderBytes, maxOrders * (table.rowCount * 4 + entryBytes)),
    sizeCalculation: ({ rows, ids }) => rows.byteLength + (ids?.length ?? 0) + entryBytes,
  }),
  bitmaps: new LRUCache({
    maxSize: Math.min(maxBitmapBytes, maxBitmaps * (table.rowCount / 8 + entryBytes)),
    sizeCalculation: entry => bytesOf(entry),
  }),
})

/** The catalogue changes while a list is made: it is made of the next version then. */
const maxAttempts = 6

export type Index<Table extends RowTable, Request extends RowRequest> = {
  environment: Environment
  sql: Sql
  viewer: Viewer
  kind: RowKind<Table, Request>
  state: IndexState<Table>
}

/** `table`: of the state when the list was begun, of these versions. */
export type Context<Table extends RowTable, Request extends RowRequest> = Index<Table, Request> & {
  table: Table
  versions: Versions
}

/** What the index does not have: the list is to be read by a statement. `stale`: the catalogue has another version. */
export type Unlisted = 'stale' | null
export type Unfinished = Unlisted | 'changed'

/** Finds in the state of one version of the catalogue. */
export async function untilUnchanged<Table extends RowTable, Request extends RowRequest, Found>(
  index: Index<Table, Request>,
  find: (context: Context<Table, Request>) => Promise<Found | Unfinished>,
): Promise<Found | Unlisted> {
  const { state } = index
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const versions = await readVersions(index)
    const { table } = state
    if (versions.rows !== table.version) {
      if (!(await followChanges(index))) return 'stale'
      continue
    }
    const found = await find({ ...index, table, versions })
    // What is in memory may be of the next table already.
    if (found !== 'changed' && state.table === table) return found
  }
  return null
}

/** Replaces the table by that of the current version; false if that is to be read. */
export async function followChanges<Table extends RowTable, Request extends RowRequest>({
  environment: { pool, noteFailure },
  kind,
  state,
}: Pick<Index<Table, Request>, 'environment' | 'kind' | 'state'>): Promise<boolean> {
  // For all requests that wait for it.
  const follow = async () => {
    const next = (await kind.followChanges?.(pool, state.table)) ?? null
    if (next) state.table = next
    return next !== null
  }
  state.following ??= follow()
    .catch(error => {
      noteFailure(`${kind.subject} index`, error)
      return false
    })
    .finally(() => {
      state.following = null
    })
  return await state.following
}

async function readVersions<Table extends RowTable, Request extends RowRequest>({
  sql,
  viewer,
  kind,
}: Index<Table, Request>): Promise<Versions> {
  const [row] = await sql<{ versions: Versions }[]>`
    select ${listVersions(sql, viewer, kind.subject)} as versions`
  return row!.versions
}

/** What was read belongs to the versions, as far as it depends on them. */
export const isOf = (read: ReadVersions, versions: Versions, version: keyof Versions | null) =>
  read.rows === versions.rows && isOfSame(read, versions, version)

export const isOfSame = (read: ReadVersions, versions: Versions, version: keyof Versions | null) =>
  version === null || version === 'rows' || read[version] === versions[version]

/** As in `Versioned`. */
export const ownVersion = (versions: Versions, version: keyof Versions | null) =>
  version === null || version === 'rows' ? null : versions[version]
