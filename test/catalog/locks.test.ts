// Order of row locks: a transaction that awaits a book already holds its series.
import t from 'tap'
import { unrestrictedViewer } from '../../lib/auth/viewer.ts'
import { fromBookForUpdate, lockBookForProgress, lockSeries } from '../../lib/catalog/locks.ts'
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

/** Starts a lock while another transaction holds a row that it needs, runs `check`, and releases the row. */
async function whileWaiting(
  lock: (tx: Transaction) => Promise<unknown>,
  check: () => Promise<void>,
  held: { table: 'book' | 'series'; id: string } = { table: 'book', id: book.id },
) {
  const holder = await sql.reserve()
  await holder`begin`
  await holder`select from ${holder(held.table)} where id = ${held.id} for update`
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

t.test('series are locked by id, in any order of the list and of the rows on disk', async t => {
  const [first, second] = facts.series.map(series => series.id).sort() as [string, string]
  // The second one comes first on disk after the first was written again.
  await sql`update series set title = title || '.' where id = ${first}`
  for (const purpose of ['change', 'deletion', 'reference'] as const)
    await whileWaiting(
      tx => lockSeries(tx, [second, first], purpose),
      async () => {
        t.ok(await isFree('series', second), `${purpose} waits for the first one`)
      },
      { table: 'series', id: first },
    )
})
