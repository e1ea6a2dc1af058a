// Predicates on books in three-valued form. Of the books of a series a predicate holds for all
// (`definite`), for none (not `possible`), or for some; only in the last case book rows are read (`exact`).
import type { Fragment } from 'postgres'
import { unrestrictedViewer } from '../../../auth/viewer.ts'
import { parseSearchQuery } from '../../../name/search-text.ts'
import type { Queryable } from '../../../postgres/db.ts'
import { allOf } from '../../../postgres/statement.ts'
import { creditRole } from '../../derived/author-key.ts'
import type { Predicate } from '../condition.ts'
import { bookColumnTest } from './book-columns.ts'
import { likePattern, textTest } from './operators.ts'
import { ownPredicate } from './own-rows.ts'
import { foldedPath, pathKey } from './path-rows.ts'
import type { PlanContext } from './plan-context.ts'
import { matchesQuery } from './search-match.ts'
import { labelSet, seriesSet } from './series-sets.ts'

export type BookPredicate = {
  /** Ids of the series all of whose books match; null if that is not known. */
  definite: Fragment | null
  /** Ids of the series some of whose books may match; null for any. The same object as `definite`: all or none. */
  possible: Fragment | null
  /** On `book b`: true or false, never null. */
  exact: Fragment
}

/** Fields that all books of a series have alike. */
const ofSeries = ['libraryId', 'seriesId', 'userRating', 'inCollection', 'oneShot']

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
  const own = ownPredicate(sql, context.viewer, predicate) ?? narrowedPredicate(context, predicate)
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

/** Predicates on books whose series are known, or that none or all of the present books meet; null for others. */
function narrowedPredicate(context: PlanContext, predicate: Predicate): BookPredicate | null {
  const { sql, labels, includesMissing } = context
  const { field, test } = predicate
  if (field === 'isMissing') {
    const none = sql`select x.id from series x where false`
    if (!includesMissing) return { definite: none, possible: none, exact: sql`false` }
    return { definite: null, possible: null, exact: sql`(b.missing_at is not null)` }
  }
  if (field === 'ownTag') {
    const has =
      test.kind === 'null'
        ? sql`b.tags <> '{}'`
        : sql`b.tags && ${labels(predicate).spellings}::text[]`
    const possible = includesMissing ? null : labelSet(context, predicate, 'any')
    return { definite: null, possible, exact: sql`(${has})` }
  }
  if (test.kind === 'credit') {
    // Of all books: the rows of the predicate are the same for all viewers.
    const viewer = unrestrictedViewer(context.viewer.accountId)
    const possible = includesMissing ? null : seriesSet({ ...context, viewer }, predicate)
    return { definite: null, possible, exact: creditTest(sql, test) }
  }
  return null
}

type CreditTest = Extract<Predicate['test'], { kind: 'credit' }>

function creditTest(sql: Queryable, { operator, name, role }: CreditTest): Fragment {
  const isNamed = textTest(sql, sql`folded(a->>'name')`, {
    ...{ kind: 'text', operator, value: name ?? '' },
  })
  return sql`exists (
    select from jsonb_array_elements(b.authors) a
    where ${allOf(sql, [
      ...(name === null ? [] : [isNamed]),
      ...(role === null ? [] : [sql`${creditRole(sql)} = ${role}`]),
    ])})`
}

function posterTest(sql: Queryable, test: Predicate['test']): Fragment {
  if (test.kind !== 'poster') return sql`false`
  const { source, isSelected } = test
  const isGenerated = sql`(
    (select a.cover is not null from book_artifact a where a.book_id = b.id) is true
    and ${isSelected === null ? sql`true` : sql`(b.custom_cover is null) = ${isSelected}`})`
  const isUploaded = sql`exists (
    select from cover c
    where c.book_id = b.id
      and ${isSelected === null ? sql`true` : sql`c.is_selected = ${isSelected}`})`
  if (source === 'generated') return isGenerated
  return source === 'uploaded' ? isUploaded : sql`(${isGenerated} or ${isUploaded})`
}

function searchTest(sql: Queryable, test: Predicate['test']): Fragment {
  const search = test.kind === 'text' ? parseSearchQuery(test.value) : null
  if (!search) return sql`false`
  return sql`(select ${matchesQuery(sql, search)} from book_search t where t.book_id = b.id)`
}

function rowTest(sql: Queryable, predicate: Predicate): Fragment {
  const { field, test } = predicate
  if (field === 'hasError') return sql`b.error_code is not null`
  if (field === 'path') return pathTest(sql, test)
  if (field === 'poster') return posterTest(sql, test)
  if (field === 'text') return searchTest(sql, test)
  return bookColumnTest(sql, predicate, 'b')!.test
}

function pathTest(sql: Queryable, test: Predicate['test']): Fragment {
  if (test.kind !== 'text') return sql`false`
  const path = sql`d.path || case when d.path = '' then '' else '/' end::bytea || b.name`
  return sql`(
    select ${foldedPath(sql, path)} like ${likePattern(pathKey(test.value), test.operator)}
    from directory d where d.id = b.directory_id)`
}
