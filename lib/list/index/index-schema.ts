// What an index of bitmaps needs from a kind of rows, books or series: the rows and who sees them, sort orders, and the
// rows of each predicate. All of it is of one version of the catalogue.
import type { Sql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import type { BookFilter, Condition, Predicate, SeriesFilter } from '../condition.ts'
import type { Versions } from '../list-version.ts'
import type { PageWindow } from '../page.ts'
import type { Bitmap } from './bitmap.ts'
import type { IdTable } from './id-table.ts'
import type { RowOrder, Run } from './row-order.ts'

/** All rows, numbered. */
export type RowTable = {
  /** `Versions.rows`. */
  version: string
  /** The same object for all tables that follow from one: they have the same numbers for the same rows. */
  origin: object
  rows: IdTable
  /** With those that are retired (`IdTable`). */
  rowCount: number
}

export type RowRequest = {
  filter: BookFilter | SeriesFilter | null
  /** Also missing rows. */
  includeDeleted?: boolean | undefined
  offset: number
  limit: number
}

/** Of the statement that read something, as far as it depends on them. */
export type ReadVersions = Pick<Versions, 'rows'> & Partial<Versions>

export type ReadOrder = RowOrder & { versions: ReadVersions }

export type OrderSource<Table> = {
  /** The same for the same rows in the same order. */
  name: string
  /** Null: it is read for each list. */
  version: keyof Versions | null
  /** Too long for a request: it is read in the background. */
  isLong: boolean
  /** `known`: orders in memory. Null without one that it needs, which is among the sources of its list. */
  read(sql: Sql, table: Table, known: KnownOrders): Promise<ReadOrder | null>
  /** With the rows of the table that it does not have; null if they are too many. */
  extend?(sql: Sql, table: Table, order: KnownOrder, known: KnownOrders): Promise<ReadOrder | null>
}

/** `rowCount`: it has the rows below. */
export type KnownOrder = RowOrder & { rowCount: number }
/** Orders in memory, with all rows of the table. */
export type KnownOrders = (name: string) => Promise<RowOrder | undefined>

/** How a list is ordered: what must be in memory, and its rows in order. */
export type ListOrder<Table> = {
  sources: OrderSource<Table>[]
  /** `orders` of the sources. Null for a list that has none. */
  runs: ((orders: RowOrder[]) => Run[]) | null
  /** A page by statements, while long orders are not in memory; null if something changed, or if it would take long. */
  read?: (sql: Sql, table: Table, list: ListedRows) => Promise<number[] | null>
}

/** `window.total` is the number of rows in the bitmap. */
export type ListedRows = { bitmap: Bitmap; window: PageWindow }

export type PredicateRequest<Table> = {
  table: Table
  /** Its negation is ignored. */
  predicate: Predicate
  /** Missing rows must be decided, too. */
  withMissing: boolean
  /** The rows without missing ones, if they are known; it may be changed. */
  present: Bitmap | null
  known: KnownOrders
}

/** The rows of a predicate, without those from `first` on. */
export type ExtendedRows<Table> = {
  table: Table
  predicate: Predicate
  /** Is changed. */
  bitmap: Bitmap
  first: number
}

export type PredicateRows = {
  /** Null if they do not matter. */
  versions: ReadVersions | null
  bitmap: Bitmap
  /** Missing rows are decided, too. */
  coversMissing: boolean
  /** Made of what is in memory with the result of a statement: wrong, also for rows that did not change, if that has another version. */
  isFromMemory?: boolean
}

export type RowKind<Table extends RowTable, Request extends RowRequest> = {
  subject: 'book' | 'series'
  /** Null for a catalogue that is too large. */
  readTable(sql: Sql): Promise<Table | null>
  /** The table with what changed since; null where it is to be read. */
  followChanges?: (sql: Sql, table: Table) => Promise<Table | null>
  /** So much was followed that the table is better read again. */
  isWorn?: (table: Table) => boolean
  orderOf(viewer: Viewer, request: Request, table: Table | null): ListOrder<Table>
  /** Orders, as many as there is memory for, and what else is read of a table: ahead of the lists that need it. */
  readAhead?: (OrderSource<Table> | ((sql: Sql, table: Table) => Promise<void>))[]
  /** Resolves when nothing is being read in the background for a table. */
  idle?: () => Promise<void>
  /** Orders that predicates of the list are read from if they are in memory. */
  ordersOfCondition?: (request: Request) => OrderSource<Table>[]
  /** Of predicates for which few rows hold; null for all rows. */
  conditionOf(request: Request): Condition | null
  /** Which version the values of a field belong to; null for none. */
  versionOfField(field: string, viewer: Viewer): keyof Versions | null
  /** The positive form of a predicate. */
  readPredicate(sql: Sql, viewer: Viewer, request: PredicateRequest<Table>): Promise<PredicateRows>
  /** Adds the rows from `first` on, which the bitmap does not have; null if they are too many. */
  extendPredicate?: (
    sql: Sql,
    viewer: Viewer,
    request: ExtendedRows<Table>,
  ) => Promise<{ versions: ReadVersions | null } | null>
  /** What rows the list is about beside its condition; the same JSON for the same ones. */
  scopeOf(request: Request): object
  /** The rows of the scope that the viewer sees. */
  visible(table: Table, viewer: Viewer, request: Request): Bitmap
}
