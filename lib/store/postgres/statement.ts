// Composes SQL fragments, and runs statements unprepared.
import type { Fragment, PendingQuery, Row } from 'postgres'
import type { Queryable } from './db.ts'

/** `(a and b …)`; `true` for an empty list. */
export function allOf(sql: Queryable, parts: Fragment[]): Fragment {
  return parts.length === 0 ? sql`true` : joined(sql, parts, ['(', ' and ', ')'])
}

/** `(a or b …)`; `false` for an empty list. */
export function anyOf(sql: Queryable, parts: Fragment[]): Fragment {
  return parts.length === 0 ? sql`false` : joined(sql, parts, ['(', ' or ', ')'])
}

/** `a, b …` from at least one part. */
export function commaList(sql: Queryable, parts: Fragment[]): Fragment {
  return joined(sql, parts, ['', ', ', ''])
}

/** `a union all b …` from at least one part. */
export function unionAll(sql: Queryable, parts: Fragment[]): Fragment {
  return joined(sql, parts, ['', ' union all ', ''])
}

type Joiner = readonly [before: string, between: string, after: string]

// postgres.js remembers every template it has seen, so they are reused.
const templates = new Map<string, TemplateStringsArray>()

/**
 * One flat fragment for the whole list: deeply nested pairs would block the process while they are built and
 * sent.
 */
function joined(sql: Queryable, parts: Fragment[], joiner: Joiner): Fragment {
  const [before, between, after] = joiner
  const key = `${parts.length}${between}`
  let template = templates.get(key)
  if (!template) {
    const strings = [before, ...Array<string>(parts.length - 1).fill(between), after]
    template = Object.assign(strings, { raw: strings })
    templates.set(key, template)
  }
  return sql(template, ...parts)
}

/**
 * The same query as an unnamed statement, for statements whose text or best plan depends on the request: they
 * are planned with their values, and connections do not cache each variant, which would make their memory
 * grow.
 */
export function unprepared<T extends readonly (object | undefined)[] = Row[]>(
  query: PendingQuery<T>,
) {
  // postgres.js reads this option for every query, but only lets `unsafe` set it.
  ;(query as unknown as { options: { prepare?: boolean } }).options.prepare = false
  return query
}
