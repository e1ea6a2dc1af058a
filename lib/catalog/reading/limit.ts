// Limits of the reading ledger: years of reading are far below them, a flood ends there. Those of a book bound what
// a late write reads to fold its passes again.
import { LRUCache } from 'lru-cache'
import type { Fragment } from 'postgres'
import { entriesUpTo } from '../../async/cache-size.ts'
import { Conflict } from '../../errors.ts'
import type { Transaction } from '../../postgres/db.ts'

type Limits = { account: number; book: number }

/** Sessions that clients measured are refused beyond them: 27 a day for ten years, three in the same book. */
const withSessions: Limits = { account: 100_000, book: 10_000 }
/** Positions and marks are stored up to them, so that sessions alone do not take a reader's place. */
const inAll: Limits = { account: 200_000, book: 20_000 }

/** At least as many as there are in this account; other processes add to them. */
type Count = { entries: number; until: number }

const counts = new LRUCache<string, Count>(entriesUpTo(2_000))
const countedMs = 600_000
// A full ledger would otherwise be counted at each write.
const fullMs = 10_000

type Admission = {
  /** How many entries are about to be stored. */
  added: number
  /** Ids of their books, by a statement. */
  books: Fragment
}

/**
 * Returns which books take sessions of an account, whose row the caller has locked. Throws Conflict if the ledger
 * is full, or that of one of the books.
 */
export async function admitEntries(
  tx: Transaction,
  accountId: string,
  { added, books }: Admission,
): Promise<(bookId: string) => boolean> {
  const known = counts.get(accountId)
  const isKnown =
    known !== undefined &&
    Date.now() < known.until &&
    (known.entries > withSessions.account || known.entries + added <= withSessions.account)
  const count = isKnown ? known : await countEntries(tx, accountId)
  if (count.entries >= inAll.account) throw full(inAll.account)
  const isRoom = count.entries + added <= withSessions.account
  const long = count.entries < withSessions.book ? new Set() : await longBooks(tx, accountId, books)
  count.entries += added
  counts.set(accountId, count)
  return bookId => isRoom && !long.has(bookId)
}

/** After entries were deleted. */
export function forgetCount(accountId: string): void {
  counts.delete(accountId)
}

async function countEntries(tx: Transaction, accountId: string): Promise<Count> {
  const [row] = await tx<{ entries: number }[]>`
    select count(*)::integer as entries
    from (select from reading_session where account_id = ${accountId} limit ${inAll.account}) r`
  const { entries } = row!
  return { entries, until: Date.now() + (entries >= withSessions.account ? fullMs : countedMs) }
}

/** The books that take no sessions any more. */
async function longBooks(tx: Transaction, accountId: string, books: Fragment) {
  const rows = await tx<{ id: string; entries: number }[]>`
    select b.id, e.entries
    from (${books}) b
    cross join lateral (
      select count(*)::integer as entries
      from (
        select from reading_session r where r.account_id = ${accountId} and r.book_id = b.id
        limit ${inAll.book}) r) e
    where e.entries >= ${withSessions.book}`
  if (rows.some(({ entries }) => entries >= inAll.book)) throw full(inAll.book)
  return new Set(rows.map(({ id }) => id))
}

const full = (limit: number) =>
  new Conflict(
    `The reading history is full (${limit} entries); erase it, or set reading.retention_days`,
    { reason: 'limit_reached', limit },
  )
