// Predicates on books in three-valued form. Of the books of a series a predicate holds for all
// (`definite`), for none (not `possible`), or for some; only in the last case book rows are read (`exact`).
import type { Fragment } from 'postgres'
import type { Queryable } from '../../../postgres/db.ts'
import type { Predicate } from '../condition.ts'
import { bookColumnTest } from './book-columns.ts'
import { likePattern } from './operators.ts'
import { ownPredicate } from './own-rows.ts'
import { escapedPath, foldedPath } from './path-rows.ts'
import { labelSet, type PlanContext, seriesSet } from './series-sets.ts'

export type BookPredicate = {
  /** Ids of the series all of whose books match; null if that is not known. */
  definite: Fragment | null
  /** Ids of the series some of whose books may match; null for any. The same object as `definite`: all or none. */
  possible: Fragment | null
  /** On `book b`: true or false, never null. */
  exact: Fragment
}

/** Fields that all books of a series have alike. */
const ofSeries = ['libraryId', 'seriesId', 'userRating', 'inCollection']

/** The positive form of a predicate on anything but the read status. */
export function bookPredicate(context: PlanContext, predicate: Predicate): BookPredicate {
  const { sql } = context
  const { field, test } = predicate
  if (ofSeries.includes(field)) {
    if (test.kind === 'null' && field !== 'userRating') {
      const none = sql`select x.id from series x where false`
      return { definite: none, possible: none, exact: sql`false` }
    }
    const set = seriesSet(context, predicate)
    return { definite: set, possible: set, exact: inSeriesSet(context, set) }
  }
  if (field === 'genre' || field === 'tag') return labelPredicate(context, predicate)
  const own = ownPredicate(sql, context.viewer, predicate)
  if (own) return own
  return { definite: null, possible: null, exact: sql`((${rowTest(sql, predicate)}) is true)` }
}

// `in … is true` keeps the set a hashed subplan instead of a join, so that walked rows keep their order.
function inSeriesSet({ sql, isOfFew }: PlanContext, set: Fragment): Fragment {
  if (isOfFew)
    return sql`((select true from (${set}) as m(id) where m.id = b.series_id limit 1) is true)`
  return sql`((b.series_id in (${set})) is true)`
}

/** A book has the labels of its series and its own. */
function labelPredicate(context: PlanContext, predicate: Predicate): BookPredicate {
  const { sql, labels } = context
  const own = labelSet(context, predicate, 'own')
  const any = labelSet(context, predicate, 'any')
  const column = predicate.field === 'genre' ? sql`b.genres` : sql`b.tags`
  if (predicate.test.kind === 'null') {
    return {
      definite: own,
      possible: any,
      exact: sql`(${inSeriesSet(context, own)} or ${column} <> '{}')`,
    }
  }
  const { spellings, isPartial } = labels(predicate)
  // The labels of a series were collected from its present books only.
  if (!isPartial && !context.includesMissing)
    return { definite: own, possible: own, exact: inSeriesSet(context, own) }
  return {
    definite: own,
    possible: any,
    exact: sql`(${inSeriesSet(context, own)} or ${column} && ${spellings}::text[])`,
  }
}

function rowTest(sql: Queryable, predicate: Predicate): Fragment {
  const { field, test } = predicate
  if (field === 'hasError') return sql`b.error_code is not null`
  if (field === 'path') return pathTest(sql, test)
  return bookColumnTest(sql, predicate, 'b')!.test
}

function pathTest(sql: Queryable, test: Predicate['test']): Fragment {
  if (test.kind !== 'text') return sql`false`
  const path = sql`d.path || case when d.path = '' then '' else '/' end::bytea || b.name`
  return sql`(
    select ${foldedPath(sql, path)} like ${likePattern(escapedPath(test.value), test.operator)}
    from directory d where d.id = b.directory_id)`
}
