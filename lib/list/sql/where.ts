// A condition as SQL: the tree as `and`, `or` and `not` over the predicates that fields define.
import type { Fragment } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { allOf, anyOf } from '../../store/postgres/statement.ts'
import type { Condition, Predicate } from '../condition.ts'

export type Context = {
  sql: Queryable
  viewer: Viewer
  /** Missing rows are listed, too. */
  includesMissing?: boolean | undefined
  /** Few rows are tested: they are looked up in the sets of others, which are not made. */
  isOfFew?: boolean
}

/**
 * Rows for which the positive form of a predicate holds: those with these ids, the books of these series, and those
 * that meet a test of the row. All other rows if `isNegated`.
 */
export type Match = { ids?: Fragment; series?: Fragment; test?: Fragment; isNegated?: boolean }

/** `match` of a flag that is true, as a flag of the value of the test. */
export function flag(test: Predicate['test'], match: Match): Match {
  return test.kind === 'boolean' && !test.value ? { ...match, isNegated: true } : match
}

/** `match` of rows that have any value: a test for null is for those without one. */
export function existing(test: Predicate['test'], match: Match): Match {
  return test.kind === 'null' ? { ...match, isNegated: true } : match
}

/** On `book b` or `series s`: null counts as false. */
export function where(
  context: Context,
  { row, matchOf }: { row: 'b' | 's'; matchOf: (context: Context, predicate: Predicate) => Match },
  condition: Condition,
): Fragment {
  const { sql } = context
  const parts = (list: Condition[]) => list.map(part => where(context, { row, matchOf }, part))
  if ('all' in condition) return allOf(sql, parts(condition.all))
  if ('any' in condition) return anyOf(sql, parts(condition.any))
  const match = matchOf(context, condition)
  const holds = holdsFor(context, row, match)
  return condition.negated === (match.isNegated ?? false) ? holds : sql`(${holds}) is not true`
}

function holdsFor(context: Context, row: 'b' | 's', { ids, series, test }: Match): Fragment {
  const { sql } = context
  const own = row === 'b' ? sql`b.id` : sql`s.id`
  const found = [
    ...(test ? [test] : []),
    ...(series ? [isIn(context, sql`b.series_id`, series)] : []),
    ...(ids ? [isIn(context, own, ids)] : []),
  ]
  return found.length === 1 ? found[0]! : anyOf(sql, found)
}

const isIn = ({ sql, isOfFew }: Context, id: Fragment, ids: Fragment) =>
  isOfFew
    ? sql`(select true from (${ids}) as m(id) where m.id = ${id} limit 1)`
    : sql`${id} in (${ids})`
