// A book condition as counts per series. The tree is evaluated for a series as a whole, in three values
// (all of its books match, none, or undecided). What the viewer has read is stored as counts per series
// (series_reading), so the books of a series fall into classes by reading state and the tree is
// evaluated once for each class; predicates on reading are constant in a class. Books that an age limit
// hides are in no class. Where the matching books of the other predicates are collected (hit-sets.ts), all
// books of a series that are in no set are alike.
import type { Fragment } from 'postgres'
import { beyondAge, hidesBooks, type Viewer } from '../../../auth/viewer.ts'
import type { Queryable } from '../../../postgres/db.ts'
import { allOf, anyOf } from '../../../postgres/statement.ts'
import { type Condition, type Predicate, predicatesOf } from '../condition.ts'
import type { ReadStatus } from '../fields.ts'
import { type BookPredicate, bookPredicate } from './book-predicates.ts'
import type { HitSets } from './hit-sets.ts'
import type { PlanContext } from './plan-context.ts'
import { type ClassSizes, classColumns, type ReadingClass } from './reading-classes.ts'
import { type RowSource, rowSource, rowsBeyondAge } from './row-sources.ts'
import { toRarePredicate } from './series-sets.ts'

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
  /** Joins that `columns` need. */
  join: Fragment
  /** Columns `match_count` and `is_undecided`, over `columns` of `scope f`. */
  counts: Fragment
  /** On `book b`: the condition, including the viewer's age limit. */
  exact: Fragment
  /** `exact` reads nothing of a book but its id and series. */
  isDefinite: boolean
  /** Sets of books, each a query of `id` and `series_id`, which the rest refers to as `h0`, `h1`… */
  hits: Fragment[]
  /**
   * With `scope f` and the booleans `t.h0`, `t.h1`…: whether a book in these sets and no other matches.
   * Null if some predicate is neither about series nor a set, or is about reading.
   */
  holdsFor: ((isIn: (set: number) => Fragment) => Fragment) | null
  /** In an undecided series those books match that have a row (`series_id`) here, or the others. */
  single: { rows: Fragment; isNegated: boolean } | null
  /** Predicates that hold for every matching book. */
  required: Predicate[]
}

type Node = {
  definite: (readingClass: ReadingClass) => Fragment
  possible: (readingClass: ReadingClass) => Fragment
  holdsFor: (isIn: (set: number) => Fragment) => Fragment
  exact: Fragment
}

/** The predicates of a condition that may become hit sets, for `compileBookTree`. */
export function rowSources(
  sql: Queryable,
  viewer: Viewer,
  condition: Condition,
): Map<string, RowSource> {
  const sources = new Map<string, RowSource>()
  if (hidesBooks(viewer)) sources.set(ageKey, rowsBeyondAge(sql, viewer))
  for (const predicate of predicatesOf(condition).map(toRarePredicate)) {
    const source = rowSource(sql, viewer, predicate)
    if (source) sources.set(keyOf(predicate), source)
  }
  return sources
}

const ageKey = 'age'
const keyOf = ({ field, test }: Predicate) => JSON.stringify([field, test])

export function compileBookTree(
  context: PlanContext & { hitSets: HitSets },
  viewer: Viewer,
  condition: Condition,
): BookTree {
  const { sql } = context
  const predicates: BookPredicate[] = []
  const hits = new Map<string, { node: Node; rows: Fragment }>()
  const leaf = (predicate: BookPredicate): Node => {
    const i = predicates.push(predicate) - 1
    const { definite, possible, exact } = predicate
    const isDefinite = definite ? sql`f.${sql(`d${i}`)}` : sql`false`
    const mayMatch = possible ? sql`f.${sql(`p${i}`)}` : sql`true`
    const isPossible = possible && possible === definite ? isDefinite : mayMatch
    return {
      definite: () => isDefinite,
      possible: () => isPossible,
      holdsFor: () => isDefinite,
      exact,
    }
  }
  const hitLeaf = (key: string): Node | null => {
    const set = context.hitSets.get(key)
    if (!set) return null
    const { node, rows } = hits.get(key) ?? { node: hitNode(hits.size), rows: set.rows }
    hits.set(key, { node, rows })
    return set.isNegated ? negate(sql, node) : node
  }
  const hitNode = (i: number): Node => ({
    ...leaf({
      definite: null,
      possible: sql`select series_id from ${sql(`h${i}`)}`,
      exact: sql`((b.id in (select id from ${sql(`h${i}`)})) is true)`,
    }),
    holdsFor: isIn => isIn(i),
  })
  const compile = (node: Condition): Node => {
    if ('all' in node) return combine(node.all.map(compile), parts => allOf(sql, parts))
    if ('any' in node) return combine(node.any.map(compile), parts => anyOf(sql, parts))
    const predicate = toRarePredicate(node)
    const positive = isAboutReading(predicate)
      ? readingNode(sql, viewer, predicate)
      : (hitLeaf(keyOf(predicate)) ?? leaf(bookPredicate(context, predicate)))
    return predicate.negated ? negate(sql, positive) : positive
  }
  const root = compile(condition)
  const own = [...predicates]
  const hidden = hidesBooks(viewer)
    ? [negate(sql, hitLeaf(ageKey) ?? leaf(ageTest(sql, viewer)))]
    : []
  const tree = combine([...hidden, root], parts => allOf(sql, parts))
  const isWhole = ({ definite, possible }: BookPredicate) =>
    definite !== null && definite === possible
  const wholeCount = predicates.filter(isWhole).length
  const reading = readingOf(condition)
  const isCounted = reading.length === 0 && wholeCount + hits.size === predicates.length
  const hasSingle = reading.length === 0 && hits.size === 0 && wholeCount === predicates.length - 1
  const classes = classColumns(sql, viewer, {
    classes: reading,
    hidesBooks: hidden.length > 0 && !isCounted,
    hidden: context.hitSets.has(ageKey)
      ? sql`select id, series_id from ${sql(`h${hits.size - 1}`)}`
      : null,
  })
  const single = hasSingle && hidden.length === 0 ? singleOf(sql, viewer, condition) : null
  return {
    columns: [...classes.columns, ...setColumns(sql, own, isCounted)],
    join: classes.join,
    counts: countColumns(sql, { root, classes: classes.sizes, isDefinite: own.every(isWhole) }),
    exact: tree.exact,
    isDefinite: wholeCount + hits.size === predicates.length,
    hits: [...hits.values()].map(({ rows }) => rows),
    holdsFor: isCounted ? tree.holdsFor : null,
    single,
    required: requiredOf(condition),
  }
}

/** The only predicate with rows of its own. */
function singleOf(sql: Queryable, viewer: Viewer, condition: Condition): BookTree['single'] {
  const found = predicatesOf(condition)
    .map(toRarePredicate)
    .flatMap(predicate => {
      const source = rowSource(sql, viewer, predicate)
      if (!source) return []
      // Only columns that are not null are in indexes of their own.
      const { holds, fails } = source
      const { test, negated } = predicate
      const isNullTest = test.kind === 'null' && fails
      return [
        isNullTest ? { rows: fails, isNegated: !negated } : { rows: holds, isNegated: negated },
      ]
    })
  return found.length === 1 ? found[0]! : null
}

function requiredOf(condition: Condition): Predicate[] {
  if ('all' in condition) return condition.all.flatMap(requiredOf)
  return 'any' in condition || condition.negated ? [] : [condition]
}

function ageTest(sql: Queryable, viewer: Viewer): BookPredicate {
  return {
    definite: null,
    possible: null,
    exact: sql`((${beyondAge(sql, viewer)}) is true)`,
  }
}

function combine(nodes: Node[], join: (parts: Fragment[]) => Fragment): Node {
  return {
    definite: readingClass => join(nodes.map(node => node.definite(readingClass))),
    possible: readingClass => join(nodes.map(node => node.possible(readingClass))),
    holdsFor: isIn => join(nodes.map(node => node.holdsFor(isIn))),
    exact: join(nodes.map(node => node.exact)),
  }
}

function negate(sql: Queryable, { definite, possible, holdsFor, exact }: Node): Node {
  return {
    definite: readingClass => sql`(not ${possible(readingClass)})`,
    possible: readingClass => sql`(not ${definite(readingClass)})`,
    holdsFor: isIn => sql`(not ${holdsFor(isIn)})`,
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
    // Conditions on reading are counted by class, not by set.
    return { definite: value, possible: value, holdsFor: () => sql`false` }
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

/** The classes that a condition distinguishes; none if it has no predicate on reading. */
function readingOf(condition: Condition): ReadingClass[] {
  const predicates = predicatesOf(condition)
  if (predicates.some(({ field }) => field === hasProgress.field))
    return ['untouched', 'started', 'opened', 'read']
  return predicates.some(isAboutReading) ? ['unread', 'opened', 'read'] : []
}

/** `onlyWhole`: without those that say which series may match. */
function setColumns(sql: Queryable, predicates: BookPredicate[], onlyWhole: boolean): Fragment[] {
  const isIn = (set: Fragment, name: string) => sql`((s.id in (${set})) is true) as ${sql(name)}`
  return predicates.flatMap(({ definite, possible }, i) => [
    ...(definite ? [isIn(definite, `d${i}`)] : []),
    ...(possible && possible !== definite && !onlyWhole ? [isIn(possible, `p${i}`)] : []),
  ])
}

/** How many books of a series are known to match, and whether a class is undecided. */
function countColumns(
  sql: Queryable,
  { root, classes, isDefinite }: { root: Node; classes: ClassSizes; isDefinite: boolean },
): Fragment {
  const sums = classes.map(
    ([c, size]) => sql`case when ${root.definite(c)} then ${size} else 0 end`,
  )
  const undecided = isDefinite
    ? []
    : classes.map(
        ([c, size]) => sql`(${size} > 0 and ${root.possible(c)} and not ${root.definite(c)})`,
      )
  return sql`${sums.reduce((a, b) => sql`${a} + ${b}`)} as match_count,
    ${anyOf(sql, undecided)} as is_undecided`
}
