// Limits of the reading ledger: years of reading stay far below them, but a flood of writes is stopped. The limits
// per book bound what a late write must read to fold its passes again.
import { LRUCache } from 'lru-cache'
import type { Fragment } from 'postgres'
import { entriesUpTo } from '../base/async/cache-size.ts'
import { Conflict } from '../base/errors.ts'
import type { Transaction } from '../store/postgres/db.ts'

/** Measured sessions per account: 27 a day for ten years. Positions and marks are bounded by the number of books. */
const maxSessions = 100_000
/** Entries of a book beyond which it accepts no more sessions, or no more entries of any kind. */
const maxOfBook = { sessions: 10_000, all: 20_000 }

/** At least as many as this account has; other processes add to them. `entries` are of all kinds, up to `maxOfBook.sessions`. */
type Count = { sessions: number; entries: number; until: number }

const counts = new LRUCache<string, Count>(entriesUpTo(2_000))
const countedMs = 600_000
// Otherwise a full ledger would be counted on each write.
const fullMs = 10_000

type Admission = {
  /** How many entries are about to be stored, and how many of them are sessions. */
  added: number
  sessions?: number
  /** A query for the ids of their books. */
  books: Fragment
}

/**
 * Returns which books accept sessions from an account, whose row the caller has locked. Throws Conflict if the
 * ledger of one of the books is full.
 */
export async function admitEntries(
  tx: Transaction,
  accountId: string,
  { added, sessions = 0, books }: Admission,
): Promise<(bookId: string) => boolean> {
  const known = counts.get(accountId)
  const isKnown =
    known !== undefined &&
    Date.now() < known.until &&
    (known.sessions > maxSessions || known.sessions + sessions <= maxSessions)
  const count = isKnown ? known : await countEntries(tx, accountId)
  const isRoom = count.sessions + sessions <= maxSessions
  const long =
    count.entries < maxOfBook.sessions ? new Set() : await longBooks(tx, accountId, books)
  count.entries += added
  count.sessions += sessions
  counts.set(accountId, count)
  return bookId => isRoom && !long.has(bookId)
}

/** To be called after entries were deleted. */
export function forgetCount(accountId: string): void {
  counts.delete(accountId)
}

async function countEntries(tx: Transaction, accountId: string): Promise<Count> {
  const [row] = await tx<{ sessions: number; entries: number }[]>`
    select
      (select count(*) from (
        select from reading_session where account_id = ${accountId} and is_session
        limit ${maxSessions}) r)::integer as sessions,
      (select count(*) from (
        select from reading_session where account_id = ${accountId}
        limit ${maxOfBook.sessions}) r)::integer as entries`
  const { sessions, entries } = row!
  return { sessions, entries, until: Date.now() + (sessions >= maxSessions ? fullMs : countedMs) }
}

/** The books that accept no more sessions. */
async function longBooks(tx: Transaction, accountId: string, books: Fragment) {
  const rows = await tx<{ id: string; entries: number }[]>`
    select b.id, e.entries
    from (${books}) b
    cross join lateral (
      select count(*)::integer as entries
      from (
        select from reading_session r where r.account_id = ${accountId} and r.book_id = b.id
        limit ${maxOfBook.all}) r) e
    where e.entries >= ${maxOfBook.sessions}`
  if (rows.some(({ entries }) => entries >= maxOfBook.all)) throw full(maxOfBook.all)
  return new Set(rows.map(({ id }) => id))
}

const full = (limit: number) =>
  new Conflict(
    `The reading history of the book is full (${limit} entries); erase it, or set reading.retention_days`,
    { limit },
  )
