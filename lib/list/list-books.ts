// Lists of books: one page in a sort order, with the exact total: from the index in memory, or by one statement.
import { isUnrestricted, serverViewer, type Viewer } from '../accounts/viewer.ts'
import { parseSearchQuery } from '../media/name/search-text.ts'
import type { Queryable } from '../store/postgres/db.ts'
import type { WithServices } from '../store/services.ts'
import { type Condition, onlyId } from './condition.ts'
import { countOf, membersOf } from './index/bitmap.ts'
import type { BookRequest } from './index/books/book-index.ts'
import { idAt } from './index/id-table.ts'
import { orStatement } from './index/list-index.ts'
import { lists } from './lists.ts'
import type { BookSort, Direction, IdPage } from './sort.ts'
import type { BookScope } from './sql/book-fields.ts'
import type { BookKey } from './sql/book-order.ts'
import { type BookList, readBooks } from './sql/book-statement.ts'
import { searchCondition } from './sql/search.ts'

export type BookListRequest = BookScope & {
  /** Words to search for; empty or null for none. */
  text?: string | null | undefined
  /** The list has at most so many books, the first ones. */
  maxBooks?: number | undefined
  /** Without one by relevance for searches, else by title. */
  sort?: BookSort | undefined
  direction?: Direction | undefined
  /** Instead of `sort`: orders without an index, for which all books of the list are sorted. */
  keys?: readonly BookKey[] | undefined
  /** From 1. */
  page: number
  pageSize: number
}

/** Ids of one page of the books that are visible, and the number on all pages. */
export async function listBooks(
  db: WithServices,
  viewer: Viewer,
  request: BookListRequest,
): Promise<IdPage> {
  const list = listOf(request)
  return list ? await pageOfBooks(db, viewer, list) : { ids: [], total: 0 }
}

/** As listBooks. */
export async function pageOfBooks(
  db: WithServices,
  viewer: Viewer,
  list: BookList,
): Promise<IdPage> {
  const { sql } = db
  const { books: index, inTurn } = db.services(lists)
  const indexed = indexedList(list)
  const read = async () => await readBooks(sql, viewer, list, await knownBooks(db, viewer, list))
  const isFirst = index.isUnused()
  // The first pages of all books follow an index of the database, with a total from counters.
  const isSimple = isFirstOfAll(viewer, list) && (index.isRead() || !isFirst)
  if (isSimple) return await read()
  if (!indexed) return await inTurn(read)
  const page = await orStatement(await index.page(sql, viewer, indexed), {
    ...{ read: () => inTurn(read), isFirst },
    isLarge: async () => (await countPresentBooks(sql)) > minIndexed,
    refresh: () => index.refresh(viewer, indexed),
  })
  return list.maxBooks ? atMost(list.maxBooks, list.offset, page) : page
}

/** The present books that the viewer has progress of, the last read first. */
export const booksWithProgress = {
  sort: 'read',
  direction: 'desc',
  search: null,
  filter: {
    of: 'book',
    condition: { field: 'lastReadAt', test: { kind: 'null' }, negated: true },
  },
} as const satisfies Partial<BookList>

/** Null for a text without letters and digits, which matches nothing; blank text is no search. */
function listOf(request: BookListRequest): BookList | null {
  const { text, sort, direction = 'asc', page, pageSize, filter, seriesId, ...rest } = request
  const search = parseSearchQuery(text ?? '')
  if (!search && text?.trim()) return null
  const conditions: Condition[] = [
    ...(search ? [searchCondition(text!)] : []),
    ...(filter ? [filter.condition] : []),
  ]
  const isOfOne = seriesId ?? (filter && onlyId(filter.condition, 'seriesId'))
  // By number, the books of one series are in reading order.
  const sortWithin = sort === 'number' && isOfOne ? 'series' : sort
  const sortOfAll = sortWithin === 'relevance' ? undefined : sortWithin
  return {
    ...{ ...rest, seriesId, search, direction },
    filter: conditions.length > 0 ? { of: 'book', condition: { all: conditions } } : null,
    sort: search ? (sortWithin ?? 'relevance') : (sortOfAll ?? 'title'),
    offset: (page - 1) * pageSize,
    limit: pageSize,
  }
}

/** The list as the index makes it; null for one that it does not make. */
function indexedList({ seriesId, keys, ...list }: BookList): BookRequest | null {
  if (seriesId) return null
  if (!keys) return list
  const [key, second] = keys
  // The only one of them that is long.
  return second || key?.sort !== 'path'
    ? null
    : { ...list, sort: key.sort, direction: key.direction }
}

const atMost = (max: number, offset: number, { ids, total }: IdPage): IdPage => ({
  ids: ids.slice(0, Math.max(0, max - offset)),
  total: Math.min(total, max),
})

// More ids are longer to send than the statement takes.
const maxKnown = 20_000

/** All ids of a list by other keys, from the index; null without one, or for many books. */
async function knownBooks(
  { sql, services }: WithServices,
  viewer: Viewer,
  list: BookList,
): Promise<string[] | null> {
  const { keys, seriesId, filter, libraryId, includeDeleted } = list
  if (!keys || seriesId) return null
  const order = { sort: 'title', direction: 'asc', offset: 0, limit: 0, search: null } as const
  const scope = { filter, libraryId, includeDeleted }
  const known = await services(lists).books.matching(sql, viewer, { ...order, ...scope })
  if (!known || countOf(known.docs) > maxKnown) return null
  return Array.from(membersOf(known.docs), book => idAt(known.segment.ids, book))
}

// Skipping so many rows of an index costs as much as a page of the index in memory.
const maxSkipped = 5_000

const isFirstOfAll = (viewer: Viewer, list: BookList) =>
  isUnrestricted(viewer) &&
  !list.filter &&
  !list.includeDeleted &&
  list.libraryId === undefined &&
  list.offset <= maxSkipped &&
  list.sort !== 'read' &&
  list.sort !== 'series'

/** Below, a list from the index takes as long as the statement (measured with 1,000 to 20,000 books). */
const minIndexed = 1_000

/** The number of all present books. */
async function countPresentBooks(sql: Queryable): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select coalesce(sum(book_count), 0)::float8 as total from library`
  return row!.total
}

/** Reads what lists of books need, if there are many books (prepare-lists.ts). */
export async function prepareBookLists({ sql, services }: WithServices): Promise<void> {
  if ((await countPresentBooks(sql)) <= minIndexed) return
  const window = { offset: 0, limit: 1 }
  const list = { filter: null, sort: 'title', direction: 'asc', search: null, ...window } as const
  await services(lists).books.prepare(serverViewer, list)
}
