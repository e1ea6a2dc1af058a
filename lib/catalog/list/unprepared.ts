// Statements whose shape or best plan depends on what is asked: planned anew each time, and not kept
// by the connection, whose memory would grow with every shape.
import type { PendingQuery, Row } from 'postgres'

/** The same query, sent without a name. */
export function oneOff<T extends readonly (object | undefined)[] = Row[]>(query: PendingQuery<T>) {
  // postgres.js reads this of every query, and has a way to set it for `unsafe` alone.
  ;(query as unknown as { options: { prepare?: boolean } }).options.prepare = false
  return query
}
