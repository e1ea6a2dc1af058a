import t from 'tap'
import {
  refreshAccountReading,
  refreshSeriesReading,
  seriesReadingRows,
} from '../../../lib/catalog/derived/series-reading.ts'
import { createDatabase } from '../../kit/db.ts'
import { makeFacts, storeFacts } from '../../list/catalog-facts.ts'

const { sql } = await createDatabase(t)
const facts = makeFacts(5, 40)
await storeFacts(sql, facts)
const ids = facts.series.map(s => s.id)

/** Number of rows that differ from the expected ones. */
const countWrong = async () => {
  const expected = seriesReadingRows(sql, sql`select id from series`, null)
  return (
    await sql`(table series_reading except all ${expected}) union all (${expected} except all table series_reading)`
  ).length
}

t.test('progress of one account changes only its own counters', async t => {
  t.equal(await countWrong(), 0)
  const [account, other] = facts.accounts as [string, string]
  const before =
    await sql`select xmin, * from series_reading where account_id = ${other} order by series_id`
  await sql`update progress set is_completed = true, completed_at = now() where account_id = ${account}`
  await refreshAccountReading(sql, account, ids)
  t.equal(await countWrong(), 0)
  await sql`delete from progress where account_id = ${account}`
  await refreshAccountReading(sql, account, ids)
  t.same(await sql`select from series_reading where account_id = ${account}`, [])
  const after =
    await sql`select xmin, * from series_reading where account_id = ${other} order by series_id`
  t.same(after, before)
})

t.test('missing books are not counted for any account', async t => {
  await sql`update book set missing_at = now() where number_sort < 3`
  t.not(await countWrong(), 0)
  await refreshSeriesReading(sql, ids)
  t.equal(await countWrong(), 0)
  await refreshSeriesReading(sql, [])
})
