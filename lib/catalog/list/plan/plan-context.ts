// What the SQL of predicates depends on, and sets of series ids.
import type { Fragment } from 'postgres'
import type { Viewer } from '../../../auth/viewer.ts'
import type { Queryable } from '../../../postgres/db.ts'
import type { LabelLookup } from './labels.ts'

export type PlanContext = {
  sql: Queryable
  viewer: Viewer
  labels: LabelLookup
  /** Missing books are listed, so series that have no other books count. */
  includesMissing?: boolean | undefined
  /** Few books are tested: their series are looked up rather than hashing a set of all that match. */
  isOfFew?: boolean
}

/** Ids of `series x` for which a test holds. */
export function seriesWhere(context: PlanContext, test: Fragment): Fragment {
  return context.sql`select x.id from series x where ${hasBooks(context)} and ${test}`
}

/** On `series x`: it is listed. */
export const hasBooks = ({ sql, includesMissing }: PlanContext) =>
  includesMissing ? sql`true` : sql`x.book_count > 0`
