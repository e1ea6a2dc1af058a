// Property test of the values that occur in the metadata of visible series and books, with age limits that hide
// books of a series: against a plain query of every visible book.
import t from 'tap'
import { unrestrictedViewer, type Viewer, visibleBook } from '../../../lib/accounts/viewer.ts'
import { creditsOf } from '../../../lib/catalog/derived/author-key.ts'
import { refreshLowestAge } from '../../../lib/catalog/derived/lowest-age.ts'
import { type Referential, referentialValues } from '../../../lib/protocols/komga/referential.ts'
import { createServices } from '../../../lib/store/services.ts'
import { createDatabase } from '../../kit/db.ts'
import { makeKomgaFacts, storeKomgaFacts } from './search/facts.ts'

const { sql } = await createDatabase(t)
const db = { sql, services: createServices(sql) }
const facts = makeKomgaFacts(5, 30)
await storeKomgaFacts(sql, facts)
// Some that only one book states, which may be hidden, and some that the series of a hidden book states.
await sql`
  update book b set authors = b.authors || jsonb_build_array(jsonb_build_object('name', b.id::text))
  where get_byte(uuid_send(b.id), 15) % 2 = 0`
await sql`
  update series s set authors = jsonb_build_array(jsonb_build_object('name', (
    select max(b.id::text) from book b where b.series_id = s.id and b.missing_at is null)))`
await sql`
  update series s
  set credits = coalesce((
    select string_agg(distinct c.line, ${'\n'}) from (
      ${creditsOf(sql, 's')}
      union all
      select c.line from book b cross join lateral (${creditsOf(sql, 'b')}) c(line)
      where b.series_id = s.id and b.missing_at is null) c(line)), '')`
await sql`
  update series s set book_tags = array(
    select distinct tag from book b, unnest(b.tags) tag
    where b.series_id = s.id and b.missing_at is null)`

const columns = {
  credits: { book: creditsOf(sql, 'b'), series: creditsOf(sql, 's') },
  bookTags: { book: sql`select lower(unnest(b.tags))`, series: sql`select null where false` },
  seriesTags: { book: sql`select null where false`, series: sql`select lower(unnest(s.tags))` },
} as const

async function plainValues(viewer: Viewer, names: (keyof typeof columns)[]): Promise<string[]> {
  const found = new Set<string>()
  for (const name of names) {
    const rows = await sql<{ value: string }[]>`
      select v.value from book b join series s on s.id = b.series_id
      cross join lateral (${columns[name].book} union all ${columns[name].series}) v(value)
      where b.missing_at is null and ${visibleBook(sql, viewer)} and v.value <> ''`
    for (const { value } of rows) found.add(value)
  }
  return [...found].sort()
}

const viewer = unrestrictedViewer(facts.accounts[0]!)
const viewers: Viewer[] = [
  viewer,
  { ...viewer, ageLimit: 0 },
  { ...viewer, ageLimit: 12 },
  { ...viewer, ageLimit: 12, showsUnrated: false },
  { ...viewer, ageLimit: 16, libraries: facts.libraries.slice(0, 1) },
]
const questions: (Referential & keyof typeof columns)[][] = [
  ['credits'],
  ['bookTags'],
  ['seriesTags', 'bookTags'],
]

t.test('values are those of visible books and of their series, until these change', async t => {
  for (const change of [
    sql`select`,
    sql`select`,
    sql`update book set age_rating = case when age_rating is null then 16 end`,
    sql`update series set tags = array['New'] where id = ${facts.series[0]!.id}`,
  ]) {
    await change
    await refreshLowestAge(
      sql,
      facts.series.map(s => s.id),
    )
    for (const names of questions)
      for (const one of viewers) {
        const expected = await plainValues(one, names)
        const values = await referentialValues(db, { viewer: one, isAdmin: false }, names, {})
        t.same(values.toSorted(), expected, `${names} ${one.ageLimit}`)
      }
  }
})
