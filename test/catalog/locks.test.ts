// Order of row locks: a transaction that awaits a book already holds its series.
import t from 'tap'
import { unrestrictedViewer } from '../../lib/auth/viewer.ts'
import { fromBookForUpdate, lockBookForProgress } from '../../lib/catalog/locks.ts'
import type { Transaction } from '../../lib/postgres/db.ts'
import { createDatabase } from '../kit/db.ts'
import { makeFacts, storeFacts } from './list/catalog-facts.ts'

const { sql } = await createDatabase(t)
const facts = makeFacts(1, 5)
await storeFacts(sql, facts)
const viewer = unrestrictedViewer(facts.accounts[0]!)
const book = facts.books[0]!

/** Whether the row can be locked now. */
const isFree = (table: 'account' | 'series', id: string) =>
  sql
    .begin(async tx => {
      await tx`select from ${tx(table)} where id = ${id} for update nowait`
      return true
    })
    .catch(error => {
      if (error.code !== '55P03') throw error
      return false
    })

/** Starts a lock of the book while another transaction holds its row, runs `check`, and releases the row. */
async function whileWaiting(
  lock: (tx: Transaction) => Promise<unknown>,
  check: () => Promise<void>,
) {
  const holder = await sql.reserve()
  await holder`begin`
  await holder`select from book where id = ${book.id} for update`
  const waiting = sql.begin(lock)
  try {
    for (let waits = false; !waits; ) {
      const rows = await sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      waits = rows.length > 0
    }
    await check()
  } finally {
    await holder`rollback`
    holder.release()
    await waiting
  }
}

t.test('an edit of a book locks its series first', async t => {
  const lock = (tx: Transaction) => tx`select b.id ${fromBookForUpdate(tx, viewer, book.id)}`
  await whileWaiting(lock, async () => {
    t.notOk(await isFree('series', book.series.id))
  })
  t.ok(await isFree('series', book.series.id))
})

t.test('progress in a book locks account and series first', async t => {
  const lock = (tx: Transaction) => lockBookForProgress(tx, viewer, book.id)
  await whileWaiting(lock, async () => {
    t.notOk(await isFree('account', viewer.accountId))
    t.notOk(await isFree('series', book.series.id))
  })
})
