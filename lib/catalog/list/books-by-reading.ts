// Books by when the viewer last read them: first those with progress, along the index of progress, then
// all others by title.
import type { Fragment, Sql } from 'postgres'
import {
  hidesBooks,
  isUnrestricted,
  presentBeyondAge,
  presentBook,
  type Viewer,
  visibleSeries,
} from '../../auth/viewer.ts'
import { allOf, unprepared } from '../../postgres/statement.ts'
import type { Condition } from './condition.ts'
import { type IdPage, idsInOrder, nearestEnd, type PageWindow } from './page.ts'
import { countPresentBooks, isMatching, measurePlan, pageOfMeasured } from './page-books.ts'
import { type BookListFilter, type BookPlan, planBooks } from './plan/book-plan.ts'
import { hasProgress } from './plan/book-tree.ts'
import { bookOrderBy, type Direction } from './sort.ts'

type ListRequest = BookListFilter & { direction: Direction; page: number; pageSize: number }

/** As listBooks. */
export async function listBooksByReading(
  sql: Sql,
  viewer: Viewer,
  request: ListRequest,
): Promise<IdPage> {
  const { filter, direction, page, pageSize: limit } = request
  // The counters of reading are of present books only.
  const { read, unread } =
    filter || request.includeDeleted
      ? await partsOfFiltered(sql, viewer, request)
      : await partsOfVisible(sql, viewer, request)
  const offset = (page - 1) * limit
  const ids = await read.page({ direction, offset, limit, total: read.total })
  const left = limit - ids.length
  if (left > 0 && unread.total > 0) {
    const window = { offset: Math.max(offset - read.total, 0), limit: left, total: unread.total }
    ids.push(...(await unread.page({ direction, ...window })))
  }
  return { ids, total: read.total + unread.total }
}

/** One of the two parts of the list. */
type Part = {
  total: number
  page: (window: PageWindow & { direction: Direction }) => Promise<string[]>
}
type Parts = { read: Part; unread: Part }

async function partsOfFiltered(sql: Sql, viewer: Viewer, request: ListRequest): Promise<Parts> {
  const planWith = (condition: Condition) => {
    const all = [...(request.filter ? [request.filter.condition] : []), condition]
    const filter = { of: 'book' as const, condition: { all } }
    return planBooks(sql, viewer, { ...request, filter })
  }
  const readPlan = await planWith(hasProgress)
  const unreadPlan = await planWith({ ...hasProgress, negated: false })
  const readSize = await measurePlan(sql, readPlan)
  // Only in series with progress books have been tested for it.
  const size = await measurePlan(sql, await planBooks(sql, viewer, request))
  const unreadSize = {
    total: size.total - readSize.total,
    missing: size.missing - readSize.missing,
    candidates: size.candidates,
    hits: 0,
  }
  return {
    read: {
      total: readSize.total,
      page: window => walkProgress(sql, viewer, { ...window, plan: readPlan }),
    },
    unread: {
      total: unreadSize.total,
      page: window =>
        pageOfMeasured(
          sql,
          { plan: unreadPlan, size: unreadSize },
          { ...window, sort: 'title', direction: 'asc' },
        ),
    },
  }
}

/** Without a condition the number of books with progress is that of the stored counters, less the hidden ones. */
async function partsOfVisible(sql: Sql, viewer: Viewer, request: ListRequest): Promise<Parts> {
  const { libraryId, seriesId } = request
  const isEverything = !libraryId && !seriesId && isUnrestricted(viewer)
  const plan = isEverything
    ? null
    : await planBooks(sql, viewer, { filter: null, libraryId, seriesId })
  const isListed = allOf(sql, [
    visibleSeries(sql, viewer),
    ...(libraryId ? [sql`s.library_id = ${libraryId}`] : []),
    ...(seriesId ? [sql`s.id = ${seriesId}`] : []),
  ])
  const hidden = sql`
    select count(*) from book y join series s on s.id = y.series_id
    where ${presentBeyondAge(sql, viewer, 'y')} and ${isListed}
      and (select true from progress p
        where p.account_id = ${viewer.accountId} and p.book_id = y.id)`
  const [row] = await unprepared(sql<{ total: number }[]>`
    select (coalesce(sum(r.read_count + r.started_count), 0)
      - ${hidesBooks(viewer) ? sql`(${hidden})` : sql`0`})::float8 as total
    from series_reading r join series s on s.id = r.series_id
    where r.account_id = ${viewer.accountId} and ${isListed}`)
  const all = plan ? (await measurePlan(sql, plan)).total : await countPresentBooks(sql)
  const { total } = row!
  return {
    read: { total, page: window => walkProgress(sql, viewer, { ...window, plan }) },
    unread: {
      total: all - total,
      page: window => walkUnread(sql, viewer, { ...window, plan }),
    },
  }
}

/** Along the index of progress. Without a plan it lists all present books. */
async function walkProgress(
  sql: Sql,
  { accountId }: Viewer,
  { plan, direction, ...window }: PageWindow & { direction: Direction; plan: BookPlan | null },
): Promise<string[]> {
  const { skip, take, reversed } = nearestEnd(window)
  if (take === 0) return []
  const order =
    (direction === 'desc') !== reversed
      ? sql`p.updated_at desc, p.book_id desc`
      : sql`p.updated_at, p.book_id`
  const alias = plan?.readsRow ? 'w' : 'b'
  const book = sql(alias)
  const matches: Fragment = plan ? isMatching(sql, plan, alias) : sql`true`
  const missing = plan?.missing
    ? sql`union all select from book b where b.id = p.book_id and ${plan.missing}`
    : sql``
  const rows = await unprepared(sql<{ id: string }[]>`
    ${plan ? sql`with ${plan.ctes}` : sql``}
    select p.book_id as id
    from progress p
    cross join lateral (
      select from book ${book}
      where ${book}.id = p.book_id and ${presentBook(sql, alias)} and ${matches}
      ${missing}
      offset 0) w
    where p.account_id = ${accountId}
    order by ${order}
    limit ${take} offset ${skip}`)
  return idsInOrder(rows, reversed)
}

/** Books without progress by title. Progress is looked up only for books of series that have any. */
async function walkUnread(
  sql: Sql,
  { accountId }: Viewer,
  { plan, ...window }: PageWindow & { plan: BookPlan | null },
): Promise<string[]> {
  const { skip, take, reversed } = nearestEnd(window)
  if (take === 0) return []
  const alias = plan?.readsRow ? 'w' : 'b'
  const book = sql(alias)
  const rows = await unprepared(sql<{ id: string }[]>`
    ${plan ? sql`with ${plan.ctes}` : sql``}
    select ${book}.id from book ${book}
    where ${presentBook(sql, alias)} and ${plan ? isMatching(sql, plan, alias) : sql`true`}
      and ((${book}.series_id in (
        select r.series_id from series_reading r where r.account_id = ${accountId})) is not true
      or (select true from progress p
        where p.account_id = ${accountId} and p.book_id = ${book}.id) is null)
    order by ${bookOrderBy(sql, alias, { sort: 'title', direction: 'asc', reversed })}
    limit ${take} offset ${skip}`)
  return idsInOrder(rows, reversed)
}
