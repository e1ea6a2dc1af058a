import t from 'tap'
import { refreshLabels } from '../../../lib/catalog/derived/labels.ts'
import { labelKey, registerLabels } from '../../../lib/catalog/label/label.ts'
import { createDatabase } from '../../kit/db.ts'
import { makeFacts, storeFacts } from '../../list/catalog-facts.ts'

const { sql } = await createDatabase(t)

t.test('names that differ in case, accents or spaces are one label', async t => {
  t.equal(labelKey('  Épique  Fantasy '), labelKey('EPIQUE fantasy'))
  t.not(labelKey('Sci-Fi'), labelKey('Sci Fi'))
  t.not(labelKey('C++'), labelKey('C'))
})

t.test(
  'the first spelling names the label, later ones are recorded, blank names are ignored',
  async t => {
    await registerLabels(sql, 'genre', ['Drama', 'drama', ' '])
    await registerLabels(sql, 'genre', ['DRAMA'])
    await registerLabels(sql, 'tag', ['Drama'])
    const rows = await sql`select kind, name, spellings from label order by kind`
    t.same(
      [...rows],
      [
        { kind: 'genre', name: 'Drama', spellings: ['DRAMA', 'Drama', 'drama'] },
        { kind: 'tag', name: 'Drama', spellings: ['Drama'] },
      ],
    )
  },
)

t.test('two registrations at once agree on one label', async t => {
  await Promise.all(
    ['Western', 'western'].map(name => sql.begin(tx => registerLabels(tx, 'genre', [name]))),
  )
  const [row] = await sql`select spellings from label where key = 'western'`
  t.same([...row!.spellings].sort(), ['Western', 'western'])
})

t.test('genres set by a user stay, a second refresh changes nothing', async t => {
  const facts = makeFacts(21, 30)
  await storeFacts(sql, facts)
  const ids = facts.series.map(s => s.id)
  t.same(await sql.begin(tx => refreshLabels(tx, ids)), [])
  for (const series of facts.series.filter(s => s.ownGenres)) {
    const [row] = await sql`select genres from series where id = ${series.id}`
    t.same(row!.genres, series.ownGenres)
  }
  await sql`update book set genres = '{}', tags = '{}'`
  await sql.begin(tx => refreshLabels(tx, ids))
  const [left] = await sql`
    select count(*) from series_label y join series s on s.id = y.series_id
    where s.provenance->>'genres' is distinct from 'user'`
  t.equal(left!.count, 0)
})
