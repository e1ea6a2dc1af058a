// The reading state of series for a viewer: of their present books, without those that an age limit hides.
import type { Fragment } from 'postgres'
import { hidesBooks } from '../../../auth/viewer.ts'
import { type Condition, predicatesOf } from '../condition.ts'
import type { ReadStatus } from '../fields.ts'
import type { PlanContext } from './plan-context.ts'
import { hiddenJoin } from './reading-classes.ts'

type Context = Pick<PlanContext, 'sql' | 'viewer'>

/** Joins what `hasReadStatus` reads to `series s`, if the condition is about reading. */
export function joinReading({ sql, viewer }: Context, condition: Condition): Fragment {
  const isAboutReading = predicatesOf(condition).some(({ field }) => field === 'readStatus')
  if (!isAboutReading) return sql``
  return sql`
    left join series_reading r on r.account_id = ${viewer.accountId} and r.series_id = s.id
    ${joinHidden({ sql, viewer })}`
}

function joinHidden({ sql, viewer }: Context): Fragment {
  if (!hidesBooks(viewer)) return sql``
  return hiddenJoin(sql, viewer, { isAboutReading: true, hidden: null })
}

/** Over what `joinReading` joins. */
export function hasReadStatus({ sql, viewer }: Context, status: ReadStatus): Fragment {
  const visible = (count: Fragment, hidden: Fragment) =>
    hidesBooks(viewer) ? sql`(${count} - coalesce(${hidden}, 0))` : count
  const read = visible(sql`r.read_count`, sql`h.read_count`)
  const opened = visible(sql`r.opened_count`, sql`h.opened_count`)
  const isRead = sql`coalesce(${read} >= ${visible(sql`s.book_count`, sql`h.book_count`)}, false)`
  if (status === 'read') return isRead
  const isOpened = sql`coalesce(${opened} > 0 or ${read} > 0, false)`
  return status === 'in_progress' ? sql`(${isOpened} and not ${isRead})` : sql`(not ${isOpened})`
}

/** Ids of the series that the viewer has read or begun; of `unread` those that are not. */
export function seriesOfStatus(context: Context, status: ReadStatus): Fragment {
  const { sql, viewer } = context
  const test = hasReadStatus(context, status)
  return sql`
    select s.id from series_reading r join series s on s.id = r.series_id ${joinHidden(context)}
    where r.account_id = ${viewer.accountId} and ${status === 'unread' ? sql`not ${test}` : test}`
}
