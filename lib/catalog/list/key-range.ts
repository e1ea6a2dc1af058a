// The range of the sort key that a condition on the sorted column allows, so that a walk begins where its
// matches do.
import type { Fragment } from 'postgres'
import { presentBook } from '../../auth/viewer.ts'
import { searchKey } from '../../name/text.ts'
import type { Queryable } from '../../postgres/db.ts'
import { allOf } from '../../postgres/statement.ts'
import type { Predicate } from './condition.ts'
import { bookColumnTest } from './plan/book-columns.ts'
import type { BookPlan } from './plan/book-plan.ts'
import type { BookColumnSort } from './sort.ts'

const sortOfField: Record<string, BookColumnSort> = {
  pageCount: 'pages',
  dateAdded: 'created',
  addedAt: 'created',
  releaseDate: 'released',
}

/** What the condition requires of the sort key itself, so that a walk begins where the list does. */
export function keyRange(
  sql: Queryable,
  { required = [] }: BookPlan,
  sort: BookColumnSort,
  alias: 'w' | 'b',
): Fragment {
  const tests = required
    .filter(({ field }) => sortOfField[field] === sort)
    .map(predicate => bookColumnTest(sql, predicate, alias)!.test)
  const prefixes = sort === 'title' ? required.flatMap(titlePrefix) : []
  const ranges = prefixes.map(prefix => titleKeyRange(sql, prefix, alias))
  return allOf(sql, [...tests, ...ranges])
}

/** The letters with which every matching title starts, and its sort key if it has no sort title. */
function titlePrefix({ field, test }: Predicate): string[] {
  if (field !== 'title' || test.kind !== 'text') return []
  if (test.operator !== 'equals' && test.operator !== 'beginsWith') return []
  const [prefix] = /^[a-z]*/.exec(searchKey(test.value))!
  return prefix ? [prefix] : []
}

/** Sort keys of the books whose titles start with `prefix`, and those between. */
function titleKeyRange(sql: Queryable, prefix: string, alias: 'w' | 'b'): Fragment {
  const key = sql`${sql(alias)}.sort_key`
  const sortTitled = (bound: Fragment) => sql`
    (select ${bound} from book y
    where y.title_sort is not null and ${presentBook(sql, 'y')} and y.search_key like ${`${prefix}%`})`
  return sql`(
    ${key} >= least(${prefix} collate "C", ${sortTitled(sql`min(y.sort_key)`)})
    and ${key} <= greatest(${`${prefix}\u{10ffff}`} collate "C", ${sortTitled(sql`max(y.sort_key)`)}))`
}
