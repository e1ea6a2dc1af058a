// Comparison of what event stream clients received with the event table: exactly once, no resync.
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { Listener } from '../fleet/listener.ts'

/** The number of the newest event. */
export async function lastEvent(sql: Sql): Promise<number> {
  const [row] = await sql<{ tail: number }[]>`select coalesce(max(number), 0) as tail from event`
  return row!.tail
}

/** Waits for the clients to catch up; returns the number of events and the clients that differ. */
export async function compareEvents(sql: Sql, listeners: readonly Listener[], from: number) {
  const rows = await sql<{ count: number }[]>`
    select coalesce(sum(count), 0)::integer as count
    from event
    where stream = 'entity' and account_id is null and number > ${from}`
  const { count } = rows[0]!
  const own = (seen: Listener['seen']) => seen.count - (seen.byType.progress_updated ?? 0)
  const wrong = listeners.filter(
    ({ seen }) => own(seen) !== count || seen.twice > 0 || seen.resyncs > 0,
  )
  return {
    events: count,
    clients: listeners.length,
    exactlyOnce: listeners.length - wrong.length,
    wrong: wrong.slice(0, 3).map(({ seen }) => seen),
  }
}
