// Rows of completed passes: stores new ones, and folds a book's passes again after a late write.
import type { Queryable, Transaction } from '../store/postgres/db.ts'
import type { Entry } from './entry.ts'
import { entriesSince } from './entry-rows.ts'
import { type CurrentPass, foldPasses, type Pass } from './passes.ts'

type PassOfBook = Pass & { bookId: string }

export async function storePasses(
  tx: Transaction,
  accountId: string,
  passes: readonly PassOfBook[],
): Promise<void> {
  if (passes.length === 0) return
  const rows = passes.map(({ bookId, device, ...pass }) => ({
    ...{ book_id: bookId, device },
    started_at: new Date(pass.startedAt),
    completed_at: new Date(pass.completedAt),
  }))
  await tx`
    insert into reading_pass (account_id, book_id, started_at, completed_at, device)
    select ${accountId}, r.*
    from jsonb_to_recordset(${tx.json(rows as never)})
      as r(book_id uuid, started_at timestamptz, completed_at timestamptz, device integer)
    on conflict (account_id, book_id, completed_at) do update
    set started_at = excluded.started_at, device = excluded.device`
}

/** A book whose entries changed since a time, in ms since 1970; null for all of them. */
type FoldRequest = { bookId: string; from: number | null }

/**
 * Folds the passes of books from the last one completed before the change, stores them, and returns the
 * current ones.
 */
export async function foldAgain(
  tx: Transaction,
  accountId: string,
  requests: readonly FoldRequest[],
): Promise<Map<string, CurrentPass | null>> {
  if (requests.length === 0) return new Map()
  const after = await lastPasses(tx, accountId, requests)
  const books = requests.map(({ bookId }) => ({
    bookId,
    since: after.get(bookId)?.completedAt ?? null,
  }))
  const entries = Map.groupBy(await entriesSince(tx, accountId, books), entry => entry.bookId)
  const folded = requests.map(({ bookId }) => ({
    bookId,
    ...foldPasses(entries.get(bookId) ?? ([] as Entry[]), after.get(bookId) ?? null),
  }))
  const passes = folded.flatMap(({ bookId, completed }) =>
    completed.map(pass => ({ ...pass, bookId })),
  )
  await deleteOtherPasses(tx, accountId, { books, passes })
  await storePasses(tx, accountId, passes)
  return new Map(folded.map(({ bookId, current }) => [bookId, current]))
}

/** All completed passes of books, in order of completion. */
export async function passesOf(
  tx: Queryable,
  accountId: string,
  bookIds: readonly string[],
): Promise<Map<string, Pass[]>> {
  const rows = await tx<PassRow[]>`
    select r.book_id as "bookId", r.started_at as "startedAt", r.completed_at as "completedAt",
      r.device
    from reading_pass r
    where r.account_id = ${accountId} and r.book_id = any(${bookIds as string[]}::uuid[])
    order by r.completed_at`
  const byBook = Map.groupBy(rows, ({ bookId }) => bookId)
  return new Map([...byBook].map(([bookId, own]) => [bookId, own.map(toPass)]))
}

type PassRow = { bookId: string; startedAt: Date; completedAt: Date; device: number | null }

const toPass = ({ startedAt, completedAt, device }: PassRow): Pass => ({
  startedAt: startedAt.getTime(),
  completedAt: completedAt.getTime(),
  device,
})

/** The last pass of each book that was completed before the change. */
async function lastPasses(tx: Transaction, accountId: string, requests: readonly FoldRequest[]) {
  const wanted = requests
    .filter(({ from }) => from !== null)
    .map(({ bookId, from }) => ({ book: bookId, at: new Date(from!) }))
  const rows = await tx<PassRow[]>`
    select w.book as "bookId", last.started_at as "startedAt", last.completed_at as "completedAt",
      last.device
    from jsonb_to_recordset(${tx.json(wanted as never)}) as w(book uuid, at timestamptz)
    cross join lateral (
      select * from reading_pass r
      where r.account_id = ${accountId} and r.book_id = w.book and r.completed_at < w.at
      order by r.completed_at desc
      limit 1) last`
  return new Map(rows.map(row => [row.bookId, toPass(row)]))
}

type Replacement = {
  /** Passes up to `since`, in ms since 1970, stay. */
  books: readonly { bookId: string; since: number | null }[]
  passes: readonly PassOfBook[]
}

async function deleteOtherPasses(
  tx: Transaction,
  accountId: string,
  { books, passes }: Replacement,
) {
  const changed = books.map(({ bookId, since }) => ({
    book: bookId,
    since: since === null ? '-infinity' : new Date(since),
  }))
  const current = passes.map(pass => ({ book: pass.bookId, at: new Date(pass.completedAt) }))
  await tx`
    delete from reading_pass r
    using jsonb_to_recordset(${tx.json(changed as never)}) as w(book uuid, since timestamptz)
    where r.account_id = ${accountId} and r.book_id = w.book and r.completed_at > w.since
      and not exists (
        select from jsonb_to_recordset(${tx.json(current as never)}) as c(book uuid, at timestamptz)
        where c.book = r.book_id and c.at = r.completed_at)`
}
