// What differs between the indexes of books and of series: how the segment, sort orders and postings are loaded and
// refreshed, and which documents a viewer sees.
import type { Sql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import type { BookFilter, Condition, Predicate, SeriesFilter } from '../condition.ts'
import type { Versions } from '../list-version.ts'
import type { PageWindow } from '../sort.ts'
import type { Bitmap } from './bitmap.ts'
import type { IdTable } from './id-table.ts'
import type { Run, SortOrder } from './sort-order.ts'
import type { TemporaryFile } from './temporary-file.ts'

/** All documents, numbered as documents. */
export type Segment = {
  /** `Versions.rows`. */
  version: string
  /** The same object for a segment and those that it is refreshed to: they have the same numbers for the same documents. */
  origin: object
  ids: IdTable
  /** The next document number; with those that are deleted (`IdTable`). */
  maxDoc: number
}

export type IndexRequest = {
  filter: BookFilter | SeriesFilter | null
  /** Also missing documents. */
  includeDeleted?: boolean | undefined
  offset: number
  limit: number
}

/** Versions that the reading statement saw, as far as its result depends on them. */
export type SeenVersions = Pick<Versions, 'rows'> & Partial<Versions>

export type LoadedOrder = SortOrder & { versions: SeenVersions }

export type SortField<S> = {
  /** The same for the same documents in the same order. */
  name: string
  /** Null: it is read for each list. */
  version: keyof Versions | null
  /** Too long for a request: it is read in the background. */
  isLong: boolean
  /** `known`: orders in memory. Null without one that it needs, which is among the fields of its list. */
  load(sql: Sql, segment: S, known: CachedOrders): Promise<LoadedOrder | null>
  /** With the documents of the segment that it does not have; null if they are too many. */
  refresh?(
    sql: Sql,
    segment: S,
    order: CachedOrder,
    known: CachedOrders,
  ): Promise<LoadedOrder | null>
}

/** `maxDoc`: it has the documents below. */
export type CachedOrder = SortOrder & { maxDoc: number }
/** Orders in memory, with all documents of the segment. */
export type CachedOrders = (name: string) => Promise<SortOrder | undefined>

/** How a list is ordered: what must be in memory, and its documents in order. */
type Sort<S> = {
  fields: SortField<S>[]
  /** `orders` of the fields. Null for a list that has none. */
  runs: ((orders: SortOrder[]) => Run[]) | null
  /** A page by statements, while long orders are not in memory; null if something changed, or if it would take long. */
  readPage?: (sql: Sql, segment: S, list: Hits) => Promise<number[] | null>
}

/** `window.total` is the number of documents in the bitmap. */
export type Hits = { bitmap: Bitmap; window: PageWindow }

export type PostingsRequest<S> = {
  segment: S
  /** Its negation is ignored. */
  predicate: Predicate
  /** Missing documents must be decided, too. */
  withMissing: boolean
  /** The documents without missing ones, if they are known; it may be changed. */
  present: Bitmap | null
  known: CachedOrders
}

/** The documents of a predicate, without those from `first` on. */
export type PostingsRefresh<S> = {
  segment: S
  predicate: Predicate
  /** Is changed. */
  bitmap: Bitmap
  first: number
}

export type LoadedPostings = {
  /** Null if they do not matter. */
  versions: SeenVersions | null
  bitmap: Bitmap
  /** Missing documents are decided, too. */
  coversMissing: boolean
  /** Made of what is in memory with the result of a statement: wrong, also for documents that did not change, if that has another version. */
  isFromMemory?: boolean
}

export type IndexSchema<S extends Segment, Request extends IndexRequest> = {
  subject: 'book' | 'series'
  /** Null for a catalog that is too large. */
  loadSegment(sql: Sql): Promise<S | null>
  /** The segment with what changed since; null where it is to be read. */
  refreshSegment?: (sql: Sql, segment: S) => Promise<S | null>
  /** So many documents changed that the segment is better loaded again. */
  needsMerge?: (segment: S) => boolean
  sortOf(viewer: Viewer, request: Request, segment: S | null): Sort<S>
  /** Orders, as many as there is memory for, and what else is read of a segment: ahead of the lists that need it. */
  warmUp?: (SortField<S> | ((sql: Sql, segment: S) => Promise<void>))[]
  /** Resolves when nothing is being read in the background for a segment. */
  idle?: () => Promise<void>
  /** Orders that predicates of the list are read from if they are in memory. */
  sortFieldsOf?: (request: Request) => SortField<S>[]
  /** The condition of a list; null for all documents. */
  conditionOf(request: Request): Condition | null
  /** Which version the values of a field belong to; null for none. */
  versionOfField(field: string, viewer: Viewer): keyof Versions | null
  /** The positive form of a predicate. */
  loadPostings(sql: Sql, viewer: Viewer, request: PostingsRequest<S>): Promise<LoadedPostings>
  /** Adds the documents from `first` on, which the bitmap does not have; null if they are too many. */
  refreshPostings?: (
    sql: Sql,
    viewer: Viewer,
    request: PostingsRefresh<S>,
  ) => Promise<{ versions: SeenVersions | null } | null>
  /** What documents the list is about beside its condition; the same JSON for the same ones. */
  scopeOf(request: Request): object
  /** The documents of the scope that the viewer sees. */
  visibleDocs(segment: S, viewer: Viewer, request: Request): Bitmap
}

/** What an index works with beside the requests that it serves. */
export type Environment = {
  /** For what serves several requests: its statements are not cancelled with one of them. */
  pool: Sql
  /** Limit for the indexes of books and series together; a catalog that needs more has none. */
  maxBytes: number
  /** Null without a folder that has space. Throws errno errors. */
  createFile(): Promise<TemporaryFile | null>
  /** `what` could not be loaded; lists are made without it. */
  noteFailure(what: string, error: unknown): void
}

export type BackgroundQueue = {
  /** After a failure lists are as slow as they are without what was to be read. Never rejects. */
  add(read: () => Promise<void>): Promise<void>
  /** Resolves when nothing is being read. */
  idle(): Promise<void>
}

export function createBackgroundQueue(noteFailure: (error: unknown) => void): BackgroundQueue {
  let last: Promise<void> = Promise.resolve()
  return {
    add(read) {
      last = last.then(read).catch(noteFailure)
      return last
    },
    async idle() {
      for (let awaited: unknown; awaited !== last; ) {
        awaited = last
        await last
      }
    },
  }
}
