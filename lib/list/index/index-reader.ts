// An open index: the segment with cached sort orders and postings. A searcher sees one version of it and of the catalog.
import { LRUCache } from 'lru-cache'
import type { Sql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import { listVersions, type Versions } from '../list-version.ts'
import { bytesOf, entryBytes, type Postings } from './bitmap.ts'
import type { Environment } from './environment.ts'
import type {
  CachedOrder,
  IndexRequest,
  IndexSchema,
  SeenVersions,
  Segment,
  SortField,
} from './index-schema.ts'

/** `version` is that of the field or order, null if it is `Versions.rows`. */
type Versioned = { version: string | null }
export type OrderEntry<S> = CachedOrder & Versioned & { field: SortField<S> }
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

export type Search<S extends Segment, Request extends IndexRequest> = {
  environment: Environment
  sql: Sql
  viewer: Viewer
  schema: IndexSchema<S, Request>
  reader: IndexReader<S>
}

/** A point-in-time view: the segment of the reader when the search began, and the versions that it has. */
export type Searcher<S extends Segment, Request extends IndexRequest> = Search<S, Request> & {
  segment: S
  versions: Versions
}

/** No result: the statement makes the list. `stale`: the index must be loaded again. */
export type NoResult = 'stale' | null
/** `changed`: the search is repeated with the next version. */
export type Interrupted = NoResult | 'changed'

/** Searches one version of the catalog. */
export async function withSearcher<S extends Segment, Request extends IndexRequest, Found>(
  index: Search<S, Request>,
  find: (context: Searcher<S, Request>) => Promise<Found | Interrupted>,
): Promise<Found | NoResult> {
  const { reader } = index
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const versions = await readVersions(index)
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
}: Pick<Search<S, Request>, 'environment' | 'schema' | 'reader'>): Promise<boolean> {
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

async function readVersions<S extends Segment, Request extends IndexRequest>({
  sql,
  viewer,
  schema,
}: Search<S, Request>): Promise<Versions> {
  const [row] = await sql<{ versions: Versions }[]>`
    select ${listVersions(sql, viewer, schema.subject)} as versions`
  return row!.versions
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
