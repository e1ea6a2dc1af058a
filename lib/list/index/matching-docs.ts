// The rows of a list as a bitmap: of the predicates of its condition and of what the viewer sees.
import { createHash } from 'node:crypto'
import type { Condition, Predicate } from '../condition.ts'
import { ownerOf } from '../list-version.ts'
import {
  type Bitmap,
  emptyBitmap,
  fullBitmap,
  intersect,
  invert,
  type Packed,
  pack,
  resize,
  unite,
  unpack,
} from './bitmap.ts'
import { type Context, type Entry, isOf, isOfSame, ownVersion } from './index-state.ts'
import { knownOrders } from './known-orders.ts'
import type { PredicateRows, RowRequest, RowTable } from './row-kind.ts'

/** A condition with more predicates that are not in memory is tested row by row. */
const maxNewPredicates = 24

/** A new bitmap. Null with too many new predicates. */
export async function matchingRows<Table extends RowTable, Request extends RowRequest>(
  context: Context<Table, Request>,
  request: Request,
): Promise<Bitmap | 'changed' | null> {
  const { table } = context
  const visible = visibleRows(context, request)
  const condition = context.kind.conditionOf(request)
  if (!condition) return visible
  const withMissing = request.includeDeleted ?? false
  const bitmaps = await bitmapsOf(context, condition, withMissing)
  if (!bitmaps || bitmaps === 'changed') return bitmaps
  return intersect(evaluate(condition, bitmaps, table.rowCount), visible)
}

const keyOf = ({ field, test }: Predicate) => JSON.stringify([field, test])

function predicatesByKey(condition: Condition, found = new Map<string, Predicate>()) {
  if ('all' in condition) for (const part of condition.all) predicatesByKey(part, found)
  else if ('any' in condition) for (const part of condition.any) predicatesByKey(part, found)
  else found.set(keyOf(condition), condition)
  return found
}

/** The rows of the predicates, by key. Null with too many that are not in memory. */
async function bitmapsOf<Table extends RowTable, Request extends RowRequest>(
  context: Context<Table, Request>,
  condition: Condition,
  withMissing: boolean,
): Promise<Map<string, Packed> | 'changed' | null> {
  const { viewer, kind, versions, table, state } = context
  const found = new Map<string, Packed>()
  const needed: (Needed & { key: string })[] = []
  for (const [key, predicate] of predicatesByKey(condition)) {
    const version = kind.versionOfField(predicate.field, viewer)
    const name = hashOf([key, ownerOf(version, viewer)])
    const known = state.bitmaps.get(name)
    const isValid = known && known.version === ownVersion(versions, version)
    const isWhole = isValid && known.rowCount >= table.rowCount
    if (isWhole && (known.coversMissing || !withMissing)) found.set(key, known)
    else needed.push({ key, name, predicate, withMissing, known: isValid ? known : null })
  }
  if (needed.length > maxNewPredicates) return null
  let isCurrent = true
  const left = needed.values()
  const readNext = async () => {
    for (const { key, ...one } of left) {
      const read = isCurrent ? await readNeeded(context, one) : null
      if (!read?.isCurrent) isCurrent = false
      else found.set(key, read.packed)
    }
  }
  // As many statements as a request may send at once (lib/http/limits/list-gate.ts).
  await Promise.all([readNext(), readNext()])
  return isCurrent ? found : 'changed'
}

type Needed = {
  name: string
  predicate: Predicate
  withMissing: boolean
  /** What is in memory of it. */
  known: Entry | null
}

/** Reads the rows of a predicate, or those that what is in memory does not have. */
async function readNeeded<Table extends RowTable, Request extends RowRequest>(
  context: Context<Table, Request>,
  { name, predicate, withMissing, known }: Needed,
): Promise<{ packed: Packed; isCurrent: boolean }> {
  const { sql, viewer, kind, versions, table, state } = context
  const version = kind.versionOfField(predicate.field, viewer)
  const store = (
    bitmap: Bitmap,
    { versions: read, coversMissing, isFromMemory }: Omit<PredicateRows, 'bitmap'>,
  ) => {
    const packed = pack(bitmap)
    const isCurrent = !read || isOf(read, versions, version)
    // What a statement reads of a later version holds for the rows that did not change; those that did get other numbers.
    const isLater = kind.followChanges && !isFromMemory && read && isOfSame(read, versions, version)
    if (version && (isCurrent || isLater))
      state.bitmaps.set(name, {
        ...packed,
        ...{ version: ownVersion(versions, version), rowCount: table.rowCount, coversMissing },
      })
    return { packed, isCurrent }
  }
  let present: Bitmap | null = null
  if (known) {
    const { rowCount: first, coversMissing } = known
    const bitmap = resize(unpack(known, first), first, table.rowCount)
    const isWhole = first >= table.rowCount
    const added = isWhole
      ? { versions: null }
      : await kind.extendPredicate?.(sql, viewer, { table, predicate, bitmap, first })
    if (added) {
      const isDone = coversMissing || !withMissing
      const stored = store(bitmap, { ...added, coversMissing })
      if (isDone || !stored.isCurrent) return stored
      present = bitmap
    }
  }
  const { bitmap, ...read } = await kind.readPredicate(sql, viewer, {
    ...{ table, predicate, withMissing, present, known: knownOrders(context) },
  })
  return store(bitmap, read)
}

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
  { viewer, kind, table, state: { bitmaps } }: Context<Table, Request>,
  request: Request,
): Bitmap {
  const { libraries, allowedTags, deniedTags, ageLimit, showsUnrated } = viewer
  const sees = [libraries?.toSorted(), allowedTags.toSorted(), deniedTags.toSorted()]
  const name = hashOf(['visible', ...sees, ageLimit, showsUnrated, kind.scopeOf(request)])
  const known = bitmaps.get(name)
  const { version, rowCount } = table
  if (known?.version === version) return unpack(known, rowCount)
  const bitmap = kind.visible(table, viewer, request)
  bitmaps.set(name, { ...pack(bitmap), version, rowCount, coversMissing: true })
  return bitmap
}

const hashOf = (parts: unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64')
