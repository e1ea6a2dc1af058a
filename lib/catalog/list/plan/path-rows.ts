// Books by their paths, which are the path of a folder and the name of a file: folders are decided first,
// because they are few.
import type { Fragment } from 'postgres'
import { presentBook } from '../../../auth/viewer.ts'
import { lowerAscii } from '../../../name/text.ts'
import type { Queryable } from '../../../postgres/db.ts'
import type { Test } from '../condition.ts'
import { likePattern } from './operators.ts'

type Operator = 'equals' | 'contains' | 'beginsWith' | 'endsWith'

/** Paths are bytes, which are compared as characters of Latin-1; only letters of ASCII without case. */
export const pathKey = (value: string): string => Buffer.from(lowerAscii(value)).toString('latin1')

/** An expression of bytes as `pathKey` writes text. */
export function foldedPath(sql: Queryable, bytes: Fragment): Fragment {
  return sql`lower(convert_from(${bytes}, 'LATIN1') collate "C")`
}

/** Present books (id, series_id) for which the test holds, or fails. */
export function pathRows(
  sql: Queryable,
  test: Extract<Test, { kind: 'text' }>,
): { holds: Fragment; fails: Fragment } {
  const value = pathKey(test.value)
  // Names have no slash, so a value with one ends within the name that follows its last slash.
  const end = value.lastIndexOf('/') + 1
  const [start, rest] = [value.slice(0, end), value.slice(end)]
  const folder = (operator: Operator, text: string) =>
    sql`x.folder like ${likePattern(text, operator)}`
  const name = (operator: Operator, text: string) =>
    sql`${foldedPath(sql, sql`y.name`)} like ${likePattern(text, operator)}`
  /** Null: in any folder. */
  const ending = end > 0 ? folder('endsWith', start) : null
  const parts: Record<Operator, { folder: Fragment | null; name: Fragment; whole: Fragment }> = {
    equals: {
      ...{ folder: folder('equals', start), name: name('equals', rest) },
      whole: sql`false`,
    },
    contains: {
      folder: ending,
      name: name(end > 0 ? 'beginsWith' : 'contains', rest),
      whole: folder('contains', value),
    },
    beginsWith: {
      ...{ folder: folder('equals', start), name: name('beginsWith', rest) },
      whole: folder('beginsWith', value),
    },
    endsWith: {
      folder: ending,
      name: name(end > 0 ? 'equals' : 'endsWith', rest),
      whole: sql`false`,
    },
  }
  const part = parts[test.operator]
  // `whole` is no boolean, which the planner would expect to hold for half of the books.
  const rows = (folders: Fragment, books: Fragment) => sql`
    select y.id, y.series_id
    from (
      select x.id, case when ${part.whole} then 1 end as whole, ${part.folder ?? sql`true`} as is_start
      from (
        select d.id, case when d.path = '' then '' else ${foldedPath(sql, sql`d.path`)} || '/' end as folder
        from directory d offset 0) x
      where ${folders}
      offset 0) x
    join book y on y.directory_id = x.id
    where ${presentBook(sql, 'y')} and ${books}`
  return {
    holds: rows(
      part.folder ? sql`(${part.whole} or ${part.folder})` : sql`true`,
      sql`(x.whole = 1 or ${part.name})`,
    ),
    fails: rows(
      sql`not ${part.whole}`,
      part.folder ? sql`not (x.is_start and ${part.name})` : sql`not ${part.name}`,
    ),
  }
}
