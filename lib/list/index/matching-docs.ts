// The documents of a list as a bitmap: the postings of the predicates of its condition, and what the viewer sees.
import { createHash } from 'node:crypto'
import { type Condition, type Predicate, predicatesOf } from '../condition.ts'
import { ownerOf } from '../list-version.ts'
import {
  type Bitmap,
  emptyBitmap,
  fullBitmap,
  intersect,
  invert,
  type Postings,
  pack,
  resize,
  unite,
  unpack,
} from './bitmap.ts'
import {
  type CachedPostings,
  cachedOrders,
  dependencyVersion,
  reflects,
  reflectsDependency,
  type Searcher,
} from './index-reader.ts'
import type { IndexRequest, LoadedPostings, Segment } from './index-schema.ts'

/** A condition with more predicates that are not in memory is tested by the statement. */
const maxNewPredicates = 24

/** A new bitmap. Null with too many new predicates. */
export async function matchingDocs<S extends Segment, Request extends IndexRequest>(
  searcher: Searcher<S, Request>,
  request: Request,
): Promise<Bitmap | 'changed' | null> {
  const { segment } = searcher
  const visible = visibleDocs(searcher, request)
  const condition = searcher.schema.conditionOf(request)
  if (!condition) return visible
  const withMissing = request.includeDeleted ?? false
  const postings = await postingsOf(searcher, condition, withMissing)
  if (!postings || postings === 'changed') return postings
  return intersect(evaluate(condition, postings, segment.maxDoc), visible)
}

const keyOf = ({ field, test }: Predicate) => JSON.stringify([field, test])

/** The documents of the predicates, by key. Null with too many that are not in memory. */
async function postingsOf<S extends Segment, Request extends IndexRequest>(
  searcher: Searcher<S, Request>,
  condition: Condition,
  withMissing: boolean,
): Promise<Map<string, Postings> | 'changed' | null> {
  const { viewer, schema, versions, segment, reader } = searcher
  const found = new Map<string, Postings>()
  const needed: (Needed & { key: string })[] = []
  const predicates = new Map(predicatesOf(condition).map(one => [keyOf(one), one]))
  for (const [key, predicate] of predicates) {
    const version = schema.versionOfField(predicate.field, viewer)
    const name = hashOf([key, ownerOf(version, viewer)])
    const known = reader.postings.get(name)
    const isValid = known && known.version === dependencyVersion(versions, version)
    const isWhole = isValid && known.maxDoc >= segment.maxDoc
    if (isWhole && (known.coversMissing || !withMissing)) found.set(key, known)
    else needed.push({ key, name, predicate, withMissing, known: isValid ? known : null })
  }
  if (needed.length > maxNewPredicates) return null
  let isCurrent = true
  const left = needed.values()
  const readNext = async () => {
    for (const { key, ...one } of left) {
      const read = isCurrent ? await readNeeded(searcher, one) : null
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
  known: CachedPostings | null
}

/** Reads the documents of a predicate, or those that what is in memory does not have. */
async function readNeeded<S extends Segment, Request extends IndexRequest>(
  searcher: Searcher<S, Request>,
  { name, predicate, withMissing, known }: Needed,
): Promise<{ packed: Postings; isCurrent: boolean }> {
  const { sql, viewer, schema, versions, segment, reader } = searcher
  const version = schema.versionOfField(predicate.field, viewer)
  const store = (
    bitmap: Bitmap,
    { versions: read, coversMissing, isFromMemory }: Omit<LoadedPostings, 'bitmap'>,
  ) => {
    const packed = pack(bitmap)
    const isCurrent = !read || reflects(read, versions, version)
    // What a statement reads of a later version holds for the documents that did not change; those that did get other numbers.
    const isLater =
      schema.refreshSegment && !isFromMemory && read && reflectsDependency(read, versions, version)
    if (version && (isCurrent || isLater))
      reader.postings.set(name, {
        ...packed,
        ...{ version: dependencyVersion(versions, version), maxDoc: segment.maxDoc, coversMissing },
      })
    return { packed, isCurrent }
  }
  let present: Bitmap | null = null
  if (known) {
    const { maxDoc: first, coversMissing } = known
    const bitmap = resize(unpack(known, first), first, segment.maxDoc)
    const isWhole = first >= segment.maxDoc
    const added = isWhole
      ? { versions: null }
      : await schema.refreshPostings?.(sql, viewer, { segment, predicate, bitmap, first })
    if (added) {
      const isDone = coversMissing || !withMissing
      const stored = store(bitmap, { ...added, coversMissing })
      if (isDone || !stored.isCurrent) return stored
      present = bitmap
    }
  }
  const { bitmap, ...read } = await schema.loadPostings(sql, viewer, {
    ...{ segment, predicate, withMissing, present, known: cachedOrders(searcher) },
  })
  return store(bitmap, read)
}

/** A new bitmap. */
function evaluate(condition: Condition, postings: Map<string, Postings>, size: number): Bitmap {
  if ('all' in condition)
    return condition.all.reduce(
      (all, part) => intersect(all, evaluate(part, postings, size)),
      fullBitmap(size),
    )
  if ('any' in condition)
    return condition.any.reduce(
      (any, part) => unite(any, evaluate(part, postings, size)),
      emptyBitmap(size),
    )
  const bitmap = unpack(postings.get(keyOf(condition))!, size)
  return condition.negated ? invert(bitmap) : bitmap
}

/** A new bitmap. */
function visibleDocs<S extends Segment, Request extends IndexRequest>(
  { viewer, schema, segment, reader: { postings } }: Searcher<S, Request>,
  request: Request,
): Bitmap {
  const { libraries, allowedTags, deniedTags, ageLimit, showsUnrated } = viewer
  const sees = [libraries?.toSorted(), allowedTags.toSorted(), deniedTags.toSorted()]
  const name = hashOf(['visible', ...sees, ageLimit, showsUnrated, schema.scopeOf(request)])
  const known = postings.get(name)
  const { version, maxDoc } = segment
  if (known?.version === version) return unpack(known, maxDoc)
  const bitmap = schema.visibleDocs(segment, viewer, request)
  postings.set(name, { ...pack(bitmap), version, maxDoc, coversMissing: true })
  return bitmap
}

const hashOf = (parts: unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64')
