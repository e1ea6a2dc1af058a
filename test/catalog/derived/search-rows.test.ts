import t from 'tap'
import { refreshBookSearch, refreshSeriesSearch } from '../../../lib/catalog/derived/search-rows.ts'
import { createDatabase } from '../../kit/db.ts'
import { makeFacts, storeFacts } from '../../list/catalog-facts.ts'

const { sql } = await createDatabase(t)
const facts = makeFacts(6, 30)
await storeFacts(sql, facts)
const seriesIds = facts.series.map(s => s.id)
const books = await sql<{ id: string }[]>`select id from book`
const allRows = () => sql`select * from book_search order by book_id`

t.before(async () => {
  await sql`delete from book_search`
  await refreshSeriesSearch(sql, seriesIds)
  await refreshBookSearch(
    sql,
    books.map(book => book.id),
  )
})

t.test('rows of books get the title of their series in place of what a scan expected', async t => {
  const expected = await allRows()
  t.equal(expected.length, books.length)
  for (const line of ['Expected by a scan', '', 'Ωmega']) {
    await sql`
      update book_search set text = regexp_replace(text, ${'\n[^\n]*'}, ${`\n ${line}`})
      where get_byte(uuid_send(book_id), 15) % 2 = 0`
    t.strictNotSame(await allRows(), expected)
    await refreshSeriesSearch(sql, seriesIds)
    t.strictSame(await allRows(), expected)
  }
})

t.test('unchanged rows are not written', async t => {
  const versions = () =>
    sql`select xmin::text from book_search union all select xmin::text from series_search order by 1`
  const before = await versions()
  await refreshSeriesSearch(sql, seriesIds)
  t.strictSame(await versions(), before)
})
