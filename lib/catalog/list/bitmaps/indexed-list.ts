// A filtered list from bitmaps in memory: of the predicates of its condition and of what the viewer sees.
import { createHash } from 'node:crypto'
import type { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import type { Viewer } from '../../../auth/viewer.ts'
import type { Condition, Predicate } from '../condition.ts'
import { listVersions, ownerOf, type Versions } from '../marks/list-version.ts'
import type { IdPage } from '../page.ts'
import {
  type Bitmap,
  countOf,
  emptyBitmap,
  fullBitmap,
  intersect,
  invert,
  type Packed,
  pack,
  unite,
  unpack,
} from './bitmap.ts'
import { idAt } from './id-table.ts'
import type { OrderSource, ReadVersions, RowKind, RowRequest, RowTable } from './row-kind.ts'
import { pageOfRuns, type RowOrder } from './row-order.ts'

/** `version` is that of the field or order, null if it is `Versions.rows`. */
type Versioned = { version: string | null }
export type KnownOrder = RowOrder & Versioned
export type Entry = Packed & Versioned & { coversMissing: boolean }
export type IndexState<Table> = {
  table: Table
  orders: LRUCache<string, KnownOrder>
  bitmaps: LRUCache<string, Entry>
}

/** A condition with more predicates that are not in memory is tested row by row. */
const maxNewPredicates = 24

type Context<Table extends RowTable, Request extends RowRequest> = {
  sql: Sql
  viewer: Viewer
  kind: RowKind<Table, Request>
  state: IndexState<Table>
}

/** What the index does not have: the list is to be read by a plan. `stale`: the catalogue has another version. */
export type Unlisted = 'stale' | null

/** Null without an order in memory, or where the index does not pay. */
export async function readPage<Table extends RowTable, Request extends RowRequest>(
  context: Context<Table, Request>,
  request: Request,
): Promise<IdPage | Unlisted> {
  const { sql, viewer, kind, state } = context
  const { sources, runs, read } = kind.orderOf(viewer, request, state.table)
  const isInMemory = sources.every(({ name, isLong }) => !isLong || state.orders.has(name))
  if (!isInMemory && !read) return null
  const versions = await readVersions(context)
  if (versions.rows !== state.table.version) return 'stale'
  const orders = isInMemory ? await ordersOf(context, sources, versions) : []
  const rows = orders && (await matchingRows(context, request, versions))
  if (!rows) return null
  const total = countOf(rows)
  const window = { offset: request.offset, limit: request.limit, total }
  const page =
    runs && isInMemory
      ? pageOfRuns(runs(orders), rows, window)
      : await read?.(sql, state.table, { bitmap: rows, window })
  return page ? { total, ids: page.map(row => idAt(state.table.rows, row)) } : null
}

/** All rows of a list. */
export async function readRows<Table extends RowTable, Request extends RowRequest>(
  context: Context<Table, Request>,
  request: Request,
): Promise<Bitmap | Unlisted> {
  const versions = await readVersions(context)
  if (versions.rows !== context.state.table.version) return 'stale'
  return await matchingRows(context, request, versions)
}

async function readVersions<Table extends RowTable, Request extends RowRequest>({
  sql,
  viewer,
  kind,
}: Context<Table, Request>): Promise<Versions> {
  const [row] = await sql<{ versions: Versions }[]>`
    select ${listVersions(sql, viewer, kind.subject)} as versions`
  return row!.versions
}

/** What was read belongs to the versions, as far as it depends on them. */
const isOf = (read: ReadVersions, versions: Versions, version: keyof Versions | null) =>
  read.rows === versions.rows && (version === null || read[version] === versions[version])

/** Null if something changed meanwhile. */
async function ordersOf<Table extends RowTable, Request extends RowRequest>(
  { sql, state: { table, orders } }: Context<Table, Request>,
  sources: OrderSource<Table>[],
  versions: Versions,
): Promise<RowOrder[] | null> {
  const found: RowOrder[] = []
  for (const { name, version, read } of sources) {
    const own = version === null || version === 'rows' ? null : versions[version]
    const known = orders.get(name)
    if (known?.version === own) {
      found.push(known)
      continue
    }
    const of = await read(sql, table, other => orders.get(other))
    if (!of || !isOf(of.versions, versions, version)) return null
    const { versions: _, ...order } = of
    if (version !== null) orders.set(name, { ...order, version: own })
    found.push(order)
  }
  return found
}

/** A new bitmap. Null if something changed meanwhile, or with too many new predicates. */
async function matchingRows<Table extends RowTable, Request extends RowRequest>(
  context: Context<Table, Request>,
  request: Request,
  versions: Versions,
): Promise<Bitmap | null> {
  const { table } = context.state
  const visible = visibleRows(context, request)
  const condition = context.kind.conditionOf(request)
  if (!condition) return visible
  const bitmaps = await bitmapsOf(context, {
    ...{ condition, versions },
    withMissing: request.includeDeleted ?? false,
  })
  return bitmaps && intersect(evaluate(condition, bitmaps, table.rowCount), visible)
}

const keyOf = ({ field, test }: Predicate) => JSON.stringify([field, test])

function predicatesByKey(condition: Condition, found = new Map<string, Predicate>()) {
  if ('all' in condition) for (const part of condition.all) predicatesByKey(part, found)
  else if ('any' in condition) for (const part of condition.any) predicatesByKey(part, found)
  else found.set(keyOf(condition), condition)
  return found
}

type Resolved = { condition: Condition; versions: Versions; withMissing: boolean }

/** The rows of the predicates, by key. Null if something changed meanwhile, or with too many. */
async function bitmapsOf<Table extends RowTable, Request extends RowRequest>(
  { sql, viewer, kind, state: { table, orders, bitmaps } }: Context<Table, Request>,
  { condition, versions, withMissing }: Resolved,
): Promise<Map<string, Packed> | null> {
  const found = new Map<string, Packed>()
  const needed: { key: string; name: string; predicate: Predicate; present: Bitmap | null }[] = []
  for (const [key, predicate] of predicatesByKey(condition)) {
    const version = kind.versionOfField(predicate.field)
    const name = hashOf([key, ownerOf(version, viewer)])
    const known = bitmaps.get(name)
    const isValid = known && known.version === ownVersion(versions, version)
    if (isValid && (known.coversMissing || !withMissing)) found.set(key, known)
    else
      needed.push({
        key,
        name,
        predicate,
        present: isValid ? unpack(known, table.rowCount) : null,
      })
  }
  if (needed.length > maxNewPredicates) return null
  let isCurrent = true
  const left = needed.values()
  const readNext = async () => {
    for (const { key, name, predicate, present } of left) {
      const { versions: read, ...rows } = await kind.readPredicate(sql, viewer, {
        ...{ table, predicate, withMissing, present },
        known: name => orders.get(name),
      })
      const version = kind.versionOfField(predicate.field)
      if (read && !isOf(read, versions, version)) isCurrent = false
      if (!isCurrent) return
      const packed = pack(rows.bitmap)
      found.set(key, packed)
      const { coversMissing } = rows
      if (version)
        bitmaps.set(name, { ...packed, version: ownVersion(versions, version), coversMissing })
    }
  }
  // As many statements as a request may send at once (lib/http/list-gate.ts).
  await Promise.all([readNext(), readNext()])
  return isCurrent ? found : null
}

/** As in `Versioned`. */
const ownVersion = (versions: Versions, version: keyof Versions | null) =>
  version === null || version === 'rows' ? null : versions[version]

/** A new bitmap. */
function evaluate(condition: Condition, bitmaps: Map<string, Packed>, size: number): Bitmap {
  if ('all' in condition)
    return condition.all.reduce(
      (all, part) => intersect(all, evaluate(part, bitmaps, size)),
      fullBitmap(size),
    )
  if ('any' in condition)
    return condition.any.reduce(
      (any, part) => unite(any, evaluate(part, bitmaps, size)),
      emptyBitmap(size),
    )
  const bitmap = unpack(bitmaps.get(keyOf(condition))!, size)
  return condition.negated ? invert(bitmap) : bitmap
}

/** A new bitmap. */
function visibleRows<Table extends RowTable, Request extends RowRequest>(
  { viewer, kind, state: { table, bitmaps } }: Context<Table, Request>,
  request: Request,
): Bitmap {
  const { libraries, allowedTags, deniedTags, ageLimit, showsUnrated } = viewer
  const sees = [libraries?.toSorted(), allowedTags.toSorted(), deniedTags.toSorted()]
  const name = hashOf(['visible', ...sees, ageLimit, showsUnrated, kind.scopeOf(request)])
  const known = bitmaps.get(name)
  if (known) return unpack(known, table.rowCount)
  const bitmap = kind.visible(table, viewer, request)
  bitmaps.set(name, { ...pack(bitmap), version: null, coversMissing: true })
  return bitmap
}

const hashOf = (parts: unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64')
