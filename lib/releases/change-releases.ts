// Changes to releases by users: states, each recorded in the history, and removal from the ledger.
import { type Viewer, visibleSeries } from '../accounts/viewer.ts'
import { publish, seriesEvents } from '../store/event/publish.ts'
import type { Sql, Transaction } from '../store/postgres/db.ts'
import { retryOnDeadlock } from '../store/postgres/retry-on-deadlock.ts'
import type { ReleaseState } from './release-record.ts'

/** Sets the state of visible releases. Returns how many there are, changed or not. */
export async function setStates(
  sql: Sql,
  viewer: Viewer,
  ids: readonly string[],
  state: ReleaseState,
): Promise<number> {
  return await retryOnDeadlock(sql, async tx => {
    const rows = await tx<{ id: string; libraryId: string; isChanged: boolean }[]>`
      with visible as materialized (
        select r.id, r.state, r.series_id, s.library_id ${fromVisible(tx, viewer, ids)}
        order by r.id
        for no key update of r
      ), changed as (
        update release r set state = ${state}
        from visible v where r.id = v.id and v.state <> ${state}
      ), recorded as (
        insert into release_change (release_id, from_state, to_state, account_id, reason)
        select id, state, ${state}, ${viewer.accountId}, 'request' from visible
        where state <> ${state}
      )
      select series_id as id, library_id as "libraryId", state <> ${state} as "isChanged"
      from visible`
    await publishReleases(
      tx,
      rows.filter(row => row.isChanged),
    )
    return rows.length
  })
}

/**
 * Removes visible releases and restarts their sources from the beginning, so that the next poll can add them
 * again. Returns how many were removed.
 */
export async function deleteReleases(sql: Sql, viewer: Viewer, ids: readonly string[]) {
  return await retryOnDeadlock(sql, async tx => {
    // Polls also lock their source first.
    await tx`
      select 1 from release_source
      where id in (select r.source_id ${fromVisible(tx, viewer, ids)})
      order by id
      for no key update`
    const rows = await tx<{ id: string; libraryId: string; sourceId: string }[]>`
      with deleted as (
        delete from release
        where id in (select r.id ${fromVisible(tx, viewer, ids)})
        returning series_id, source_id
      )
      select s.id, s.library_id as "libraryId", d.source_id as "sourceId"
      from deleted d join series s on s.id = d.series_id`
    await tx`
      update release_source set cursor = null, poll_after = null
      where id = any(${rows.map(row => row.sourceId)}::uuid[])`
    await publishReleases(tx, rows)
    return rows.length
  })
}

function fromVisible(tx: Transaction, viewer: Viewer, ids: readonly string[]) {
  return tx`
    from release r join series s on s.id = r.series_id
    where r.id = any(${ids as string[]}::uuid[]) and ${visibleSeries(tx, viewer)}`
}

/** An event for each of the series whose releases changed. */
export async function publishReleases(
  tx: Transaction,
  series: readonly { id: string; libraryId: string }[],
): Promise<void> {
  const unique = new Map(series.map(({ id, libraryId }) => [id, { id, libraryId }]))
  await publish(tx, seriesEvents('series_updated', [...unique.values()], { fields: ['releases'] }))
}
