// Release sources: the lists of releases offered by sources, with their schedules and polls.
import { type Viewer, visibleLibrary } from '../accounts/viewer.ts'
import { Conflict, NotFound } from '../base/errors.ts'
import {
  component,
  list,
  nullable,
  oneOf,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../base/schema.ts'
import { releaseSourceKinds } from '../sources/contract.ts'
import { deleteInBatches } from '../store/postgres/batch.ts'
import type { Queryable, Sql } from '../store/postgres/db.ts'
import type { Queue } from '../store/queue/queue.ts'
import { unfinishedJobs } from '../store/queue/select-jobs.ts'
import { fetchSetting } from '../store/setting/setting.ts'
import { publishReleases } from './change-releases.ts'

export const ReleaseSource = component('ReleaseSource', {
  id: uuid(),
  pluginId: uuid({ description: 'The source that offers this list.' }),
  sourceKey: Type.String({ description: 'Identifies the list in its source.' }),
  displayName: Type.String(),
  kind: oneOf(releaseSourceKinds),
  enabled: Type.Boolean({ description: 'Whether it is polled while its source is enabled.' }),
  cronSchedule: nullable(Type.String()),
  effectiveCronSchedule: Type.String({
    description:
      'Its own schedule, otherwise the setting `release_tracking.default_cron_schedule`.',
  }),
  lastPolledAt: nullable(timestamp({ description: 'End of the last successful poll.' })),
  lastError: nullable(Type.String()),
  lastErrorAt: nullable(timestamp()),
  lastSummary: nullable(Type.String()),
  config: Type.Record(Type.String(), Type.Unsafe<unknown>({})),
  createdAt: timestamp(),
  updatedAt: timestamp(),
})
export type ReleaseSource = Static<typeof ReleaseSource>
export const ReleaseSources = component('ReleaseSources', { sources: list(ReleaseSource) })

/** Sorted by source name, then by list name. */
export async function listReleaseSources(sql: Queryable, id?: string): Promise<ReleaseSource[]> {
  const schedule = await fetchSetting(sql, 'release_tracking.default_cron_schedule')
  const rows = await sql<ReleaseSource[]>`
    select r.id, r.source_id as "pluginId", r.key as "sourceKey", r.display_name as "displayName",
      r.kind, r.enabled, r.cron_schedule as "cronSchedule",
      coalesce(r.cron_schedule, ${schedule}) as "effectiveCronSchedule",
      r.last_polled_at as "lastPolledAt", r.last_error as "lastError",
      r.last_error_at as "lastErrorAt", r.last_summary as "lastSummary", r.config,
      r.created_at as "createdAt", r.updated_at as "updatedAt"
    from release_source r join source p on p.id = r.source_id
    where ${id === undefined ? sql`true` : sql`r.id = ${id}`}
    order by lower(p.display_name), p.id, lower(r.display_name), r.id`
  return [...rows]
}

const notFound = () => new NotFound('Release source not found')

type SourceChange = { displayName?: string; enabled?: boolean; cronSchedule?: string | null }

/** A null `cronSchedule` means the default. Throws NotFound. */
export async function changeReleaseSource(
  sql: Sql,
  id: string,
  { displayName, enabled, cronSchedule }: SourceChange,
): Promise<ReleaseSource> {
  const { count } = await sql`
    update release_source
    set display_name = coalesce(${displayName ?? null}, display_name),
      enabled = coalesce(${enabled ?? null}, enabled),
      cron_schedule = case when ${cronSchedule !== undefined} then ${cronSchedule ?? null}
        else cron_schedule end,
      updated_at = now()
    where id = ${id}`
  const [source] = await listReleaseSources(sql, id)
  if (count === 0 || !source) throw notFound()
  return source
}

/** Enqueues a poll; false if one is already queued or running. Throws NotFound, and Conflict for a disabled source. */
export async function requestPoll(sql: Sql, queue: Queue, id: string): Promise<boolean> {
  return await sql.begin(async tx => {
    const [source] = await tx<{ isEnabled: boolean }[]>`
      select r.enabled and p.enabled as "isEnabled"
      from release_source r join source p on p.id = r.source_id
      where r.id = ${id}
      for no key update of r`
    if (!source) throw notFound()
    if (!source.isEnabled)
      throw new Conflict('The release source is disabled', { reason: 'source_disabled' })
    const [poll] = await tx`
      select 1 from ${unfinishedJobs(tx, ['poll'])} j where j.data->>'releaseSourceId' = ${id} limit 1`
    if (!poll) await queue.send(tx, 'poll', [{ releaseSourceId: id }], { key: id })
    return poll === undefined
  })
}

/** Enqueues polls of all enabled release sources. */
export async function requestAllPolls(sql: Sql, queue: Queue) {
  const sources = await sql<{ id: string }[]>`
    select r.id from release_source r join source p on p.id = r.source_id
    where r.enabled and p.enabled
    order by r.id`
  const result = { considered: sources.length, enqueued: 0, coalesced: 0, failed: 0 }
  for (const { id } of sources)
    try {
      if (await requestPoll(sql, queue, id)) result.enqueued += 1
      else result.coalesced += 1
    } catch (error) {
      // It was disabled or deleted just now.
      if (!(error instanceof Conflict || error instanceof NotFound)) throw error
      result.failed += 1
    }
  return result
}

/** Deletes the releases and poll positions of a source; the next poll starts from the beginning. Throws NotFound. */
export async function resetReleaseSource(sql: Sql, id: string): Promise<number> {
  // A running poll stores nothing more.
  const { count } = await sql`
    update release_source
    set cursor = null, poll_after = null, poll_id = null, last_polled_at = null, last_error = null,
      last_error_at = null, last_summary = null
    where id = ${id}`
  if (count === 0) throw notFound()
  return await deleteInBatches(limit =>
    sql.begin(async tx => {
      const deleted = await tx<{ id: string; libraryId: string }[]>`
        with deleted as (
          delete from release
          where id in (select id from release where source_id = ${id} order by id limit ${limit})
          returning series_id
        )
        select s.id, s.library_id as "libraryId"
        from deleted d join series s on s.id = d.series_id`
      await publishReleases(tx, deleted)
      return { count: deleted.length }
    }),
  )
}

export async function resetAllReleaseSources(sql: Sql) {
  const sources = await sql<{ id: string }[]>`select id from release_source order by id`
  const result = { considered: sources.length, reset: 0, failed: 0, deletedLedgerEntries: 0 }
  for (const { id } of sources)
    try {
      result.deletedLedgerEntries += await resetReleaseSource(sql, id)
      result.reset += 1
    } catch (error) {
      if (!(error instanceof NotFound)) throw error
      result.failed += 1
    }
  return result
}

/** Display names of the sources that are polled for releases; none for a library that is not visible. */
export async function releasePlugins(sql: Queryable, viewer: Viewer, libraryId?: string) {
  const isVisible =
    libraryId === undefined
      ? sql`true`
      : sql`exists (select from library l where l.id = ${libraryId} and ${visibleLibrary(sql, viewer)})`
  const rows = await sql<{ name: string }[]>`
    select display_name as name from source p
    where enabled and ${isVisible}
      and exists (select from release_source r where r.source_id = p.id and r.enabled)
    order by lower(display_name), id`
  return rows.map(row => row.name)
}
