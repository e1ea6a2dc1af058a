// Sends the writes of the reading model to the ledger and returns the stored state in the model's form.
import { unrestrictedViewer, type Viewer } from '../../lib/accounts/viewer.ts'
import { recordReading, recordSessions } from '../../lib/reading/record.ts'
import { readingStatistics } from '../../lib/reading/statistics.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { Random } from './random.ts'
import type { ModelBook, ModelWrite, Sitting } from './reading-model.ts'

/** In this order; sessions that follow each other and have the same time of the server may be one request. */
export async function replay(
  sql: Sql,
  viewer: Viewer,
  random: Random,
  writes: readonly ModelWrite[],
): Promise<void> {
  for (let i = 0; i < writes.length; ) {
    const write = writes[i]!
    const now = new Date(write.now)
    const device = { key: write.device, name: null }
    i += 1
    if (write.kind === 'position') {
      const at = new Date(write.endedAt)
      const position = { bookId: write.bookId, currentPage: write.page!, at }
      await recordReading(sql, viewer, { surface: 'koreader', device }, position, { now })
      continue
    }
    const batch = [write]
    // The time of the server matters only for a clock that is ahead.
    while (i < writes.length && random.chance(0.6)) {
      const next = writes[i]!
      const isTimely = [...batch, next].every(({ endedAt, now: at }) => endedAt <= at)
      if (next.kind === 'position' || !isTimely || batch.some(({ id }) => id === next.id)) break
      batch.push(next)
      i += 1
    }
    const latest = new Date(Math.max(...batch.map(one => one.now)))
    await recordSessions(sql, viewer, batch.map(toSession), { now: latest })
  }
}

function toSession(write: ModelWrite) {
  const { id, bookId, kind, measuredMs, pagesRead, page } = write
  return {
    ...{ id, bookId, measuredMs, pagesRead },
    kind: kind as 'progress' | 'completed' | 'reset',
    device: { key: write.device, name: null },
    startedAt: new Date(write.startedAt),
    endedAt: new Date(write.endedAt),
    position: page === null ? null : { currentPage: page },
  }
}

/** The summary of the statistics over all time. */
export async function storedTotals(sql: Sql, accountId: string) {
  return (await storedStatistics(sql, accountId)).summary
}

/** The statistics over all time, by days of UTC. */
export async function storedStatistics(sql: Sql, accountId: string) {
  return await readingStatistics(sql, unrestrictedViewer(accountId), {
    ...{ from: new Date(0), to: new Date('2100-01-01'), granularity: 'day', timeZone: 'UTC' },
    ...{ sort: 'time', seriesLimit: 50, fill: false },
  })
}

export async function storedReading(sql: Sql, accountId: string): Promise<ModelBook[]> {
  const books = await sql<{ bookId: string }[]>`
    select distinct book_id as "bookId" from reading_session where account_id = ${accountId}
    order by book_id`
  const ms = (column: string) => sql`(extract(epoch from ${sql(column)}) * 1000)::float8`
  const positions = await sql<(ModelBook['position'] & { bookId: string })[]>`
    select book_id as "bookId", current_page as page, is_completed as "isCompleted",
      ${ms('updated_at')} as at, ${ms('started_at')} as "startedAt"
    from progress where account_id = ${accountId}`
  const passes = await sql<{ bookId: string; from: number; to: number }[]>`
    select book_id as "bookId", ${ms('started_at')} as from, ${ms('completed_at')} as to
    from reading_pass where account_id = ${accountId} order by completed_at`
  const sittings = await sql<(Sitting & { bookId: string })[]>`
    select book_id as "bookId", d.key as device, ${ms('started_at')} as from,
      ${ms('ended_at')} as to, measured_ms as measured, inferred_ms as inferred,
      is_part as "isPart"
    from reading_session r join reading_device d on d.id = r.device
    where r.account_id = ${accountId} and r.kind in ('progress', 'completed')
    order by r.started_at, r.ended_at, d.key`
  const ofBook = <T extends { bookId: string }>(rows: readonly T[], id: string) =>
    rows.filter(({ bookId }) => bookId === id).map(({ bookId: _, ...row }) => row)
  return books.map(({ bookId }) => ({
    bookId,
    position: ofBook(positions, bookId)[0] ?? null,
    passes: ofBook(passes, bookId),
    sittings: ofBook(sittings, bookId),
  })) as unknown as ModelBook[]
}
