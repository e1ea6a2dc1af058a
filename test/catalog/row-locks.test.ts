// Order of row locks: a transaction that awaits a book already holds its series.
import t from 'tap'
import { unrestrictedViewer } from '../../lib/accounts/viewer.ts'
import {
  fromBooksForUpdate,
  lockBooksForProgress,
  lockSeries,
} from '../../lib/catalog/row-locks.ts'
import type { Transaction } from '../../lib/store/postgres/db.ts'
import { createDatabase } from '../kit/db.ts'
import { isFree, type Row, whileBlocked } from '../kit/row-locks.ts'
import { makeFacts, storeFacts } from '../list/catalog-facts.ts'

const { sql } = await createDatabase(t)
const facts = makeFacts(1, 5)
await storeFacts(sql, facts)
const viewer = unrestrictedViewer(facts.accounts[0]!)
const book = facts.books[0]!
const bookRow: Row = { table: 'book', id: book.id }
const seriesRow: Row = { table: 'series', id: book.series.id }

t.test('an edit of a book locks its series first', async t => {
  const lock = () => sql.begin(tx => tx`select b.id ${fromBooksForUpdate(tx, viewer, [book.id])}`)
  await whileBlocked(sql, bookRow, lock, async () => {
    t.notOk(await isFree(sql, seriesRow))
  })
  t.ok(await isFree(sql, seriesRow))
})

t.test('progress in a book locks account and series first', async t => {
  const lock = (tx: Transaction) => lockBooksForProgress(tx, viewer, [book.id])
  await whileBlocked(
    sql,
    bookRow,
    () => sql.begin(lock),
    async () => {
      t.notOk(await isFree(sql, { table: 'account', id: viewer.accountId }))
      t.notOk(await isFree(sql, seriesRow))
    },
  )
})

t.test('series are locked by id, in any order of the list and of the rows on disk', async t => {
  const [first, second] = facts.series.map(series => series.id).sort() as [string, string]
  // The second one comes first on disk after the first was written again.
  await sql`update series set title = title || '.' where id = ${first}`
  for (const purpose of ['change', 'deletion', 'reference'] as const)
    await whileBlocked(
      sql,
      { table: 'series', id: first },
      () => sql.begin(tx => lockSeries(tx, [second, first], purpose)),
      async () => {
        t.ok(
          await isFree(sql, { table: 'series', id: second }),
          `${purpose} waits for the first one`,
        )
      },
    )
})
