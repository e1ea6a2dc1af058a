// Predicates on series by the books that the viewer sees of them; books beyond an age limit do not count.
import type { Fragment } from 'postgres'
import { fromBooksBeyondAge, hidesBooks, presentBook, type Viewer } from '../../../auth/viewer.ts'
import { formatNames } from '../../../format/formats.ts'
import type { Queryable } from '../../../postgres/db.ts'
import type { Test } from '../condition.ts'
import { columnTest, matchingWords } from './operators.ts'
import { hasBooks, type PlanContext, seriesWhere } from './plan-context.ts'

const fields = [
  ...(['format', 'hasError', 'hasMissing', 'bookCount', 'pageCount'] as const),
  ...(['completion', 'complete', 'firstRelease'] as const),
]

export type BooksField = (typeof fields)[number]

export const isOfBooks = (field: string): field is BooksField =>
  (fields as readonly string[]).includes(field)

/** Ids of the series for which the positive form of a predicate holds. */
export function setOfBooks(context: PlanContext, field: BooksField, test: Test): Fragment {
  const { sql } = context
  switch (field) {
    case 'format':
      return formatSet(context, test)
    case 'hasError':
      return seriesOfBooks(context, sql`y.error_code is not null and ${presentBook(sql, 'y')}`)
    case 'hasMissing':
      return seriesOfBooks(context, sql`y.missing_at is not null`)
    case 'bookCount':
    case 'pageCount':
      return seriesByTotal(context, field, total => columnTest(sql, { integer: total }, test))
    case 'firstRelease':
      return seriesWhere(context, columnTest(sql, { day: firstRelease(context) }, test))
    default:
      return seriesByTotal(context, 'bookCount', total => completeTest(sql, field, { test, total }))
  }
}

/** On `series x`: as `series.released`. */
function firstRelease({ sql, viewer }: PlanContext): Fragment {
  if (!hidesBooks(viewer)) return sql`x.released`
  return sql`(
    case when x.id in (select y.series_id ${fromBooksBeyondAge(sql, viewer)})
    then (
      select min(y.released) from book y
      where y.series_id = x.id and ${isSeenBook(sql, viewer)} and y.year > 0)
    else x.released end)`
}

/** Unknown for series whose number of volumes is not known. */
function completeTest(
  sql: Queryable,
  field: 'completion' | 'complete',
  { test, total }: { test: Test; total: Fragment },
): Fragment {
  const isComplete =
    field === 'completion'
      ? sql`(${total} >= x.total_volume_count)`
      : sql`(${total} = x.total_volume_count)`
  return test.kind === 'boolean' && test.value ? isComplete : sql`not ${isComplete}`
}

/** On `book y`: it is present, and the viewer sees it. */
export const isSeenBook = (sql: Queryable, viewer: Viewer): Fragment =>
  sql`(${presentBook(sql, 'y')} and ${withinAge(sql, viewer)})`

/** Series with one of these few books, `book y`, that the viewer sees. */
function seriesOfBooks({ sql, viewer }: PlanContext, where: Fragment): Fragment {
  return sql`
    select distinct y.series_id from book y where ${where} and ${withinAge(sql, viewer)}`
}

function withinAge(sql: Queryable, viewer: Viewer): Fragment {
  if (!hidesBooks(viewer)) return sql`true`
  return sql`(y.age_rating is null or y.age_rating <= ${viewer.ageLimit})`
}

function formatSet(context: PlanContext, test: Test): Fragment {
  const { sql } = context
  if (test.kind === 'text') return seriesOfFormats(context, matchingWords(formatNames, test))
  return seriesWhere(context, sql`(x.id in (${seriesOfFormats(context, formatNames)})) is not true`)
}

/** Series with a book of one of these formats that the viewer sees. */
function seriesOfFormats(context: PlanContext, formats: readonly string[]): Fragment {
  const none = context.sql`select null::uuid as series_id where false`
  // One by one, so that each is read from its index in the order of series, and nothing is sorted or hashed.
  return formats.reduce(
    (all, format) => context.sql`${all} union (${seriesOfFormat(context, format)})`,
    none,
  )
}

/** What an age limit hides is counted apart: the index of formats has no age ratings. */
function seriesOfFormat({ sql, viewer }: PlanContext, format: string): Fragment {
  const isOne = sql`y.format = ${format}`
  const present = sql`from book y where ${presentBook(sql, 'y')} and ${isOne}`
  if (!hidesBooks(viewer)) return sql`select distinct y.series_id ${present}`
  return sql`
    select m.series_id
    from (select y.series_id, count(*) as n ${present} group by y.series_id) m
    left join (
      select y.series_id, count(*) as n ${fromBooksBeyondAge(sql, viewer)} and ${isOne}
      group by y.series_id) h on h.series_id = m.series_id
    where m.n > coalesce(h.n, 0)`
}

const totals = {
  bookCount: (sql: Queryable) => ({ stored: sql`x.book_count`, hidden: sql`count(*)` }),
  pageCount: (sql: Queryable) => ({ stored: sql`x.page_count`, hidden: sql`sum(y.page_count)` }),
}

/** By the stored sum, without what the age limit of the viewer hides. */
function seriesByTotal(
  context: PlanContext,
  field: 'bookCount' | 'pageCount',
  where: (total: Fragment) => Fragment,
): Fragment {
  const { sql, viewer } = context
  const { stored, hidden } = totals[field](sql)
  if (!hidesBooks(viewer)) return seriesWhere(context, where(stored))
  return sql`
    select x.id from series x
    left join (
      select y.series_id, ${hidden} as total ${fromBooksBeyondAge(sql, viewer)}
      group by y.series_id) h on h.series_id = x.id
    where ${hasBooks(context)}
      and ${where(sql`(${stored} - coalesce(h.total, 0))`)}`
}
