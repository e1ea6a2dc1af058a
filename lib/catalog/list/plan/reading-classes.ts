// Sizes of the classes into which the books of a series fall by reading state, without those that an age
// limit hides.
import type { Fragment } from 'postgres'
import { fromBooksBeyondAge, type Viewer } from '../../../auth/viewer.ts'
import type { Queryable } from '../../../postgres/db.ts'

/**
 * `untouched`: no progress; `started`: progress at the beginning; `unread`: one of these two;
 * `opened`: progress beyond the beginning, not completed; `read`: completed.
 */
export type ReadingClass = 'untouched' | 'started' | 'unread' | 'opened' | 'read'

/** Number of present books of a series, an expression over `columns` of `scope f`. */
export type ClassSizes = (readonly [ReadingClass, Fragment])[]

type Options = {
  /** None: all books are alike, and counted as unread. */
  classes: ReadingClass[]
  hidesBooks: boolean
  /** Present books beyond the age limit (id, series_id), if they are collected. */
  hidden: Fragment | null
}

/** `columns` and `join` are of `series s`. */
export function classColumns(
  sql: Queryable,
  viewer: Viewer,
  { classes, hidesBooks, hidden }: Options,
): { columns: Fragment[]; join: Fragment; sizes: ClassSizes } {
  const isAboutReading = classes.length > 0
  if (!isAboutReading && !hidesBooks)
    return { columns: [], join: sql``, sizes: [['unread', sql`f.book_count`]] }
  const count = (counter: Fragment) => (hidesBooks ? sql`coalesce(h.${counter}, 0)` : sql`0`)
  const own = (counter: Fragment) => sql`coalesce(r.${counter}, 0) - ${count(counter)}`
  const all = sql`s.book_count - ${count(sql`book_count`)}`
  const [read, opened, started] = [sql`read_count`, sql`opened_count`, sql`started_count`].map(own)
  const columns: Record<ReadingClass, Fragment> = {
    read: read!,
    opened: opened!,
    started: sql`(${started!}) - (${opened!})`,
    untouched: sql`${all} - (${read!}) - (${started!})`,
    unread: isAboutReading ? sql`${all} - (${read!}) - (${opened!})` : all,
  }
  const named = isAboutReading ? classes : (['unread'] as const)
  const reading = sql`
    left join series_reading r on r.account_id = ${viewer.accountId} and r.series_id = s.id`
  return {
    columns: named.map(name => sql`${columns[name]} as ${sql(`n_${name}`)}`),
    join: sql`
      ${isAboutReading ? reading : sql``}
      ${hidesBooks ? hiddenJoin(sql, viewer, { isAboutReading, hidden }) : sql``}`,
    sizes: named.map(name => [name, sql`f.${sql(`n_${name}`)}`]),
  }
}

/** The counters of `series_reading`, and `book_count`, of the hidden books, as `h` beside `series s`. */
export function hiddenJoin(
  sql: Queryable,
  viewer: Viewer,
  { isAboutReading, hidden }: { isAboutReading: boolean; hidden: Fragment | null },
): Fragment {
  const books = hidden ?? sql`select y.id, y.series_id ${fromBooksBeyondAge(sql, viewer)}`
  const [counters, progress] = isAboutReading
    ? [
        sql`,
          count(*) filter (where p.is_completed)::integer as read_count,
          count(*) filter (where not p.is_completed)::integer as started_count,
          count(*) filter (where not p.is_completed and p.current_page > 0)::integer as opened_count`,
        sql`left join progress p on p.account_id = ${viewer.accountId} and p.book_id = y.id`,
      ]
    : [sql``, sql``]
  return sql`
    left join (
      select y.series_id, count(*)::integer as book_count ${counters}
      from (${books}) y ${progress}
      group by y.series_id) h on h.series_id = s.id`
}
