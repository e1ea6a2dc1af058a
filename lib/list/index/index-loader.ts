// Loads an index in the background: the segment, and sort orders of lists that take long. Its reader is moved to a file when no
// list has used it for some time.
import { LRUCache } from 'lru-cache'
import type { Viewer } from '../../accounts/viewer.ts'
import { listVersion } from '../list-version.ts'
import { entryBytes } from './bitmap.ts'
import {
  type IndexReader,
  maxOrders,
  type OpenIndex,
  openReader,
  refreshReader,
} from './index-reader.ts'
import {
  createBackgroundQueue,
  type Environment,
  type IndexRequest,
  type IndexSchema,
  type Segment,
  type SortField,
} from './index-schema.ts'
import { createReaderHolder, type ReaderHolder } from './reader-holder.ts'

export type IndexLoader<S extends Segment, Request extends IndexRequest> = Pick<
  ReaderHolder<S>,
  'isRead' | 'isUnused'
> & {
  /** For a list: what is in memory, see `ReaderHolder`. */
  use(): Promise<IndexReader<S> | null>
  /** The reader cannot be refreshed. */
  drop(reader: IndexReader<S>): void
  /** So many documents changed that it is to be loaded again. */
  needsMerge(): boolean
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
export function createIndexLoader<S extends Segment, Request extends IndexRequest>(
  schema: IndexSchema<S, Request>,
  environment: Environment,
  { pause, maxUnusedMs = defaultUnusedMs }: { pause: number; maxUnusedMs?: number | undefined },
): IndexLoader<S, Request> {
  const pauses = createPauses(pause)
  const usedOrders = createUsedOrders<S>(pause)
  const waiting = new Set<string>()
  const what = `${schema.subject} index`
  const queue = createBackgroundQueue(error => environment.noteFailure(what, error))
  const holder = createReaderHolder<S>({ environment, what, maxUnusedMs, queue, idle: schema.idle })
  const { current } = holder

  const isDue = () => pauses.isOver(current() !== null)
  const needsMerge = () => {
    const reader = current()
    return reader !== null && (schema.needsMerge?.(reader.segment) ?? false)
  }
  const isDueOrder = ({ name }: SortField<S>) =>
    !current()?.orders.has(name) || usedOrders.isDue(name)

  async function read(viewer: Viewer, request: Request): Promise<void> {
    let reader = await holder.use('reading')
    if (reader && !(await isCurrent({ environment, schema, reader }))) {
      reader = null
      holder.replace(null)
    }
    const isNew = (!reader || needsMerge()) && isDue()
    const isRenewal = reader !== null
    const started = performance.now()
    let next = reader
    if (isNew) {
      const segment = await schema.loadSegment(environment.pool).catch(error => {
        pauses.after(performance.now() - started + failedMs)
        throw error
      })
      next = segment && openReader(segment)
      // One with many changed documents serves until all else is read.
      reader = current() ?? next
      holder.replace(reader)
    }
    const fields = longSources(schema, viewer, { request, segment: reader?.segment ?? null })
    for (const field of fields) usedOrders.add(field)
    const needed = isNew ? usedOrders.all() : fields.filter(isDueOrder)
    for (const field of next ? needed : [])
      await usedOrders.timed(field, () => readOrder({ environment, schema, reader: next! }, field))
    if (!isNew) return
    const steps = stepsAhead({ environment, schema, reader: next })
    await take(steps, () => isRenewal && current() !== null)
    holder.replace(next)
    pauses.after(performance.now() - started)
    readAhead(next, steps)
  }

  /** One step at a time: what lists wait for is read in between. */
  function readAhead(of: IndexReader<S> | null, steps: Steps): void {
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
    const fields = longSources(schema, viewer, { request, segment: known?.segment ?? null })
    const name = fields.map(field => field.name).join(' ')
    const isKnown =
      known && fields.every(field => isUsable(known, field.name) || !isDueOrder(field))
    const isNeeded = known ? !isKnown || (needsMerge() && isDue()) : isDue()
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
    needsMerge,
    refresh,
    async prepare(viewer, request) {
      refresh(viewer, request)
      await queue.idle()
      await holder.restIfUnused()
    },
    idle: () => queue.idle(),
  }
}

function longSources<S extends Segment, Request extends IndexRequest>(
  schema: IndexSchema<S, Request>,
  viewer: Viewer,
  { request, segment }: { request: Request; segment: S | null },
): SortField<S>[] {
  const ofCondition = schema.sortFieldsOf?.(request) ?? []
  return [...schema.sortOf(viewer, request, segment).fields, ...ofCondition].filter(
    ({ isLong }) => isLong,
  )
}

/** How long the segment is not read again. */
function createPauses(pause: number) {
  /** When it may be read if there is none, and if there is one that needs a merge. */
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
function createUsedOrders<S>(pause: number) {
  const used = new LRUCache<string, { field: SortField<S>; nextRead: number }>({
    max: maxOrders,
  })
  const add = (field: SortField<S>, nextRead = used.get(field.name)?.nextRead ?? 0) =>
    void used.set(field.name, { field, nextRead })
  return {
    add: (field: SortField<S>) => add(field),
    all: () => [...used.values()].map(({ field }) => field),
    /** It may be read once more. */
    isDue: (name: string) => performance.now() >= (used.peek(name)?.nextRead ?? 0),
    async timed(field: SortField<S>, read: () => Promise<void>): Promise<void> {
      const began = performance.now()
      await read()
      const done = performance.now()
      add(field, done + pause * (done - began))
    },
  }
}

type Steps = Generator<() => Promise<void>, undefined>

/** What is read ahead of the lists that need it. */
function* stepsAhead<S extends Segment, Request extends IndexRequest>({
  environment,
  schema,
  reader,
}: Omit<OpenIndex<S, Request>, 'reader'> & { reader: IndexReader<S> | null }): Steps {
  if (!reader) return
  for (const needed of schema.warmUp ?? [])
    if (typeof needed === 'function') yield () => needed(environment.pool, reader.segment)
    else if (hasRoom(reader)) yield () => readOrder({ environment, schema, reader }, needed)
}

/** Takes steps while they are wanted. */
async function take(steps: Steps, isWanted: () => boolean): Promise<void> {
  while (isWanted()) {
    const step = steps.next().value
    if (!step) break
    await step()
  }
}

async function isCurrent<S extends Segment, Request extends IndexRequest>(
  index: OpenIndex<S, Request>,
): Promise<boolean> {
  const { environment, schema, reader } = index
  const { pool } = environment
  const [row] = await pool<{ version: string }[]>`
    select ${listVersion(pool, schema.subject)} as version`
  return row!.version === reader.segment.version || (await refreshReader(index))
}

/** For one more order. */
const hasRoom = <S extends Segment>({ orders, segment }: IndexReader<S>) =>
  orders.calculatedSize + segment.maxDoc * 4 + entryBytes <= orders.maxSize

/** Rows that an order may be behind: a list adds them. */
const maxBehind = 10_000

/** The order has all documents, or so many that lists add the others. */
function isUsable<S extends Segment>({ orders, segment }: IndexReader<S>, name: string) {
  const order = orders.get(name)
  return (
    order !== undefined && segment.maxDoc - order.maxDoc <= (order.field.refresh ? maxBehind : 0)
  )
}

/** The order with all documents of the segment that the reader had when it was read. */
async function readOrder<S extends Segment, Request extends IndexRequest>(
  { environment, schema, reader }: OpenIndex<S, Request>,
  field: SortField<S>,
): Promise<void> {
  const { orders, segment } = reader
  const { name } = field
  if (isUsable(reader, name)) return
  const found = await field.load(environment.pool, segment, async other => orders.get(other))
  // Others took the place of one that it needs: it is read when a list needs both.
  if (!found) return
  const { versions, ...order } = found
  // Rows that changed meanwhile get other numbers.
  if (!schema.refreshSegment && versions.rows !== segment.version) return
  orders.set(name, { ...order, maxDoc: segment.maxDoc, version: null, field })
}
