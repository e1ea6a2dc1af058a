// Postings of a predicate on books: from what is in memory (ranges of sort orders, texts), else loaded by one
// statement from the narrowest index that has them.
import type { Fragment, Sql } from 'postgres'
import { presentBook, type Viewer } from '../../../accounts/viewer.ts'
import { parseSearchQuery } from '../../../media/name/search-text.ts'
import { searchKey } from '../../../media/name/text.ts'
import { unprepared } from '../../../store/postgres/statement.ts'
import type { Predicate, Test } from '../../condition.ts'
import { listVersions, type Versions } from '../../list-version.ts'
import { bookMatch, booksWhere } from '../../sql/book-fields.ts'
import { textOperators } from '../../sql/operators.ts'
import {
  add,
  type Bitmap,
  emptyBitmap,
  fullBitmap,
  invert,
  resize,
  subtract,
  unite,
} from '../bitmap.ts'
import { forEachOrdinal, idAt, idsOf, inParallel } from '../id-table.ts'
import type { LoadedPostings, PostingsRefresh, PostingsRequest } from '../index-schema.ts'
import { booksInRange, orderOfComparison } from './book-order.ts'
import { addedIds, type BookSegment, booksOfSeries, type KnownBooks } from './book-segment.ts'
import { booksOfText, type FoundBooks, maxBehind, searchTexts, textSearchOf } from './book-texts.ts'
import { relevanceName } from './relevance-order.ts'

/** Queries whose ids are added up. */
type Rows = {
  books?: Fragment
  /** Series all of whose books match. */
  series?: Fragment
  /** All others match. */
  isNegated?: boolean
  /** On a missing `book b`; the others are about present books then. */
  missing?: Fragment
  coversMissing: boolean
  /** A long text of each book is read. */
  isCostly?: boolean
}

/** Texts of books are read into memory after a pass of them that took longer. */
const minPassMs = 30

type Request = PostingsRequest<BookSegment>

/** The positive form of the predicate. */
export async function loadBookPostings(
  sql: Sql,
  viewer: Viewer,
  request: Request,
): Promise<LoadedPostings> {
  const { segment, predicate } = request
  const ofIds = testOfIds(segment, predicate)
  if (ofIds) return { versions: null, bitmap: booksOfSeries(segment, ofIds), coversMissing: true }
  const { hasMissing } = segment
  const withMissing = request.withMissing && hasMissing
  const known = request.present ? null : await completeKnown(sql, viewer, request)
  const isChanged = known !== null && known.version !== segment.version
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
  if (text && performance.now() - started > minPassMs)
    segment.origin.textReader.readLater(segment, text.field)
  const { versions, ...ids } = row!
  return {
    versions,
    bitmap: await bitmapOf(segment, { rows, ids, present }),
    coversMissing: rows.coversMissing || !hasMissing,
  }
}

/** What is in memory, with the books that changed since it was read. */
async function completeKnown(
  sql: Sql,
  viewer: Viewer,
  request: Request,
): Promise<{ bitmap: Bitmap; version: string } | null> {
  const { segment, predicate } = request
  const known = await booksInMemory(sql, request)
  if (!known || known.maxDoc >= segment.maxDoc) return known
  const { bitmap, maxDoc: first, version } = known
  const added = await refreshBookPostings(sql, viewer, { segment, predicate, bitmap, first })
  return added && { bitmap, version: added.versions?.rows ?? version }
}

type Ids = Record<'books' | 'series' | 'missing', Buffer | null>

async function bitmapOf(
  segment: BookSegment,
  { rows, ids, present }: { rows: Rows; ids: Ids; present: Bitmap | null },
): Promise<Bitmap> {
  const { ids: books, series, maxDoc } = segment
  const bitmap = present ?? emptyBitmap(maxDoc)
  await forEachOrdinal(books, ids.books, book => add(bitmap, book))
  if (rows.series) {
    const isIn = new Uint8Array(series.count)
    await forEachOrdinal(series.ids, ids.series, place => {
      isIn[place] = 1
    })
    unite(
      bitmap,
      booksOfSeries(segment, place => isIn[place] === 1),
    )
  }
  if (rows.isNegated) invert(bitmap)
  if (rows.missing) {
    subtract(bitmap, segment.missing)
    await forEachOrdinal(books, ids.missing, book => add(bitmap, book))
  }
  return bitmap
}

async function rowsOf(
  sql: Sql,
  viewer: Viewer,
  { segment, predicate, withMissing, present }: Request,
): Promise<Rows> {
  const positive = { ...predicate, negated: false }
  const ofMissing = { sql, viewer, includesMissing: true, isOfFew: true }
  const missing = withMissing ? { missing: booksWhere(ofMissing, positive) } : {}
  const common = { ...missing, coversMissing: withMissing }
  if (present) return common
  const { ids, series, test, isNegated = false } = bookMatch({ sql, viewer }, predicate)
  if (!test)
    return {
      ...{ ...common, isNegated, isCostly: longFields.includes(predicate.field) },
      ...(ids && { books: ids }),
      ...(series && { series }),
    }
  const books = (holds: Fragment) =>
    sql`select b.id from book b where ${presentBook(sql)} and ${holds}`
  const isOften = (await estimateRows(sql, books(test))) > segment.presentCount / 2
  return {
    ...common,
    books: isOften ? books(sql`(${test}) is not true`) : books(test),
    isNegated: isNegated !== isOften,
  }
}

const longFields = ['path', 'summary', 'text']

/** How many rows PostgreSQL expects of a query. */
async function estimateRows(sql: Sql, query: Fragment): Promise<number> {
  type Explained = { 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }
  const [row] = await unprepared(sql<Explained[]>`explain (format json) ${query}`)
  return row!['QUERY PLAN'][0].Plan['Plan Rows']
}

/** Adds the books from a number on, missing ones, too; null for too many. */
export async function refreshBookPostings(
  sql: Sql,
  viewer: Viewer,
  { segment, predicate, bitmap, first }: PostingsRefresh<BookSegment>,
): Promise<{ versions: Versions | null } | null> {
  if (segment.maxDoc - first > maxBehind) return null
  const ids = addedIds(segment, first)
  if (ids.length === 0) return { versions: null }
  const context = { sql, viewer, includesMissing: true, isOfFew: true }
  const holds = booksWhere(context, { ...predicate, negated: false })
  const [row] = await unprepared(sql<{ versions: Versions; ids: Buffer | null }[]>`
    select ${listVersions(sql, viewer, 'book')} as versions,
      ${idsOf(sql, sql`select b.id from book b where b.id = any(${ids}::uuid[]) and ${holds}`)} as ids`)
  await forEachOrdinal(segment.ids, row!.ids, book => {
    // Not one that has changed again.
    if (book >= first) add(bitmap, book)
  })
  return { versions: row!.versions }
}

/** On the places of series, for conditions on ids: no statement is needed. */
function testOfIds(
  { series: { ids, classes, classOf } }: BookSegment,
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
  return id => textOperators[test.operator].holds(id, key)
}

/** What is in memory of them; null where they are to be read. */
export async function booksInMemory(
  sql: Sql,
  { segment, predicate, known }: PostingsRequest<BookSegment>,
): Promise<KnownBooks | null> {
  const { version, maxDoc } = segment
  const sort = orderOfComparison(predicate)
  const order = sort && (await known(sort))
  if (order) return { maxDoc, ...(await booksInRange(sql, segment, { predicate, sort, order })) }
  const { test } = predicate
  if (predicate.field === 'text' && test.kind === 'text') {
    const query = parseSearchQuery(test.value)
    const found = query && (await known(relevanceName(query)))
    if (found) return { bitmap: presentOf(segment, found.docs), version, maxDoc }
    const books: number[] = []
    const first = query && (await searchTexts(segment, query, book => books.push(book)))
    return first === null ? null : { bitmap: presentOf(segment, books), version, maxDoc: first }
  }
  const isWithout = predicate.field === 'summary' && test.kind === 'null'
  const search = isWithout ? anySummary : textSearchOf(predicate)
  const books = search && (await booksOfText(segment, search))
  if (!books) return null
  return { ...books, version, ...(isWithout ? { bitmap: othersOf(segment, books) } : {}) }
}

const anySummary = { field: 'summary', operator: 'contains', value: '' } as const

/** Covers the present books below `maxDoc`. */
function othersOf({ maxDoc: size, missing }: BookSegment, { bitmap, maxDoc }: FoundBooks) {
  const all = resize(fullBitmap(maxDoc), maxDoc, size)
  return subtract(subtract(all, bitmap), missing)
}

function presentOf({ maxDoc, missing }: BookSegment, books: Iterable<number>): Bitmap {
  const bitmap = emptyBitmap(maxDoc)
  for (const book of books) add(bitmap, book)
  return subtract(bitmap, missing)
}
