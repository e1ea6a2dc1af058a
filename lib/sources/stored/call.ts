// Calls of sources, with backoff, which record failures, successes and durations.
import { observeSourceCall } from '../../store/metrics/sources.ts'
import type { Sql } from '../../store/postgres/db.ts'
import type { Source, SourceDescription } from '../contract.ts'
import { SourceFailure } from '../failure.ts'
import type { Sources } from '../open.ts'
import { storeDescription } from './description.ts'
import { recordFailure, recordSuccess } from './failure.ts'
import type { StoredSource } from './source.ts'

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
