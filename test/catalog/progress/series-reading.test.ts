import t from 'tap'
import {
  readingOf,
  recountReading,
  recountReadingOf,
} from '../../../lib/catalog/progress/series-reading.ts'
import { database } from '../../kit/db.ts'
import { makeFacts, storeFacts } from '../list/books.ts'

const { sql } = await database(t)
const facts = makeFacts(5, 40)
await storeFacts(sql, facts)
const ids = facts.series.map(s => s.id)

/** Rows that are not what progress adds up to. */
const wrong = async () => {
  const now = readingOf(sql, sql`select id from series`, null)
  return (
    await sql`(table series_reading except all ${now}) union all (${now} except all table series_reading)`
  ).length
}

t.test('progress of one account moves its own places alone', async t => {
  t.equal(await wrong(), 0)
  const [account, other] = facts.accounts as [string, string]
  const before =
    await sql`select xmin, * from series_reading where account_id = ${other} order by series_id`
  await sql`update progress set is_completed = true, completed_at = now() where account_id = ${account}`
  await recountReadingOf(sql, account, ids)
  t.equal(await wrong(), 0)
  await sql`delete from progress where account_id = ${account}`
  await recountReadingOf(sql, account, ids)
  t.same(await sql`select from series_reading where account_id = ${account}`, [])
  const after =
    await sql`select xmin, * from series_reading where account_id = ${other} order by series_id`
  t.same(after, before)
})

t.test('books that go missing are no longer counted, for anybody', async t => {
  await sql`update book set missing_at = now() where number_sort < 3`
  t.not(await wrong(), 0)
  await recountReading(sql, ids)
  t.equal(await wrong(), 0)
  await recountReading(sql, [])
})
