// The inbox of an account: the series that it follows, and which of their releases it has seen or dismissed.
import { type Viewer, visibleSeries } from '../accounts/viewer.ts'
import { Conflict } from '../base/errors.ts'
import { requireSeries } from '../catalog/series/series-record.ts'
import type { Sql } from '../store/postgres/db.ts'
import { retryOnDeadlock } from '../store/postgres/retry-on-deadlock.ts'
import { setTracked } from './tracking.ts'

export const markActions = ['see', 'dismiss', 'restore'] as const
type MarkAction = (typeof markActions)[number]

/** Sources may be read once per tracked series, so an account cannot track them all. */
const maxFollowed = 5_000

/** Also tracks the series. Throws NotFound, and Conflict for too many. */
export async function followSeries(sql: Sql, viewer: Viewer, seriesId: string): Promise<void> {
  await requireSeries(sql, viewer, seriesId)
  await retryOnDeadlock(sql, async tx => {
    await tx`
      insert into series_follow (account_id, series_id) values (${viewer.accountId}, ${seriesId})
      on conflict do nothing`
    const [row] = await tx<[{ count: number }]>`
      select count(*)::integer as count from series_follow where account_id = ${viewer.accountId}`
    if (row.count > maxFollowed)
      throw new Conflict(`The limit is ${maxFollowed} followed series`, { limit: maxFollowed })
  })
  await setTracked(sql, viewer, { seriesIds: [seriesId], tracked: true })
}

/** Throws NotFound. */
export async function unfollowSeries(sql: Sql, viewer: Viewer, seriesId: string): Promise<void> {
  await requireSeries(sql, viewer, seriesId)
  await sql`
    delete from series_follow where account_id = ${viewer.accountId} and series_id = ${seriesId}`
}

/** How many series are followed, and how many announced releases of them are neither seen nor dismissed. */
export async function inboxOf(
  sql: Sql,
  viewer: Viewer,
): Promise<{ followed: number; unseen: number }> {
  const [row] = await sql<[{ followed: number; unseen: number }]>`
    with followed as materialized (
      select s.id from series_follow f join series s on s.id = f.series_id
      where f.account_id = ${viewer.accountId} and ${visibleSeries(sql, viewer)}
    )
    select (select count(*)::integer from followed) as followed, count(*)::integer as unseen
    from followed f
    join release r on r.series_id = f.id and r.state = 'announced'
    where not exists (
      select from release_mark m
      where m.release_id = r.id and m.account_id = ${viewer.accountId})`
  return row
}

type Marking = { ids: readonly string[]; action: MarkAction }

/** Returns how many of the releases are visible. */
export async function markReleases(
  sql: Sql,
  viewer: Viewer,
  { ids, action }: Marking,
): Promise<number> {
  const dismissedAt = action === 'dismiss' ? sql`now()` : sql`null`
  const onConflict =
    action === 'see' ? sql`nothing` : sql`update set dismissed_at = excluded.dismissed_at`
  const [row] = await sql<[{ count: number }]>`
    with visible as materialized (
      select r.id from release r join series s on s.id = r.series_id
      where r.id = any(${ids as string[]}::uuid[]) and ${visibleSeries(sql, viewer)}
      order by r.id
    ), marked as (
      insert into release_mark (account_id, release_id, dismissed_at)
      select ${viewer.accountId}, id, ${dismissedAt} from visible
      on conflict (account_id, release_id) do ${onConflict}
    )
    select count(*)::integer as count from visible`
  return row.count
}
