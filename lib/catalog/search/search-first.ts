// Searches for a word that a good part of a million books has: nobody reads all of them, and ranking
// them takes a second. As many as are wanted are listed, in the order in which their rows lie, and
// with them the books whose titles begin with the words.
import type { Fragment, Sql } from 'postgres'
import { sortKey } from '../../name/natural.ts'

type Asked = {
  /** What was looked for, as it was written. */
  text: string
  /** Of `book_search t`: book_id, sort_key and rank. */
  columns: Fragment
  /** On `book_search t`. */
  matches: Fragment
  most: number
}

// Titles that are looked at, in places of a list: some are hidden, or in other libraries.
const lookedAt = 5

/** `hits`, to stand after `with`: all books that match, or `most` of them. To be run `inRowOrder`. */
export function firstHits(sql: Sql, { text, columns, matches, most }: Asked): Fragment {
  const key = sortKey(text.trim())
  return sql`
    first as materialized (select ${columns} from book_search t where ${matches} limit ${most}),
    titled as materialized (
      select ${columns}
      from (
        select b.id from book b
        where b.missing_at is null and b.sort_key >= ${key} and b.sort_key < ${`${key}\u{10ffff}`}
        order by b.sort_key, b.id
        limit ${most * lookedAt}) b
      join book_search t on t.book_id = b.id
      where (select count(*) from first) = ${most} and ${matches}
      limit ${most}
    ), hits as materialized (
      select * from (select * from first union select * from titled) t
      order by t.rank, t.sort_key, t.book_id
      limit ${most}
    )`
}

/** Runs a statement that reads rows of tables in the order in which they lie, so that it finds the same ones each time. */
export async function inRowOrder<T>(sql: Sql, run: (tx: Sql) => Promise<T>): Promise<T> {
  const answer = await sql.begin(async tx => {
    await tx`
      select set_config('max_parallel_workers_per_gather', '0', true),
        set_config('synchronize_seqscans', 'off', true)`
    return { row: await run(tx as unknown as Sql) }
  })
  return answer.row
}
