// Calls of sources, with backoff, which record failures, successes and durations; the log of failures, and until when a
// source is paused.
import { newId } from '../../base/id.ts'
import { component, oneOf, type Static, Type, timestamp, uuid } from '../../base/schema.ts'
import { observeSourceCall } from '../../store/metrics/sources.ts'
import type { Queryable, Sql } from '../../store/postgres/db.ts'
import type { Source, SourceDescription } from '../contract.ts'
import { SourceFailure, sourceFailureKinds } from '../failure.ts'
import type { Sources } from '../open.ts'
import { storeDescription } from './description.ts'
import { type StoredSource, unhealthyFailures } from './source.ts'

type Context = { sql: Sql; sources: Sources }
type Operation = keyof Source

/**
 * The result of `call`; `operation` is for the failure log. Throws SourceFailure, also without a call for a source
 * that is disabled or paused.
 */
export async function callSource<T>(
  context: Context,
  row: StoredSource,
  { operation, call }: { operation: Operation; call: (source: Source) => Promise<T> },
): Promise<T> {
  if (!row.enabled) throw new SourceFailure(`${row.displayName} is disabled`, 'refused')
  if (row.retryAt !== null) {
    const message = `${row.displayName} is paused after failures until ${row.retryAt.toISOString()}`
    throw new SourceFailure(message, 'limited', { retryAt: row.retryAt })
  }
  return await callAnyway(context, row, { operation, call })
}

/** Like `callSource`, for a source that may be disabled or paused: for tests by an administrator. */
export async function callAnyway<T>(
  { sql, sources }: Context,
  row: StoredSource,
  { operation, call }: { operation: Operation; call: (source: Source) => Promise<T> },
): Promise<T> {
  // Not a failure of the source: it is called again when the key file is back.
  const unreadable = sources.unreadable(row)
  if (unreadable !== null) throw unreadable
  const started = performance.now()
  const observe = (outcome: 'success' | SourceFailure['kind']) =>
    observeSourceCall({ source: row.name, operation, outcome, ms: performance.now() - started })
  try {
    const result = await call(sources.open(row))
    observe('success')
    if (row.failures > 0) await recordSuccess(sql, row.id)
    return result
  } catch (error) {
    if (!(error instanceof SourceFailure)) throw error
    observe(error.kind)
    await recordFailure(sql, { sourceId: row.id, operation, failure: error })
    throw error
  }
}

/** Calls `describe` and stores the answer, including the lists of releases. Throws SourceFailure. */
export async function describeSource(
  context: Context,
  row: StoredSource,
  signal: AbortSignal,
): Promise<SourceDescription> {
  const description = await callAnyway(context, row, {
    operation: 'describe',
    call: source => source.describe({ signal }),
  })
  await storeDescription(context.sql, row.id, description)
  return description
}

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
  { pageSize, offset }: { pageSize: number; offset: number },
): Promise<{ data: SourceFailureRecord[]; total: number }> {
  const [data, [totals]] = await Promise.all([
    sql<SourceFailureRecord[]>`
      select id, operation, kind, message, created_at as "createdAt" from source_failure
      where source_id = ${sourceId} order by id desc limit ${pageSize} offset ${offset}`,
    sql<{ total: number }[]>`
      select count(*)::integer as total from source_failure where source_id = ${sourceId}`,
  ])
  return { data: [...data], total: totals!.total }
}
