// Composing SQL fragments, and statements that are not prepared.
import type { Fragment, PendingQuery, Row } from 'postgres'
import type { Queryable } from './db.ts'

/** `(a and b …)`; `true` for an empty list. */
export function allOf(sql: Queryable, parts: Fragment[]): Fragment {
  if (parts.length === 0) return sql`true`
  return sql`(${parts.reduce((left, right) => sql`${left} and ${right}`)})`
}

/** `(a or b …)`; `false` for an empty list. */
export function anyOf(sql: Queryable, parts: Fragment[]): Fragment {
  if (parts.length === 0) return sql`false`
  return sql`(${parts.reduce((left, right) => sql`${left} or ${right}`)})`
}

/** `a, b …` of at least one part. */
export function commaList(sql: Queryable, parts: Fragment[]): Fragment {
  return parts.reduce((left, right) => sql`${left}, ${right}`)
}

/** `a union all b …` of at least one part. */
export function unionAll(sql: Queryable, parts: Fragment[]): Fragment {
  return parts.reduce((left, right) => sql`${left} union all ${right}`)
}

/**
 * The same query as an unnamed statement. For statements whose text or best plan depends on the
 * request: they are planned with their values, and the connection does not cache one for each text,
 * which would let its memory grow.
 */
export function unprepared<T extends readonly (object | undefined)[] = Row[]>(
  query: PendingQuery<T>,
) {
  // postgres.js reads this option of every query, but lets only `unsafe` set it.
  ;(query as unknown as { options: { prepare?: boolean } }).options.prepare = false
  return query
}
