// Books by when the viewer last read them: first those with progress along the index of progress,
// then all others by title.
import type { Fragment, Sql } from 'postgres'
import { isUnrestricted, type Viewer } from '../../auth/viewer.ts'
import { countAll, inOrder, isListed, measure, nearer, pageOf, type Window } from './book-pages.ts'
import { type BooksWanted, hasProgress, planBooks } from './book-plan.ts'
import type { Condition } from './filter.ts'
import type { Direction } from './sort.ts'
import { oneOff } from './unprepared.ts'

type Asked = BooksWanted & { direction: Direction; page: number; pageSize: number }
type Listed = { ids: string[]; total: number }

/** As listBooks. Missing books are no part of this order. */
export async function booksByReading(sql: Sql, viewer: Viewer, asked: Asked): Promise<Listed> {
  const isAll = !asked.filter && !asked.libraryId && !asked.seriesId && isUnrestricted(viewer)
  const { read, other } = isAll ? await allParts(sql, viewer) : await parts(sql, viewer, asked)
  const { direction, page, pageSize: limit } = asked
  const offset = (page - 1) * limit
  const ids = await read.page({ direction, offset, limit, total: read.total })
  const left = limit - ids.length
  if (left > 0 && other.total > 0) {
    const place = { offset: Math.max(offset - read.total, 0), limit: left, total: other.total }
    ids.push(...(await other.page({ direction, ...place })))
  }
  return { ids, total: read.total + other.total }
}

type Part = {
  total: number
  page: (asked: Window & { direction: Direction }) => Promise<string[]>
}

/** The books of a condition with progress of the viewer, and those without. */
async function parts(sql: Sql, viewer: Viewer, asked: Asked): Promise<{ read: Part; other: Part }> {
  const plan = (condition: Condition) => {
    const all = [...(asked.filter ? [asked.filter.condition] : []), condition]
    const filter = { of: 'book' as const, condition: { all } }
    return planBooks(sql, viewer, { ...asked, includeDeleted: false, filter })
  }
  const begun = await plan(hasProgress)
  const others = await plan({ ...hasProgress, negated: false })
  const listed = { with: begun.ctes, on: isListed(sql, begun, begun.readsRow ? 'w' : 'b') }
  const size = await measure(sql, others, false)
  return {
    read: {
      total: (await measure(sql, begun, false)).total,
      page: at => walkProgress(sql, viewer, { ...at, listed, alias: begun.readsRow ? 'w' : 'b' }),
    },
    other: {
      total: size.total,
      page: at => pageOf(sql, { plan: others, size }, { ...at, sort: 'title', direction: 'asc' }),
    },
  }
}

/** The same of all books, from what is counted already. */
async function allParts(sql: Sql, viewer: Viewer): Promise<{ read: Part; other: Part }> {
  const [row] = await sql<{ total: number }[]>`
    select coalesce(sum(read_count + started_count), 0)::float8 as total
    from series_reading where account_id = ${viewer.accountId}`
  const { total } = row!
  return {
    read: { total, page: at => walkProgress(sql, viewer, { ...at, listed: null, alias: 'b' }) },
    other: {
      total: (await countAll(sql)) - total,
      page: at => walkOthers(sql, viewer, at),
    },
  }
}

type Walk = Window & {
  direction: Direction
  listed: { with: Fragment; on: Fragment } | null
  alias: 'w' | 'b'
}

async function walkProgress(sql: Sql, { accountId }: Viewer, asked: Walk): Promise<string[]> {
  const { listed } = asked
  const { skip, take, turned } = nearer(asked)
  if (take === 0) return []
  const down = (asked.direction === 'desc') !== turned
  const order = down ? sql`p.updated_at desc, p.book_id desc` : sql`p.updated_at, p.book_id`
  const book = sql(asked.alias)
  const rows = await oneOff(sql<{ id: string }[]>`
    ${listed ? sql`with ${listed.with}` : sql``}
    select p.book_id as id
    from progress p
    cross join lateral (
      select from book ${book}
      where ${book}.id = p.book_id and ${book}.missing_at is null
        and ${listed ? listed.on : sql`true`}
      offset 0) w
    where p.account_id = ${accountId}
    order by ${order}
    limit ${take} offset ${skip}`)
  return inOrder(rows, turned)
}

/** By title, what has no progress. Only in series that were begun it has to be asked of books. */
async function walkOthers(sql: Sql, { accountId }: Viewer, place: Window): Promise<string[]> {
  const { skip, take, turned } = nearer(place)
  if (take === 0) return []
  const order = turned ? sql`b.sort_key desc, b.id desc` : sql`b.sort_key, b.id`
  const rows = await oneOff(sql<{ id: string }[]>`
    select b.id from book b
    where b.missing_at is null and ((b.series_id in (
        select r.series_id from series_reading r where r.account_id = ${accountId})) is not true
      or (select true from progress p
        where p.account_id = ${accountId} and p.book_id = b.id) is null)
    order by ${order}
    limit ${take} offset ${skip}`)
  return inOrder(rows, turned)
}
