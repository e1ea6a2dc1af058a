// A book condition as counts per series. The tree is evaluated for a series as a whole, in three values
// (all of its books match, none, or undecided). What the viewer has read is stored as counts per series
// (series_reading), so the books of a series fall into classes by reading state and the tree is
// evaluated once for each class; predicates on reading are constant in a class.
import type { Fragment } from 'postgres'
import { hidesBooks, type Viewer } from '../../../auth/viewer.ts'
import type { Queryable } from '../../../postgres/db.ts'
import { allOf, anyOf } from '../../../postgres/statement.ts'
import { type Condition, type Predicate, predicatesOf } from '../condition.ts'
import type { ReadStatus } from '../fields.ts'
import { type BookPredicate, beyondAgePredicate, bookPredicate } from './book-predicates.ts'
import { type PlanContext, toRarePredicate } from './series-sets.ts'

/**
 * `untouched`: no progress; `started`: progress at the beginning; `unread`: one of these two;
 * `opened`: progress beyond the beginning, not completed; `read`: completed.
 */
type ReadingClass = 'untouched' | 'started' | 'unread' | 'opened' | 'read'

const statusOfClass = {
  untouched: 'unread',
  started: 'unread',
  unread: 'unread',
  opened: 'in_progress',
  read: 'read',
} as const

/** A predicate that requests cannot express: only lists by reading time are made with it. */
export const hasProgress: Predicate = { field: 'progress', test: { kind: 'null' }, negated: true }

export type BookTree = {
  /** Columns to select from `series s`, in addition to its id and book_count. */
  columns: Fragment[]
  /** Join that `columns` need; empty if the condition has no predicate on reading. */
  join: Fragment
  /** Columns `match_count` and `is_undecided`, over `columns` of `scope f`. */
  counts: Fragment
  /** On `book b`: the condition, including the viewer's age limit. */
  exact: Fragment
  /** No series is undecided: `exact` reads nothing of a book but its id and series. */
  isDefinite: boolean
}

type Node = {
  definite: (readingClass: ReadingClass) => Fragment
  possible: (readingClass: ReadingClass) => Fragment
  exact: Fragment
}

export function compileBookTree(
  context: PlanContext,
  viewer: Viewer,
  condition: Condition,
): BookTree {
  const { sql } = context
  const predicates: BookPredicate[] = []
  const leaf = (predicate: BookPredicate): Node => {
    const i = predicates.push(predicate) - 1
    const { definite, possible, exact } = predicate
    const isDefinite = definite ? sql`f.${sql(`d${i}`)}` : sql`false`
    const mayMatch = possible ? sql`f.${sql(`p${i}`)}` : sql`true`
    const isPossible = possible && possible === definite ? isDefinite : mayMatch
    return { definite: () => isDefinite, possible: () => isPossible, exact }
  }
  const compile = (node: Condition): Node => {
    if ('all' in node) return combine(node.all.map(compile), parts => allOf(sql, parts))
    if ('any' in node) return combine(node.any.map(compile), parts => anyOf(sql, parts))
    const predicate = toRarePredicate(node)
    const positive = isAboutReading(predicate)
      ? readingNode(sql, viewer, predicate)
      : leaf(bookPredicate(context, predicate))
    return predicate.negated ? negate(sql, positive) : positive
  }
  const root = compile(condition)
  const hidden = hidesBooks(viewer) ? [negate(sql, leaf(beyondAgePredicate(sql, viewer)))] : []
  const tree = combine([...hidden, root], parts => allOf(sql, parts))
  const classes = classesOf(condition)
  const isDefinite = predicates.every(
    ({ definite, possible }) => definite !== null && definite === possible,
  )
  return {
    columns: [...readingColumns(sql, classes), ...setColumns(sql, predicates)],
    join:
      classes.length > 1
        ? sql`left join series_reading r on r.account_id = ${viewer.accountId} and r.series_id = s.id`
        : sql``,
    counts: countColumns(sql, { tree, classes, isDefinite }),
    exact: tree.exact,
    isDefinite,
  }
}

function combine(nodes: Node[], join: (parts: Fragment[]) => Fragment): Node {
  return {
    definite: readingClass => join(nodes.map(node => node.definite(readingClass))),
    possible: readingClass => join(nodes.map(node => node.possible(readingClass))),
    exact: join(nodes.map(node => node.exact)),
  }
}

function negate(sql: Queryable, { definite, possible, exact }: Node): Node {
  return {
    definite: readingClass => sql`(not ${possible(readingClass)})`,
    possible: readingClass => sql`(not ${definite(readingClass)})`,
    exact: sql`(not ${exact})`,
  }
}

function isAboutReading({ field }: Predicate): boolean {
  return field === 'readStatus' || field === hasProgress.field
}

function readingNode(sql: Queryable, { accountId }: Viewer, { test }: Predicate): Node {
  const own = sql`from progress p where p.account_id = ${accountId} and p.book_id = b.id`
  const constant = (holds: (readingClass: ReadingClass) => boolean) => {
    const value = (readingClass: ReadingClass) => (holds(readingClass) ? sql`true` : sql`false`)
    return { definite: value, possible: value }
  }
  if (test.kind !== 'status')
    return {
      ...constant(readingClass => readingClass === 'untouched'),
      exact: sql`((select true ${own}) is null)`,
    }
  const exact: Record<ReadStatus, Fragment> = {
    read: sql`((select p.is_completed ${own}) is true)`,
    in_progress: sql`((select not p.is_completed and p.current_page > 0 ${own}) is true)`,
    unread: sql`((select p.is_completed or p.current_page > 0 ${own}) is not true)`,
  }
  return {
    ...constant(readingClass => statusOfClass[readingClass] === test.status),
    exact: exact[test.status],
  }
}

/** The classes that a condition distinguishes; a single one if it has no predicate on reading. */
function classesOf(condition: Condition): ReadingClass[] {
  const predicates = predicatesOf(condition)
  if (predicates.some(({ field }) => field === hasProgress.field))
    return ['untouched', 'started', 'opened', 'read']
  return predicates.some(isAboutReading) ? ['unread', 'opened', 'read'] : ['unread']
}

function readingColumns(sql: Queryable, classes: ReadingClass[]): Fragment[] {
  if (classes.length === 1) return []
  const columns = {
    read: sql`coalesce(r.read_count, 0) as n_read`,
    opened: sql`coalesce(r.opened_count, 0) as n_opened`,
    started: sql`coalesce(r.started_count - r.opened_count, 0) as n_started`,
    untouched: sql`s.book_count - coalesce(r.read_count + r.started_count, 0) as n_untouched`,
    unread: sql`s.book_count - coalesce(r.read_count + r.opened_count, 0) as n_unread`,
  }
  return classes.map(readingClass => columns[readingClass])
}

function setColumns(sql: Queryable, predicates: BookPredicate[]): Fragment[] {
  const isIn = (set: Fragment, name: string) => sql`((s.id in (${set})) is true) as ${sql(name)}`
  return predicates.flatMap(({ definite, possible }, i) => [
    ...(definite ? [isIn(definite, `d${i}`)] : []),
    ...(possible && possible !== definite ? [isIn(possible, `p${i}`)] : []),
  ])
}

/** How many books of a series are known to match, and whether a class is undecided. */
function countColumns(
  sql: Queryable,
  { tree, classes, isDefinite }: { tree: Node; classes: ReadingClass[]; isDefinite: boolean },
): Fragment {
  const size = (readingClass: ReadingClass) =>
    classes.length > 1 ? sql`f.${sql(`n_${readingClass}`)}` : sql`f.book_count`
  const sums = classes.map(c => sql`case when ${tree.definite(c)} then ${size(c)} else 0 end`)
  const undecided = isDefinite
    ? []
    : classes.map(c => sql`(${size(c)} > 0 and ${tree.possible(c)} and not ${tree.definite(c)})`)
  return sql`${sums.reduce((a, b) => sql`${a} + ${b}`)} as match_count,
    ${anyOf(sql, undecided)} as is_undecided`
}
