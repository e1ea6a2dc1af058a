// A list of books as SQL. For every series it is told from indexes how many of its books belong to
// the list (`n`), or that only its books can tell (`is_open`). What a viewer has read of a series is
// known by count (series_reading), so conditions on it need no look at the books either: the books
// of a series fall into four classes, and the condition is worked out for each class.
import type { Fragment, Sql } from 'postgres'
import { seesSeries, type Viewer } from '../../auth/viewer.ts'
import { planWithinAge } from './book-plan-age.ts'
import type { BookFilter, Condition, Leaf } from './filter.ts'
import { type BookTest, beyondAge, bookTest } from './filter-books.ts'
import type { ReadStatus } from './filter-fields.ts'
import { findLabels, leavesOf } from './filter-labels.ts'
import { type SetScope, upright } from './filter-series.ts'
import { commas, every, some } from './filter-sql.ts'

export type BooksWanted = {
  filter: BookFilter | null
  libraryId?: string | undefined
  seriesId?: string | undefined
  includeDeleted?: boolean | undefined
}

export type BookPlan = {
  /** `facts` (series that may be looked into; there if missing books are) and `m` (those with books of the list), after `with`. */
  ctes: Fragment
  /** On `book b` of a series in `facts`: belongs to the list. */
  exact: Fragment
  /** `exact` reads other columns of the book than its id and series. */
  readsRow: boolean
  /** How many books belong to the list, where `m` does not say it of each series. */
  total?: Fragment
}

/** `none`: no progress; `begun`: at its start; `opened`: beyond; `new`: one of the first two. */
type Class = 'none' | 'begun' | 'new' | 'opened' | 'read'

const statusOf = {
  none: 'unread',
  begun: 'unread',
  new: 'unread',
  opened: 'in_progress',
  read: 'read',
} as const

/** A test that only lists by date of reading make. */
export const hasProgress: Leaf = { field: 'progress', test: { is: 'null' }, negated: true }

/** `withKeys`: `m` has `sort_key`, too. */
export async function planBooks(
  sql: Sql,
  viewer: Viewer,
  wanted: BooksWanted & { withKeys?: boolean },
): Promise<BookPlan> {
  const where = every(sql, restrictions(sql, viewer, wanted))
  if (viewer.ageLimit !== null && !wanted.filter && !wanted.includeDeleted)
    return await planWithinAge(sql, viewer, { where, withKeys: wanted.withKeys })
  const labels = await findLabels(sql, wanted.filter)
  const scope = { sql, labels, includesEmpty: wanted.includeDeleted }
  const condition = wanted.filter?.condition ?? { all: [] }
  const tree = resolve(scope, viewer, condition)
  const all = classesOf(condition)
  const columns = tree.parts.flatMap(({ sure, maybe }, i) => [
    ...(sure ? [sql`((s.id in (${sure})) is true) as ${sql(`s${i}`)}`] : []),
    ...(maybe && maybe !== sure ? [sql`((s.id in (${maybe})) is true) as ${sql(`m${i}`)}`] : []),
  ])
  const reading =
    all.length > 1
      ? sql`left join series_reading r on r.account_id = ${viewer.accountId} and r.series_id = s.id`
      : sql``
  const kept = wanted.withKeys ? sql`id, sort_key, book_count` : sql`id, book_count`
  const ctes = sql`
    facts as materialized (
      select ${commas(sql, [
        sql`s.id, s.book_count`,
        ...(wanted.withKeys ? [sql`s.sort_key`] : []),
        ...readingColumns(sql, all),
        ...columns,
      ])}
      from series s ${reading}
      where ${where}
    ), m as materialized (
      select ${kept}, n, is_open, n = book_count and not is_open as is_whole
      from (select ${kept}, ${counted(sql, tree, all)} from facts f offset 0) c
      where n > 0 or is_open
    )`
  return { ctes, exact: tree.exact, readsRow: !isDefinite(tree) }
}

function restrictions(sql: Sql, viewer: Viewer, wanted: BooksWanted): Fragment[] {
  return [
    seesSeries(sql, viewer),
    ...(wanted.includeDeleted ? [] : [sql`s.book_count > 0`]),
    ...(wanted.libraryId ? [sql`s.library_id = ${wanted.libraryId}`] : []),
    ...(wanted.seriesId ? [sql`s.id = ${wanted.seriesId}`] : []),
  ]
}

type Tree = {
  parts: BookTest[]
  sure: (of: Class) => Fragment
  maybe: (of: Class) => Fragment
  exact: Fragment
}

type Node = Omit<Tree, 'parts'>

function resolve(scope: SetScope & { sql: Sql }, viewer: Viewer, condition: Condition): Tree {
  const { sql } = scope
  const parts: BookTest[] = []
  const part = (test: BookTest): Node => {
    const i = parts.push(test) - 1
    const sure = test.sure ? sql`f.${sql(`s${i}`)}` : sql`false`
    const apart = test.maybe ? sql`f.${sql(`m${i}`)}` : sql`true`
    const maybe = test.maybe && test.maybe === test.sure ? sure : apart
    return { sure: () => sure, maybe: () => maybe, exact: test.exact }
  }
  const node = (given: Condition): Node => {
    if ('all' in given) return join(given.all.map(node), nodes => every(sql, nodes))
    if ('any' in given) return join(given.any.map(node), nodes => some(sql, nodes))
    const leaf = upright(given)
    const positive = isReading(leaf) ? readingNode(sql, viewer, leaf) : part(bookTest(scope, leaf))
    return leaf.negated ? opposite(sql, positive) : positive
  }
  const own = node(condition)
  const limit = viewer.ageLimit
  const seen = limit === null ? [] : [opposite(sql, part(beyondAge(sql, limit)))]
  return { parts, ...join([...seen, own], nodes => every(sql, nodes)) }
}

function join(nodes: Node[], by: (parts: Fragment[]) => Fragment): Node {
  return {
    sure: of => by(nodes.map(node => node.sure(of))),
    maybe: of => by(nodes.map(node => node.maybe(of))),
    exact: by(nodes.map(node => node.exact)),
  }
}

function opposite(sql: Sql, { sure, maybe, exact }: Node): Node {
  return {
    sure: of => sql`(not ${maybe(of)})`,
    maybe: of => sql`(not ${sure(of)})`,
    exact: sql`(not ${exact})`,
  }
}

const isReading = ({ field }: Leaf) => field === 'readStatus' || field === hasProgress.field

function readingNode(sql: Sql, { accountId }: Viewer, { test }: Leaf): Node {
  const mine = sql`from progress p where p.account_id = ${accountId} and p.book_id = b.id`
  const constant = (holds: (of: Class) => boolean) => (of: Class) =>
    holds(of) ? sql`true` : sql`false`
  if (test.is !== 'status') {
    const none = constant(of => of === 'none')
    return { sure: none, maybe: none, exact: sql`((select true ${mine}) is null)` }
  }
  const is = constant(of => statusOf[of] === test.status)
  const exact: Record<ReadStatus, Fragment> = {
    read: sql`((select p.is_completed ${mine}) is true)`,
    in_progress: sql`((select not p.is_completed and p.current_page > 0 ${mine}) is true)`,
    unread: sql`((select p.is_completed or p.current_page > 0 ${mine}) is not true)`,
  }
  return { sure: is, maybe: is, exact: exact[test.status] }
}

/** The classes that a condition tells apart; one when it asks nothing about reading. */
function classesOf(condition: Condition): Class[] {
  const leaves = leavesOf(condition)
  if (leaves.some(leaf => leaf.field === hasProgress.field))
    return ['none', 'begun', 'opened', 'read']
  return leaves.some(isReading) ? ['new', 'opened', 'read'] : ['new']
}

function readingColumns(sql: Sql, all: Class[]): Fragment[] {
  if (all.length === 1) return []
  const columns = {
    read: sql`coalesce(r.read_count, 0) as n_read`,
    opened: sql`coalesce(r.opened_count, 0) as n_opened`,
    begun: sql`coalesce(r.started_count - r.opened_count, 0) as n_begun`,
    none: sql`s.book_count - coalesce(r.read_count + r.started_count, 0) as n_none`,
    new: sql`s.book_count - coalesce(r.read_count + r.opened_count, 0) as n_new`,
  }
  return all.map(of => columns[of])
}

/** Every series tells of each class whether its books belong to the list. */
function isDefinite({ parts }: Tree): boolean {
  return parts.every(part => part.sure !== null && part.sure === part.maybe)
}

/** Books of the list in a series, and whether a class is undecided. */
function counted(sql: Sql, tree: Tree, all: Class[]): Fragment {
  const many = (of: Class) => (all.length > 1 ? sql`f.${sql(`n_${of}`)}` : sql`f.book_count`)
  const sums = all.map(of => sql`case when ${tree.sure(of)} then ${many(of)} else 0 end`)
  const open = isDefinite(tree)
    ? []
    : all.map(of => sql`(${many(of)} > 0 and ${tree.maybe(of)} and not ${tree.sure(of)})`)
  return sql`${sums.reduce((a, b) => sql`${a} + ${b}`)} as n, ${some(sql, open)} as is_open`
}
