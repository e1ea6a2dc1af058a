// Joins for projections of books: visible books by id, in the order of the ids, with their series and
// the tables that a projection adds.
import type { Fragment } from 'postgres'
import { type Viewer, visibleBook } from '../../accounts/viewer.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { requestedIds } from '../../store/postgres/ids.ts'

/**
 * `from … where … order by …` over `book b` and `series s`. Hidden and deleted books are left out.
 * `joins` adds tables after those two, `where` a condition.
 */
export function fromVisibleBooks(
  sql: Queryable,
  viewer: Viewer,
  { ids, joins, where }: { ids: readonly string[]; joins?: Fragment; where?: Fragment },
): Fragment {
  return sql`
    from ${requestedIds(sql, ids)}
    join book b on b.id = requested.id
    join series s on s.id = b.series_id
    ${joins ?? sql``}
    where ${visibleBook(sql, viewer)} ${where ? sql`and ${where}` : sql``}
    order by requested.place`
}

/** Joins the `book_artifact a` of `book b`: its hash and its generated cover. */
export function joinArtifact(sql: Queryable): Fragment {
  return sql`join book_artifact a on a.book_id = b.id`
}

/** Like `joinArtifact`, but retains the book even if the database has lost the row. */
export function joinPossibleArtifact(sql: Queryable): Fragment {
  return sql`left ${joinArtifact(sql)}`
}

/** Joins the `library l` of `book b`. */
export function joinLibrary(sql: Queryable): Fragment {
  return sql`join library l on l.id = b.library_id`
}

/** Joins the viewer's `progress p` in `book b`, which may be missing. */
export function joinProgress(sql: Queryable, { accountId }: Viewer): Fragment {
  return sql`left join progress p on p.account_id = ${accountId} and p.book_id = b.id`
}
