// An open index: the segment with cached sort orders and postings. A searcher sees one version of it and of the catalog.
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import { listVersions, type Versions } from '../list-version.ts'
import { bytesOf, entryBytes, type Postings } from './bitmap.ts'
import type {
  CachedOrder,
  CachedOrders,
  Environment,
  IndexRequest,
  IndexSchema,
  SeenVersions,
  Segment,
  SortField,
} from './index-schema.ts'
import type { SortOrder } from './sort-order.ts'

/** `version` is that of the field or order, null if it is `Versions.rows`. */
type Versioned = { version: string | null }
type OrderEntry<S> = CachedOrder & Versioned & { field: SortField<S> }
/** Covers the docs below `maxDoc`. */
export type CachedPostings = Postings & Versioned & { maxDoc: number; coversMissing: boolean }
export type IndexReader<S> = {
  /** Replaced by the segment that follows from it. */
  segment: S
  refreshing: Promise<boolean> | null
  orders: LRUCache<string, OrderEntry<S>>
  postings: LRUCache<string, CachedPostings>
}

/** The segment has 24 bytes for each document; an order has 4. */
const maxOrderBytes = 64 * 1024 ** 2
export const maxOrders = 32
const maxBitmapBytes = 16 * 1024 ** 2
const maxBitmaps = 1_000

export const openReader = <S extends Segment>(segment: S): IndexReader<S> => ({
  segment,
  refreshing: null,
  orders: new LRUCache({
    maxSize: Math.min(maxOrderBytes, maxOrders * (segment.maxDoc * 4 + entryBytes)),
    sizeCalculation: ({ docs, ids }) => docs.byteLength + (ids?.length ?? 0) + entryBytes,
  }),
  postings: new LRUCache({
    maxSize: Math.min(maxBitmapBytes, maxBitmaps * (segment.maxDoc / 8 + entryBytes)),
    sizeCalculation: entry => bytesOf(entry),
  }),
})

/** The catalog changes while a list is made: it is made of the next version then. */
const maxAttempts = 6

export type OpenIndex<S extends Segment, Request extends IndexRequest> = {
  environment: Environment
  schema: IndexSchema<S, Request>
  reader: IndexReader<S>
}
type Search<S extends Segment, Request extends IndexRequest> = OpenIndex<S, Request> & {
  sql: Sql
  viewer: Viewer
}

/** A point-in-time view: the segment of the reader when the search began, and the versions that it has. */
export type Searcher<S extends Segment, Request extends IndexRequest> = Search<S, Request> & {
  segment: S
  versions: Versions
}

/** No result: the statement makes the list. `stale`: the index must be loaded again. */
type NoResult = 'stale' | null
/** `changed`: the search is repeated with the next version. */
export type Interrupted = NoResult | 'changed'

/** Searches one version of the catalog. */
export async function withSearcher<S extends Segment, Request extends IndexRequest, Found>(
  index: Search<S, Request>,
  find: (context: Searcher<S, Request>) => Promise<Found | Interrupted>,
): Promise<Found | NoResult> {
  const { sql, viewer, schema, reader } = index
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const [row] = await sql<{ versions: Versions }[]>`
      select ${listVersions(sql, viewer, schema.subject)} as versions`
    const { versions } = row!
    const { segment } = reader
    if (versions.rows !== segment.version) {
      if (!(await refreshReader(index))) return 'stale'
      continue
    }
    const found = await find({ ...index, segment, versions })
    // What is in memory may be of the next segment already.
    if (found !== 'changed' && reader.segment === segment) return found
  }
  return null
}

/** Replaces the segment by that of the current version; false if that is to be read. */
export async function refreshReader<S extends Segment, Request extends IndexRequest>({
  environment: { pool, noteFailure },
  schema,
  reader,
}: OpenIndex<S, Request>): Promise<boolean> {
  // For all requests that wait for it.
  const refresh = async () => {
    const next = (await schema.refreshSegment?.(pool, reader.segment)) ?? null
    if (next) reader.segment = next
    return next !== null
  }
  reader.refreshing ??= refresh()
    .catch(error => {
      noteFailure(`${schema.subject} index`, error)
      return false
    })
    .finally(() => {
      reader.refreshing = null
    })
  return await reader.refreshing
}

/** What was loaded has these versions, as far as it depends on them. */
export const reflects = (read: SeenVersions, versions: Versions, version: keyof Versions | null) =>
  read.rows === versions.rows && reflectsDependency(read, versions, version)

export const reflectsDependency = (
  read: SeenVersions,
  versions: Versions,
  version: keyof Versions | null,
) => version === null || version === 'rows' || read[version] === versions[version]

/** As in `Versioned`. */
export const dependencyVersion = (versions: Versions, version: keyof Versions | null) =>
  version === null || version === 'rows' ? null : versions[version]

/** Null without a long order. */
export async function ordersOf<S extends Segment, Request extends IndexRequest>(
  searcher: Searcher<S, Request>,
  fields: SortField<S>[],
): Promise<SortOrder[] | 'changed' | null> {
  const { sql, segment, versions, reader } = searcher
  const found: SortOrder[] = []
  for (const field of fields) {
    const { name, version } = field
    const own = dependencyVersion(versions, version)
    const known = await cachedOrder(searcher, name)
    if (known === 'changed') return 'changed'
    if (known?.version === own) {
      found.push(known)
      continue
    }
    if (field.isLong) return null
    const of = await field.load(sql, segment, cachedOrders(searcher))
    if (!of) return null
    if (!reflects(of.versions, versions, version)) return 'changed'
    const { versions: _, ...order } = of
    if (version !== null)
      reader.orders.set(name, { ...order, maxDoc: segment.maxDoc, version: own, field })
    found.push(order)
  }
  return found
}

export const cachedOrders =
  <S extends Segment, Request extends IndexRequest>(searcher: Searcher<S, Request>): CachedOrders =>
  async name => {
    const known = await cachedOrder(searcher, name)
    return known === 'changed' ? undefined : known
  }

/** With all documents of the segment. */
async function cachedOrder<S extends Segment, Request extends IndexRequest>(
  searcher: Searcher<S, Request>,
  name: string,
): Promise<OrderEntry<S> | 'changed' | undefined> {
  const { sql, segment, reader } = searcher
  const known = reader.orders.get(name)
  if (!known || known.maxDoc >= segment.maxDoc) return known
  const { field, version } = known
  const more = await field.refresh?.(sql, segment, known, cachedOrders(searcher))
  if (!more) return undefined
  const { versions, ...order } = more
  if (versions.rows !== segment.version) return 'changed'
  const extended = { ...order, maxDoc: segment.maxDoc, version, field }
  reader.orders.set(name, extended)
  return extended
}
