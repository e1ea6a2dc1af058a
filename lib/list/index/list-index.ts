// Filtered lists from bitmaps in memory: the rows of each predicate are read once, in any order and for any
// viewer, and combined for each request. The total is the number of bits; a page is found along the order.
// The index is made in the background at the start, by the first list, and by lists that take long. It follows the catalogue: of
// what changed, the rows that changed are read. Where it cannot, lists are read by plans until it is made again.
import type { Sql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import type { IdPage } from '../page.ts'
import type { Bitmap } from './bitmap.ts'
import type { Environment } from './environment.ts'
import type { IndexState, Unlisted } from './index-state.ts'
import { readPage, readRows } from './indexed-list.ts'
import type { RowKind, RowRequest, RowTable } from './row-kind.ts'
import { createStateReader, type StateReader } from './state-reader.ts'

export type RowIndex<Table extends RowTable, Request extends RowRequest> = Pick<
  StateReader<Table, Request>,
  'refresh' | 'prepare' | 'isRead' | 'isUnused' | 'idle'
> & {
  /** A page of the rows that a viewer sees; null without a valid index, or where it does not pay. */
  page(sql: Sql, viewer: Viewer, request: Request): Promise<IdPage | null>
  /** All rows of the list, in a bitmap of its own; null as above. */
  matching(
    sql: Sql,
    viewer: Viewer,
    request: Request,
  ): Promise<{ table: Table; rows: Bitmap } | null>
}

export type IndexOptions = {
  /** Of readings in the background, as a multiple of the time that they took. */
  pause?: number
  /** How long the index stays in memory after the last list. */
  maxUnusedMs?: number
}

/** At most 5 % of a processor, while a catalogue changes all the time. */
const defaultPause = 20

export function createRowIndex<Table extends RowTable, Request extends RowRequest>(
  kind: RowKind<Table, Request>,
  environment: Environment,
  { pause = defaultPause, maxUnusedMs }: IndexOptions = {},
): RowIndex<Table, Request> {
  const reader = createStateReader(kind, environment, { pause, maxUnusedMs })
  const { refresh, prepare, isRead, isUnused, idle } = reader

  async function list<Found>(
    find: (state: IndexState<Table>) => Promise<Found | Unlisted>,
  ): Promise<Found | null> {
    const state = await reader.use()
    if (!state) return null
    const found = await find(state)
    if (found === 'stale') {
      reader.drop(state)
      return null
    }
    return found as Found | null
  }

  return {
    async page(sql, viewer, request) {
      const started = performance.now()
      const page = await list(state => readPage({ environment, sql, viewer, kind, state }, request))
      if (page && (performance.now() - started > minReadMs || reader.isWorn()))
        refresh(viewer, request)
      return page
    },
    matching: async (sql, viewer, request) =>
      await list(state => readRows({ environment, sql, viewer, kind, state }, request)),
    refresh,
    prepare,
    isRead,
    isUnused,
    idle,
  }
}

type Fallback<Found> = {
  /** Without the index. */
  read(): Promise<Found>
  /** The catalogue is so large that an index pays. */
  isLarge(): Promise<boolean>
  /** The first list of all: the next ones may be long. */
  isFirst: boolean
  refresh(): void
}

/** Lists that take less time need no index. */
const minReadMs = 30

/** What the index found; else what is read without it, which refreshes the index if it is the first or takes long. */
export async function orRead<Found>(
  indexed: Found | null,
  { read, isLarge, isFirst, refresh }: Fallback<Found>,
): Promise<Found> {
  if (indexed) return indexed
  const started = performance.now()
  const found = await read()
  const isLong = performance.now() - started > minReadMs
  if ((isLong || isFirst) && (await isLarge())) refresh()
  return found
}
