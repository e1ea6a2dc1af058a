// Searches of the grid as tests of a search row, one word after another.
import type { Fragment } from 'postgres'
import type { Viewer } from '../../lib/accounts/viewer.ts'
import { joinedLines, ofBooks, parseSearchQuery } from '../../lib/media/name/search-text.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { allOf, anyOf } from '../../lib/store/postgres/statement.ts'
import { seenBook } from './visible-books.ts'

/** On a search row `t`: it has all words of the text. */
export function words(sql: Sql, text: string | undefined): Fragment {
  const plain = sql`split_part(t.text, ${joinedLines}, 1)`
  return allOf(
    sql,
    (parseSearchQuery(text ?? '')?.words ?? []).map(({ parts, pattern }) =>
      anyOf(sql, [
        ...parts.map(part => sql`strpos(${plain}, ${part}) > 0`),
        ...(pattern === null
          ? []
          : [sql`(strpos(t.text, ${parts[0]!}) > 0 and ${plain} ~ ${pattern})`]),
      ]),
    ),
  )
}

/** Conditions on `series s` with `series_search t`; values only hidden books have do not count. */
export function seriesWords(sql: Sql, viewer: Viewer, text: string | undefined): Fragment {
  const found = words(sql, text)
  if (viewer.ageLimit === null || !text) return found
  return sql`(${found} and (
    not exists (select from book b where b.series_id = s.id and not ${seenBook(sql, viewer)})
    or (select ${found} from (
      select regexp_replace(t.text, ${`\\${ofBooks}[^${joinedLines}]*`}, '', 'g') as text) t)
    or exists (
      select from book b join book_search t on t.book_id = b.id
      where b.series_id = s.id and b.missing_at is null and ${seenBook(sql, viewer)} and ${found})))`
}
