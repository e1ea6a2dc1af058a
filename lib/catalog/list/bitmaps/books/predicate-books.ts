// The books for which a predicate holds, as a bitmap: read by one statement from the narrowest index that has them.
import type { Fragment, Sql } from 'postgres'
import { presentBook, type Viewer } from '../../../../auth/viewer.ts'
import { searchKey } from '../../../../name/text.ts'
import { unprepared } from '../../../../postgres/statement.ts'
import type { Predicate, Test } from '../../condition.ts'
import { listVersions, type Versions } from '../../marks/list-version.ts'
import { bookPredicate } from '../../plan/book-predicates.ts'
import { chooseHitSet } from '../../plan/hit-sets.ts'
import { lookUpLabels } from '../../plan/labels.ts'
import { ownBooks } from '../../plan/own-rows.ts'
import type { PlanContext } from '../../plan/plan-context.ts'
import { rowSource } from '../../plan/row-sources.ts'
import { add, type Bitmap, emptyBitmap, invert, subtract, unite } from '../bitmap.ts'
import { forEachPlace, idAt } from '../id-table.ts'
import { idsOf, inParallel } from '../read-ids.ts'
import type { ExtendedRows, PredicateRequest, PredicateRows } from '../row-kind.ts'
import { addedIds, type BookTable, booksOfSeries } from './book-table.ts'
import { maxBehind, readTextsLater, textSearchOf } from './book-texts.ts'
import { knownBooks } from './known-books.ts'

/** Queries whose ids are added up. */
type Rows = {
  books?: Fragment
  /** All others match. */
  isNegated?: boolean
  /** Of series all of whose books match. */
  series?: Fragment
  /** On a missing `book b`; the others are about present books then. */
  missing?: Fragment
  coversMissing: boolean
  /** A long text of each book is read. */
  isCostly?: boolean
}

/** Texts of books are read into memory after a pass of them that took longer. */
const minPassMs = 30

type Request = PredicateRequest<BookTable>

/** The positive form of the predicate, which is one of `toRarePredicate`. */
export async function readPredicateBooks(
  sql: Sql,
  viewer: Viewer,
  request: Request,
): Promise<PredicateRows> {
  const { table, predicate } = request
  const ofIds = testOfIds(table, predicate)
  if (ofIds) return { versions: null, bitmap: booksOfSeries(table, ofIds), coversMissing: true }
  const { hasMissing } = table
  const withMissing = request.withMissing && hasMissing
  const known = request.present ? null : await completeKnown(sql, viewer, request)
  const isChanged = known !== null && known.version !== table.version
  if (known && (isChanged || !withMissing))
    return {
      ...{ versions: isChanged ? { rows: known.version } : null, bitmap: known.bitmap },
      ...{ coversMissing: !hasMissing, isFromMemory: true },
    }
  const present = request.present ?? known?.bitmap ?? null
  const rows = await rowsOf(sql, viewer, { ...request, withMissing, present })
  const missing =
    rows.missing && sql`select b.id from book b where b.missing_at is not null and ${rows.missing}`
  const read = (tx: Sql) =>
    unprepared(tx<({ versions: Versions } & Ids)[]>`
      select ${listVersions(sql, viewer, 'book')} as versions, ${idsOf(sql, rows.books)} as books,
        ${idsOf(sql, rows.series)} as series, ${idsOf(sql, missing)} as missing`)
  const started = performance.now()
  const [row] = await (rows.isCostly ? inParallel(sql, read) : read(sql))
  const text = textSearchOf(predicate)
  if (text && performance.now() - started > minPassMs) readTextsLater(sql, table, text.field)
  const { versions, ...ids } = row!
  return {
    versions,
    bitmap: await bitmapOf(table, { rows, ids, present }),
    coversMissing: rows.coversMissing || !hasMissing,
  }
}

/** What is in memory, with the books that changed since it was read. */
async function completeKnown(
  sql: Sql,
  viewer: Viewer,
  request: Request,
): Promise<{ bitmap: Bitmap; version: string } | null> {
  const { table, predicate } = request
  const known = await knownBooks(sql, request)
  if (!known || known.rowCount >= table.rowCount) return known
  const { bitmap, rowCount: first, version } = known
  const added = await extendPredicateBooks(sql, viewer, { table, predicate, bitmap, first })
  return added && { bitmap, version: added.versions?.rows ?? version }
}

type Ids = Record<'books' | 'series' | 'missing', Buffer | null>

async function bitmapOf(
  table: BookTable,
  { rows, ids, present }: { rows: Rows; ids: Ids; present: Bitmap | null },
): Promise<Bitmap> {
  const { rows: books, series, rowCount } = table
  const bitmap = present ?? emptyBitmap(rowCount)
  await forEachPlace(books, ids.books, book => add(bitmap, book))
  if (rows.isNegated) invert(bitmap)
  if (rows.series) {
    const isIn = new Uint8Array(series.count)
    await forEachPlace(series.ids, ids.series, place => {
      isIn[place] = 1
    })
    unite(
      bitmap,
      booksOfSeries(table, place => isIn[place] === 1),
    )
  }
  if (rows.missing) {
    subtract(bitmap, table.missing)
    await forEachPlace(books, ids.missing, book => add(bitmap, book))
  }
  return bitmap
}

async function rowsOf(
  sql: Sql,
  viewer: Viewer,
  { table, predicate, withMissing, present }: Request,
): Promise<Rows> {
  if (predicate.field === 'readStatus') return readingRows(sql, viewer, predicate.test)
  const own = ownBooks(sql, viewer, predicate)
  if (own) return { books: own, coversMissing: true }
  const labels = await lookUpLabels(sql, { of: 'book', condition: predicate })
  const context = { sql, viewer, labels }
  const { exact } = bookPredicate({ ...context, includesMissing: true, isOfFew: true }, predicate)
  const missing = { coversMissing: withMissing, ...(withMissing ? { missing: exact } : {}) }
  if (present) return missing
  const source = rowSource(sql, viewer, predicate)
  if (source) {
    const set = await chooseHitSet(sql, source, table.presentCount / 2)
    return {
      ...{ ...missing, books: set?.rows ?? source.holds, isNegated: set?.isNegated ?? false },
      isCostly: source.isCostly ?? false,
    }
  }
  const of = bookPredicate(context, predicate)
  const { definite, possible } = of
  if (definite && definite === possible) return { ...missing, series: definite }
  const books = (where: Fragment) => sql`
    select b.id from book b where ${presentBook(sql)} and ${where} and ${of.exact}`
  if (!possible) return { ...missing, books: books(sql`true`) }
  // Looked up by series, of which few are undecided.
  const undecided = definite
    ? sql`select p.id from (${possible} except ${definite}) as p(id)`
    : sql`select distinct p.id from (${possible}) as p(id)`
  return {
    ...missing,
    books: sql`
      select b.id from (${undecided}) as p(id)
      cross join lateral (${books(sql`b.series_id = p.id`)} offset 0) b`,
    ...(definite ? { series: definite } : {}),
  }
}

/** Adds the books from a number on, missing ones, too; null for too many. */
export async function extendPredicateBooks(
  sql: Sql,
  viewer: Viewer,
  { table, predicate, bitmap, first }: ExtendedRows<BookTable>,
): Promise<{ versions: Versions | null } | null> {
  if (table.rowCount - first > maxBehind) return null
  const ids = addedIds(table, first)
  if (ids.length === 0) return { versions: null }
  const labels = await lookUpLabels(sql, { of: 'book', condition: predicate })
  const context = { sql, viewer, labels, includesMissing: true, isOfFew: true }
  const [row] = await unprepared(sql<{ versions: Versions; ids: Buffer | null }[]>`
    select ${listVersions(sql, viewer, 'book')} as versions,
      ${idsOf(sql, sql`select b.id from book b where b.id = any(${ids}::uuid[]) and ${testOf(sql, context, predicate)}`)} as ids`)
  await forEachPlace(table.rows, row!.ids, book => {
    // Not one that has changed again.
    if (book >= first) add(bitmap, book)
  })
  return { versions: row!.versions }
}

function testOf(sql: Sql, context: PlanContext, predicate: Predicate): Fragment {
  if (predicate.field !== 'readStatus') return bookPredicate(context, predicate).exact
  const { viewer } = context
  const { books, isNegated } = readingRows(sql, viewer, predicate.test)
  return sql`
    (select true from (${books!}) as m(id) where m.id = b.id) is ${isNegated ? sql`not true` : sql`true`}`
}

function readingRows(sql: Sql, { accountId }: Viewer, test: Test): Rows {
  const isOpened = sql`p.current_page > 0`
  const isUnread = test.kind === 'status' && test.status === 'unread'
  const holds = {
    read: sql`p.is_completed`,
    in_progress: sql`not p.is_completed and ${isOpened}`,
    unread: sql`(p.is_completed or ${isOpened})`,
  }[test.kind === 'status' ? test.status : 'unread']
  return {
    books: sql`select p.book_id from progress p where p.account_id = ${accountId} and ${holds}`,
    ...{ isNegated: isUnread, coversMissing: true },
  }
}

/** On the places of series, for conditions on ids: no statement is needed. */
function testOfIds(
  { series: { ids, classes, classOf } }: BookTable,
  { field, test }: Predicate,
): ((place: number) => boolean) | null {
  if (field !== 'libraryId' && field !== 'seriesId') return null
  const holds = testOfId(test)
  if (field === 'seriesId') return place => holds(idAt(ids, place))
  const isListed = classes.map(({ libraryId }) => holds(libraryId))
  return place => isListed[classOf[place]!]!
}

function testOfId(test: Test): (id: string) => boolean {
  if (test.kind === 'ids') {
    const ids = new Set(test.ids)
    return id => ids.has(id)
  }
  if (test.kind !== 'text') return () => false
  const key = searchKey(test.value)
  return id => compareText[test.operator](id, key)
}

const compareText = {
  equals: (text: string, key: string) => text === key,
  contains: (text: string, key: string) => text.includes(key),
  beginsWith: (text: string, key: string) => text.startsWith(key),
  endsWith: (text: string, key: string) => text.endsWith(key),
}
