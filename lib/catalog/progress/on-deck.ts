// What a reader goes on with: books and series begun, what was read last, the next book of a series.
import type { Fragment, Sql } from 'postgres'
import { seesBook, seesSeries, type Viewer } from '../../auth/viewer.ts'
import { inOrder, nearer, type Window } from '../list/book-pages.ts'
import { oneOff } from '../list/unprepared.ts'

export type Asked = {
  libraryId?: string | undefined
  /** From 1. */
  page: number
  pageSize: number
}
type Listed = { ids: string[]; total: number }

/** Ids of the books that the viewer has begun and not completed, or of all begun, the last read first. Missing ones are left out. */
export async function booksBegun(
  sql: Sql,
  viewer: Viewer,
  asked: Asked & { withCompleted?: boolean },
): Promise<Listed> {
  const unfinished = asked.withCompleted ? sql`true` : sql`not p.is_completed`
  const mine = sql`p.account_id = ${viewer.accountId} and ${unfinished}`
  const total = await countBegun(sql, viewer, { ...asked, mine })
  const window = windowOf(asked, total)
  const { skip, take, turned } = nearer(window)
  if (take === 0) return { ids: [], total }
  const order = turned ? sql`p.updated_at, p.book_id` : sql`p.updated_at desc, p.book_id desc`
  const rows = await oneOff(sql<{ id: string }[]>`
    select p.book_id as id
    from progress p
    join book b on b.id = p.book_id and b.missing_at is null ${inLibrary(sql, sql`b`, asked)}
    join series s on s.id = b.series_id and ${seesBook(sql, viewer)}
    where ${mine}
    order by ${order}
    limit ${take} offset ${skip}`)
  return { ids: inOrder(rows, turned), total }
}

type Counting = { libraryId?: string | undefined; withCompleted?: boolean; mine: Fragment }

/** From the counters of series, unless books of a series may be hidden by themselves. */
async function countBegun(sql: Sql, viewer: Viewer, asked: Counting): Promise<number> {
  const counted = asked.withCompleted ? sql`r.started_count + r.read_count` : sql`r.started_count`
  const query =
    viewer.ageLimit === null
      ? sql<{ total: number }[]>`
          select coalesce(sum(${counted}), 0)::float8 as total
          from series_reading r
          join series s on s.id = r.series_id and s.book_count > 0
          where r.account_id = ${viewer.accountId} ${inLibrary(sql, sql`s`, asked)}
            and ${seesSeries(sql, viewer)}`
      : sql<{ total: number }[]>`
          select count(*)::float8 as total
          from progress p
          join book b on b.id = p.book_id and b.missing_at is null ${inLibrary(sql, sql`b`, asked)}
          join series s on s.id = b.series_id
          where ${asked.mine} and ${seesBook(sql, viewer)}`
  const [row] = await oneOff(query)
  return row!.total
}

/** Ids of series with a book that the viewer has begun and not completed, by title. */
export async function seriesBegun(sql: Sql, viewer: Viewer, asked: Asked): Promise<Listed> {
  // A hidden book must not tell of itself through its series.
  const seen =
    viewer.ageLimit === null
      ? sql``
      : sql`and exists (
          select from book b
          join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
          where b.series_id = s.id and b.missing_at is null and not p.is_completed
            and ${seesBook(sql, viewer)})`
  const [row] = await oneOff(sql<Listed[]>`
    with begun as materialized (
      select s.id, s.sort_key
      from series_reading r
      join series s on s.id = r.series_id and s.book_count > 0
      where r.account_id = ${viewer.accountId} and r.started_count > 0
        ${inLibrary(sql, sql`s`, asked)} and ${seesSeries(sql, viewer)} ${seen}
    )
    select (select count(*) from begun)::float8 as total, array(
      select id from begun order by sort_key, id ${limited(sql, asked)}) as ids`)
  return row!
}

/**
 * Ids of the next books: of every series of which the viewer has completed a book and left none
 * unfinished, the first book without any progress. The series completed last comes first.
 */
export async function onDeck(sql: Sql, viewer: Viewer, asked: Asked): Promise<Listed> {
  const next = (series: Fragment) => nextOf(sql, viewer, series)
  // The counters know of a book that is left, but not whether it is hidden by itself.
  const seen = viewer.ageLimit === null ? sql`` : sql`and ${next(sql`s.id`)} is not null`
  const [row] = await oneOff(sql<Listed[]>`
    with deck as materialized (
      select s.id, r.last_completed_at as at
      from series_reading r
      join series s on s.id = r.series_id and s.book_count > 0
      where r.account_id = ${viewer.accountId} and r.read_count > 0 and r.started_count = 0
        and r.read_count < s.book_count ${inLibrary(sql, sql`s`, asked)}
        and ${seesSeries(sql, viewer)} ${seen}
    ), shown as materialized (
      select id, at from deck order by at desc, id desc ${limited(sql, asked)}
    )
    select (select count(*) from deck)::float8 as total, array(
      select next from (select ${next(sql`shown.id`)} as next, at, id from shown) n
      where next is not null
      order by at desc, id desc) as ids`)
  return row!
}

// As a scalar, so that it stays a walk along the index of the series which ends at the first.
function nextOf(sql: Sql, viewer: Viewer, series: Fragment): Fragment {
  const seen =
    viewer.ageLimit === null
      ? sql``
      : sql`and (select ${seesBook(sql, viewer)} from series s where s.id = b.series_id)`
  return sql`(
    select b.id from book b
    where b.series_id = ${series} and b.missing_at is null ${seen}
      and (select true from progress p where p.account_id = ${viewer.accountId} and p.book_id = b.id)
        is null
    order by b.number_sort, b.name_key, b.id
    limit 1)`
}

function inLibrary(sql: Sql, alias: Fragment, { libraryId }: { libraryId?: string | undefined }) {
  return libraryId ? sql`and ${alias}.library_id = ${libraryId}` : sql``
}

function windowOf({ page, pageSize }: Asked, total: number): Window {
  return { offset: (page - 1) * pageSize, limit: pageSize, total }
}

function limited(sql: Sql, { page, pageSize }: Asked): Fragment {
  return sql`limit ${pageSize} offset ${(page - 1) * pageSize}`
}
