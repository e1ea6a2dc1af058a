// Failures of sources: their log, and until when a source is paused.
import { newId } from '../../base/id.ts'
import { component, oneOf, type Static, Type, timestamp, uuid } from '../../base/schema.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { type SourceFailure, sourceFailureKinds } from '../failure.ts'
import { unhealthyFailures } from './source.ts'

export const SourceFailureRecord = component('SourceFailure', {
  id: uuid(),
  operation: Type.String({ description: 'The called operation, such as `listReleases`.' }),
  kind: oneOf(sourceFailureKinds),
  message: Type.String(),
  createdAt: timestamp(),
})
export type SourceFailureRecord = Static<typeof SourceFailureRecord>

export const maxFailures = 100
const maxBackoffSteps = 4

type Failed = { sourceId: string; operation: string; failure: SourceFailure }

/**
 * The source is paused as long as it demands, and from the third consecutive failure for a minute, which doubles up to
 * 16 minutes. Nothing is recorded for a deleted source.
 */
export async function recordFailure(
  sql: Queryable,
  { sourceId, operation, failure: { message, kind, retryAt } }: Failed,
): Promise<void> {
  await sql`
    with failed as (
      update source set failures = failures + 1, last_error = ${message}, last_error_at = now(),
        retry_at = greatest(${retryAt}::timestamptz, case when failures + 1 >= ${unhealthyFailures} then
          now() + interval '1 minute' * 2 ^ least(${maxBackoffSteps}, failures + 1 - ${unhealthyFailures}) end)
      where id = ${sourceId}
      returning id
    )
    insert into source_failure (id, source_id, operation, kind, message)
    select ${newId()}, id, ${operation}, ${kind}, ${message} from failed`
  await sql`
    delete from source_failure
    where source_id = ${sourceId} and id < (
      select id from source_failure where source_id = ${sourceId}
      order by id desc offset ${maxFailures - 1} limit 1)`
}

/** Ends a run of failures; the last one is still shown. */
export async function recordSuccess(sql: Queryable, sourceId: string): Promise<void> {
  await sql`update source set failures = 0, retry_at = null where id = ${sourceId} and failures > 0`
}

/** Newest first. */
export async function listFailures(
  sql: Queryable,
  sourceId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ data: SourceFailureRecord[]; total: number }> {
  const [data, [totals]] = await Promise.all([
    sql<SourceFailureRecord[]>`
      select id, operation, kind, message, created_at as "createdAt" from source_failure
      where source_id = ${sourceId} order by id desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`
      select count(*)::integer as total from source_failure where source_id = ${sourceId}`,
  ])
  return { data: [...data], total: totals!.total }
}
