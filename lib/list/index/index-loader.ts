// Reads what an index of bitmaps has in memory, in the background: the rows of the catalogue and sort orders of lists that
// take long. Moved to a file when no list has used it for some time.
import { LRUCache } from 'lru-cache'
import type { Viewer } from '../../accounts/viewer.ts'
import { createBackgroundQueue } from '../background-queue.ts'
import { listVersion } from '../list-version.ts'
import { entryBytes } from './bitmap.ts'
import type { Environment } from './environment.ts'
import { followChanges, type IndexState, maxOrders, newState } from './index-state.ts'
import type { OrderSource, RowKind, RowRequest, RowTable } from './row-kind.ts'
import { createStateHolder, type StateHolder } from './state-holder.ts'

export type StateReader<Table extends RowTable, Request extends RowRequest> = Pick<
  StateHolder<Table>,
  'isRead' | 'isUnused'
> & {
  /** For a list: what is in memory, see `StateHolder`. */
  use(): Promise<IndexState<Table> | null>
  /** The state cannot follow the catalogue. */
  drop(state: IndexState<Table>): void
  /** So much was followed that it is to be read again. */
  isWorn(): boolean
  /** Reads what the list needs in the background, unless it is in memory or was read a short time ago. */
  refresh(viewer: Viewer, request: Request): void
  /** Reads all that lists need, ahead of the first one, and stores it until that comes. */
  prepare(viewer: Viewer, request: Request): Promise<void>
  /** Resolves when nothing is being read. */
  idle(): Promise<void>
}

const defaultUnusedMs = 15 * 60_000

/** A reading that failed counts as if it had taken so much longer: it may have failed at once. */
const failedMs = 500

/**
 * `pause`: how long all is not read again, as a multiple of the time that reading it took. `maxUnusedMs`: how long all stays
 * in memory after the last list that used it.
 */
export function createStateReader<Table extends RowTable, Request extends RowRequest>(
  kind: RowKind<Table, Request>,
  environment: Environment,
  { pause, maxUnusedMs = defaultUnusedMs }: { pause: number; maxUnusedMs?: number | undefined },
): StateReader<Table, Request> {
  const pauses = createPauses(pause)
  const usedOrders = createUsedOrders<Table>(pause)
  const waiting = new Set<string>()
  const what = `${kind.subject} index`
  const queue = createBackgroundQueue(error => environment.noteFailure(what, error))
  const holder = createStateHolder<Table>({
    environment,
    what,
    maxUnusedMs,
    queue,
    idle: kind.idle,
  })
  const { current } = holder

  const isDue = () => pauses.isOver(current() !== null)
  const isWorn = () => isWornState(kind, current())
  const isDueOrder = ({ name }: OrderSource<Table>) =>
    !current()?.orders.has(name) || usedOrders.isDue(name)

  async function read(viewer: Viewer, request: Request): Promise<void> {
    let state = await holder.use('reading')
    if (state && !(await isCurrent({ environment, kind, state }))) {
      state = null
      holder.replace(null)
    }
    const isNew = (!state || isWorn()) && isDue()
    const isRenewal = state !== null
    const started = performance.now()
    let next = state
    if (isNew) {
      const table = await kind.readTable(environment.pool).catch(error => {
        pauses.after(performance.now() - started + failedMs)
        throw error
      })
      next = table && newState(table)
      // One that is worn serves until all else is read.
      state = current() ?? next
      holder.replace(state)
    }
    const sources = longSources(kind, viewer, { request, table: state?.table ?? null })
    for (const source of sources) usedOrders.add(source)
    const needed = isNew ? usedOrders.all() : sources.filter(isDueOrder)
    for (const source of next ? needed : [])
      await usedOrders.timed(source, () => readOrder({ environment, kind, state: next! }, source))
    if (!isNew) return
    const steps = stepsAhead({ environment, kind, state: next })
    await take(steps, () => isRenewal && current() !== null)
    holder.replace(next)
    pauses.after(performance.now() - started)
    readAhead(next, steps)
  }

  /** One step at a time: what lists wait for is read in between. */
  function readAhead(of: IndexState<Table> | null, steps: Steps): void {
    void queue.add(async () => {
      const step = of === current() ? steps.next().value : undefined
      if (!step) return
      const began = performance.now()
      await step()
      pauses.afterMore(performance.now() - began)
      readAhead(of, steps)
    })
  }

  function refresh(viewer: Viewer, request: Request): void {
    const known = current()
    const sources = longSources(kind, viewer, { request, table: known?.table ?? null })
    const name = sources.map(source => source.name).join(' ')
    const isKnown =
      known && sources.every(source => isUsable(known, source.name) || !isDueOrder(source))
    const isNeeded = known ? !isKnown || (isWorn() && isDue()) : isDue()
    if (waiting.has(name) || !isNeeded) return
    waiting.add(name)
    void queue.add(() => read(viewer, request)).then(() => void waiting.delete(name))
  }

  return {
    ...{ isRead: holder.isRead, isUnused: holder.isUnused },
    use: () => holder.use('list'),
    drop(dropped) {
      if (current() === dropped) holder.replace(null)
    },
    isWorn,
    refresh,
    async prepare(viewer, request) {
      refresh(viewer, request)
      await queue.idle()
      await holder.restIfUnused()
    },
    idle: () => queue.idle(),
  }
}

const isWornState = <Table extends RowTable, Request extends RowRequest>(
  kind: RowKind<Table, Request>,
  state: IndexState<Table> | null,
) => state !== null && (kind.isWorn?.(state.table) ?? false)

function longSources<Table extends RowTable, Request extends RowRequest>(
  kind: RowKind<Table, Request>,
  viewer: Viewer,
  { request, table }: { request: Request; table: Table | null },
): OrderSource<Table>[] {
  const ofCondition = kind.ordersOfCondition?.(request) ?? []
  return [...kind.orderOf(viewer, request, table).sources, ...ofCondition].filter(
    ({ isLong }) => isLong,
  )
}

/** How long the table is not read again. */
function createPauses(pause: number) {
  /** When it may be read if there is none, and if there is one that is worn. */
  let [nextRead, nextRenewal] = [0, 0]
  return {
    isOver: (hasTable: boolean) => performance.now() >= (hasTable ? nextRenewal : nextRead),
    after(ms: number) {
      nextRead = performance.now() + pause * ms
      nextRenewal = nextRead
    },
    /** What was read ahead. */
    afterMore(ms: number) {
      nextRenewal += pause * ms
    },
  }
}

/** Orders that lists have used last, and when each may be read again. */
function createUsedOrders<Table>(pause: number) {
  const used = new LRUCache<string, { source: OrderSource<Table>; nextRead: number }>({
    max: maxOrders,
  })
  const add = (source: OrderSource<Table>, nextRead = used.get(source.name)?.nextRead ?? 0) =>
    void used.set(source.name, { source, nextRead })
  return {
    add: (source: OrderSource<Table>) => add(source),
    all: () => [...used.values()].map(({ source }) => source),
    /** It may be read once more. */
    isDue: (name: string) => performance.now() >= (used.peek(name)?.nextRead ?? 0),
    async timed(source: OrderSource<Table>, read: () => Promise<void>): Promise<void> {
      const began = performance.now()
      await read()
      const done = performance.now()
      add(source, done + pause * (done - began))
    },
  }
}

type Steps = Generator<() => Promise<void>, undefined>

/** What is read ahead of the lists that need it. */
function* stepsAhead<Table extends RowTable, Request extends RowRequest>({
  environment,
  kind,
  state,
}: Omit<Read<Table, Request>, 'state'> & { state: IndexState<Table> | null }): Steps {
  if (!state) return
  for (const needed of kind.readAhead ?? [])
    if (typeof needed === 'function') yield () => needed(environment.pool, state.table)
    else if (hasRoom(state)) yield () => readOrder({ environment, kind, state }, needed)
}

/** Takes steps while they are wanted. */
async function take(steps: Steps, isWanted: () => boolean): Promise<void> {
  while (isWanted()) {
    const step = steps.next().value
    if (!step) break
    await step()
  }
}

type Read<Table extends RowTable, Request extends RowRequest> = {
  environment: Environment
  kind: RowKind<Table, Request>
  state: IndexState<Table>
}

async function isCurrent<Table extends RowTable, Request extends RowRequest>(
  index: Read<Table, Request>,
): Promise<boolean> {
  const { environment, kind, state } = index
  const { pool } = environment
  const [row] = await pool<{ version: string }[]>`
    select ${listVersion(pool, kind.subject)} as version`
  return row!.version === state.table.version || (await followChanges(index))
}

/** For one more order. */
const hasRoom = <Table extends RowTable>({ orders, table }: IndexState<Table>) =>
  orders.calculatedSize + table.rowCount * 4 + entryBytes <= orders.maxSize

/** Rows that an order may be behind: a list adds them. */
const maxBehind = 10_000

/** The order has all rows, or so many that lists add the others. */
function isUsable<Table extends RowTable>({ orders, table }: IndexState<Table>, name: string) {
  const order = orders.get(name)
  return (
    order !== undefined && table.rowCount - order.rowCount <= (order.source.extend ? maxBehind : 0)
  )
}

/** The order with all rows of the table that the state had when it was read. */
async function readOrder<Table extends RowTable, Request extends RowRequest>(
  { environment, kind, state }: Read<Table, Request>,
  source: OrderSource<Table>,
): Promise<void> {
  const { orders, table } = state
  const { name } = source
  if (isUsable(state, name)) return
  const found = await source.read(environment.pool, table, async other => orders.get(other))
  // Others took the place of one that it needs: it is read when a list needs both.
  if (!found) return
  const { versions, ...order } = found
  // Rows that changed meanwhile get other numbers.
  if (!kind.followChanges && versions.rows !== table.version) return
  orders.set(name, { ...order, rowCount: table.rowCount, version: null, source })
}
