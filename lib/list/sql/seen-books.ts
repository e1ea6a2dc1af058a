// Predicates on series by the books that the viewer sees of them; books beyond an age limit do not count.
import type { Fragment } from 'postgres'
import { fromBooksBeyondAge, hidesBooks, presentBook, type Viewer } from '../../accounts/viewer.ts'
import { formatNames } from '../../media/format/formats.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import type { Predicate } from '../condition.ts'
import type { ReadStatus } from '../fields.ts'
import { columnTest, matchingWords } from './operators.ts'
import { type Context, flag, type Match } from './where.ts'

/** On `book y`: it is present, and the viewer sees it. */
export const isSeenBook = (sql: Queryable, viewer: Viewer): Fragment =>
  sql`(${presentBook(sql, 'y')} and ${withinAge(sql, viewer)})`

const withinAge = (sql: Queryable, viewer: Viewer) =>
  hidesBooks(viewer) ? sql`(y.age_rating is null or y.age_rating <= ${viewer.ageLimit})` : sql`true`

/** Counters of the hidden books of each series, as `h`: a join to `series s`. */
function hiddenBooks(sql: Queryable, viewer: Viewer): Fragment {
  if (!hidesBooks(viewer)) return sql``
  return sql`
    left join (
      select y.series_id, count(*) as books, sum(y.page_count) as pages
      ${fromBooksBeyondAge(sql, viewer)}
      group by y.series_id) h on h.series_id = s.id`
}

/** With counters of those that the account has read. */
function hiddenReading(sql: Queryable, viewer: Viewer): Fragment {
  if (!hidesBooks(viewer)) return sql``
  return sql`
    left join (
      select y.series_id, count(*) as books, count(*) filter (where p.is_completed) as read,
        count(*) filter (where not p.is_completed and p.current_page > 0) as opened
      from (select y.id, y.series_id ${fromBooksBeyondAge(sql, viewer)}) y
      left join progress p on p.account_id = ${viewer.accountId} and p.book_id = y.id
      group by y.series_id) h on h.series_id = s.id`
}

/** On `series s` with `hiddenBooks`: a stored counter without what is hidden. */
function seen(sql: Queryable, viewer: Viewer, stored: Fragment, hidden: string): Fragment {
  return hidesBooks(viewer) ? sql`(${stored} - coalesce(h.${sql(hidden)}, 0))` : stored
}

/** Series for which a test of `series s` holds, which may refer to `hiddenBooks`. */
function counted({ sql, viewer }: Context, test: Fragment): Match {
  if (!hidesBooks(viewer)) return { test }
  return { ids: sql`select s.id from series s ${hiddenBooks(sql, viewer)} where ${test}` }
}

const byCounter =
  (column: 'book_count' | 'page_count', hidden: 'books' | 'pages') =>
  (context: Context, { test }: Predicate): Match => {
    const { sql, viewer } = context
    const total = seen(sql, viewer, sql`s.${sql(column)}`, hidden)
    return counted(context, columnTest(sql, { integer: total }, test))
  }

export const byBookCount = byCounter('book_count', 'books')
export const byPageCount = byCounter('page_count', 'pages')

/** By whether all volumes are there. Unknown for series whose number of volumes is not known. */
export function byCompleteness(context: Context, { field, test }: Predicate): Match {
  const { sql, viewer } = context
  const total = seen(sql, viewer, sql`s.book_count`, 'books')
  const sign = field === 'completion' ? sql`>=` : sql`=`
  const isComplete = sql`(${total} ${sign} s.total_volume_count)`
  const isTrue = test.kind === 'boolean' && test.value
  return counted(context, isTrue ? isComplete : sql`not ${isComplete}`)
}

/** By the first release of a book, as `series.released`. */
export function byFirstRelease(context: Context, { test }: Predicate): Match {
  const { sql, viewer } = context
  const released = hidesBooks(viewer)
    ? sql`(
        case when s.id in (select y.series_id ${fromBooksBeyondAge(sql, viewer)})
        then (
          select min(y.released) from book y
          where y.series_id = s.id and ${isSeenBook(sql, viewer)} and y.year > 0)
        else s.released end)`
    : sql`s.released`
  return { test: columnTest(sql, { day: released }, test) }
}

export function byFormat(context: Context, { test }: Predicate): Match {
  const formats = test.kind === 'text' ? matchingWords(formatNames, test) : formatNames
  const ids = seriesOfFormats(context, formats)
  return test.kind === 'text' ? { ids } : { ids, isNegated: true }
}

/** One format after another: each is read from its index in the order of series, and nothing is sorted or hashed. */
function seriesOfFormats(context: Context, formats: readonly string[]): Fragment {
  const { sql, viewer } = context
  const one = (format: string) => {
    const present = sql`from book y where ${presentBook(sql, 'y')} and y.format = ${format}`
    if (!hidesBooks(viewer)) return sql`select distinct y.series_id ${present}`
    return sql`
      select m.series_id
      from (select y.series_id, count(*) as n ${present} group by y.series_id) m
      left join (
        select y.series_id, count(*) as n ${fromBooksBeyondAge(sql, viewer)} and y.format = ${format}
        group by y.series_id) h on h.series_id = m.series_id
      where m.n > coalesce(h.n, 0)`
  }
  const none = sql`select null::uuid as series_id where false`
  return formats.reduce((all, format) => sql`${all} union (${one(format)})`, none)
}

export function byError({ sql, viewer }: Context, { test }: Predicate): Match {
  return flag(test, {
    ids: sql`
      select distinct y.series_id from book y
      where y.error_code is not null and ${isSeenBook(sql, viewer)}`,
  })
}

export function byMissing({ sql, viewer }: Context, { test }: Predicate): Match {
  return flag(test, {
    ids: sql`
      select distinct y.series_id from book y
      where y.missing_at is not null and ${withinAge(sql, viewer)}`,
  })
}

export function byReadStatus({ sql, viewer }: Context, { test }: Predicate): Match {
  if (test.kind !== 'status') return { test: sql`false` }
  const read = seen(sql, viewer, sql`r.read_count`, 'read')
  const opened = seen(sql, viewer, sql`r.opened_count`, 'opened')
  // What was read may all be hidden.
  const isRead = sql`(${read} > 0 and ${read} >= ${seen(sql, viewer, sql`s.book_count`, 'books')})`
  const isOpened = sql`(${opened} > 0 or ${read} > 0)`
  const holds: Record<ReadStatus, Fragment> = {
    read: isRead,
    in_progress: sql`${isOpened} and not ${isRead}`,
    unread: isOpened,
  }
  return {
    ids: sql`
      select s.id from series_reading r join series s on s.id = r.series_id ${hiddenReading(sql, viewer)}
      where r.account_id = ${viewer.accountId} and ${holds[test.status]}`,
    isNegated: test.status === 'unread',
  }
}
