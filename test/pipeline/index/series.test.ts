// Series: titles, series.json, metadata of their books, renamed folders and one-shots.
import t, { type Test } from 'tap'
import { openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'

const all = await openCatalog(t)
const { sql } = all
const check = testWithDoctor(t, all)
const shelf = (test: Test, files: Record<string, Buffer> = {}) =>
  createTestLibrary(test, all, files)
const seriesJson = (metadata: object) => Buffer.from(JSON.stringify({ metadata }))
const seriesOf = async (library: { id: string }, title: string) => {
  const [row] = await sql`
    select id, publisher, year, summary, status, age_rating, language, provenance, book_count as books, total_chapter_count as total,
      (select json_object_agg(source, external_id) from external_reference where kind = 'id' and series_id = s.id) as ids
    from series s where library_id = ${library.id} and title = ${title}`
  return row!
}

check('facts of series.json, of users and of books', async t => {
  const by = (publisher: string, more = '') =>
    comic({ info: `<ComicInfo><Publisher>${publisher}</Publisher>${more}</ComicInfo>` })
  const lib = await shelf(t, {
    ...{ 'A/1.cbz': comic(), 'A/2.cbz': comic(), 'B/1.cbz': comic(), 'Mine/1.cbz': comic() },
    ...{ 'Voted/1.cbz': by('One'), 'Voted/2.cbz': by('Two'), 'Voted/3.cbz': by('Two') },
  })
  await lib.scan()
  t.match(await seriesOf(lib, 'A'), { publisher: null, year: null, ids: null })
  t.match(await seriesOf(lib, 'Voted'), { publisher: 'Two' }, 'the most frequent one')
  await sql`
    update series set publisher = 'Mine', locks = '{publisher}', summary = 'My words',
      language = 'de', provenance = '{"summary": "user", "language": "user"}'
    where library_id = ${lib.id} and title = 'Mine'`
  const facts = { publisher: 'Image', year: 1999, status: 'Ended', comicid: 12, total_issues: 24 }
  lib.write('A/series.json', seriesJson(facts))
  lib.write('Mine/series.json', seriesJson({ ...facts, description_text: 'Words' }))
  lib.write('Mine/2.cbz', by('Theirs', '<LanguageISO>fr</LanguageISO>'))
  lib.write('Voted/4.cbz', by('One'))
  lib.write('Voted/5.cbz', by('One'))
  await lib.scan()
  const ids = { comicvine: '12' }
  const stored = { publisher: 'Image', year: 1999, status: 'ended', total: 24, ids }
  t.match(await seriesOf(lib, 'A'), { ...stored, provenance: { publisher: 'series_json' } })
  const mine = { publisher: 'Mine', summary: 'My words', language: 'de' }
  t.match(await seriesOf(lib, 'Mine'), { ...mine, year: 1999 }, 'what is locked or set stays')
  t.match(await seriesOf(lib, 'Voted'), { publisher: 'One' }, 'in any reading order')
  lib.write('A/series.json', seriesJson({ ...facts, year: 2001, comicid: 13 }))
  await lib.scan()
  t.match(await seriesOf(lib, 'A'), { ...stored, year: 2001, ids: { comicvine: '13' } })
  t.match(await seriesOf(lib, 'B'), { publisher: null })
})

check('a book that leaves a folder with a Latin-1 name does not rename the series', async t => {
  const folder = Buffer.from('S\xe9rie', 'latin1')
  const within = (name: string) => Buffer.concat([folder, Buffer.from(`/${name}`)])
  const lib = await shelf(t, { 'B/1.cbz': comic() })
  try {
    lib.write(within('1.cbz'), comic())
  } catch {
    return t.comment('this file system requires UTF-8')
  }
  lib.write(within('2.cbz'), comic())
  await lib.scan()
  const { id } = await seriesOf(lib, 'S\xe9rie')
  lib.move(within('2.cbz'), 'C/2.cbz')
  t.match(await lib.scan(), { moved: 1 })
  t.match(await seriesOf(lib, 'S\xe9rie'), { id, books: 1 })
  t.match(await seriesOf(lib, 'C'), { books: 1 })
})

check('a renamed one-shot keeps its series, and two may swap their names', async t => {
  const lib = await shelf(t, {
    'A.cbz': comic(),
    'B.cbz': comic({ pages: 3 }),
    'Row/1.cbz': comic(),
  })
  await lib.scan()
  const a = await seriesOf(lib, 'A')
  const b = await seriesOf(lib, 'B')
  await sql`update series set summary = 'Of A', locks = '{summary}' where id = ${a.id}`
  lib.move('A.cbz', 'C.cbz')
  t.match(await lib.scan(), { moved: 1 })
  t.match(await seriesOf(lib, 'C'), { id: a.id, summary: 'Of A', books: 1 })
  lib.move('C.cbz', 'spare')
  lib.move('B.cbz', 'C.cbz')
  lib.move('spare', 'B.cbz')
  await lib.scan({ mode: 'deep' })
  t.match(await seriesOf(lib, 'B'), { id: a.id, summary: 'Of A', books: 1 })
  t.match(await seriesOf(lib, 'C'), { id: b.id, books: 1 })
})

check('a one-shot may take the name of a missing one', async t => {
  const lib = await shelf(t, { 'A.cbz': comic(), 'B.cbz': comic(), 'Row/1.cbz': comic() })
  await lib.scan()
  const a = await seriesOf(lib, 'A')
  const b = await seriesOf(lib, 'B')
  lib.move('B.cbz', 'away')
  const options = { confirmMissing: true }
  t.match(await lib.scan({ options }), { missing: 1 })
  lib.move('A.cbz', 'B.cbz')
  t.match(await lib.scan({ options }), { moved: 1 })
  t.match(
    (await lib.books()).find(book => book.seriesId === a.id),
    { name: 'B.cbz' },
  )
  lib.move('away', 'C.cbz')
  t.match(await lib.scan({ options }), { restored: 0, moved: 1 })
  t.match(await seriesOf(lib, 'C'), { id: b.id, books: 1 })
})

check('a book returns to the place from which its series was renamed', async t => {
  const files = { 'A/1.cbz': comic(), 'A/2.cbz': comic(), 'B/1.cbz': comic() }
  const lib = await shelf(t, files)
  await lib.scan()
  const a = await seriesOf(lib, 'A')
  const { id } = await lib.book('2.cbz')
  lib.move('A/2.cbz', 'away')
  t.match(await lib.scan(), { missing: 1 })
  lib.move('A/1.cbz', 'C/1.cbz')
  lib.remove('A')
  t.match(await lib.scan(), { moved: 1 })
  t.match(await seriesOf(lib, 'C'), { id: a.id, books: 1 }, 'it followed its folder')

  lib.move('away', 'A/2.cbz')
  t.match(await lib.scan(), { restored: 1, to_cover: 0, to_hash: 0 })
  t.match(await lib.book('2.cbz'), { id, series: 'A', missingAt: null })
  t.match(await seriesOf(lib, 'C'), { id: a.id, books: 1 })
})

check('a one-shot returns to the place that another one had meanwhile', async t => {
  const lib = await shelf(t, { 'A.cbz': comic(), 'B.cbz': comic(), 'Row/1.cbz': comic() })
  await lib.scan()
  const [a, b] = [await seriesOf(lib, 'A'), await seriesOf(lib, 'B')]
  lib.move('A.cbz', 'away')
  t.match(await lib.scan(), { missing: 1 })
  for (const [from, to] of [
    ['B.cbz', 'A.cbz'],
    ['A.cbz', 'C.cbz'],
  ] as const) {
    lib.move(from, to)
    t.match(await lib.scan(), { moved: 1 })
  }
  lib.move('away', 'A.cbz')
  t.match(await lib.scan(), { restored: 1 })
  t.match(await seriesOf(lib, 'A'), { id: a.id, books: 1 })
  t.match(await seriesOf(lib, 'C'), { id: b.id, books: 1 })
  const keys = await sql<{ key: string }[]>`
    select key from series where library_id = ${lib.id} order by key`
  t.same(
    keys.map(row => row.key),
    ['d:Row', 'f:A.cbz', 'f:C.cbz'],
  )
})

check('a locked number is retained, and ranks end with the first number', async t => {
  const lib = await shelf(t, { 'A/alpha.cbz': comic(), 'A/beta.cbz': comic() })
  await lib.scan()
  const order = async () => {
    const rows = await sql`
      select convert_from(name, 'utf8') as name, number_sort as sort
      from book where library_id = ${lib.id} order by name`
    return Object.fromEntries(rows.map(row => [row.name, row.sort]))
  }
  t.same(await order(), { 'alpha.cbz': 1, 'beta.cbz': 2 })
  await sql`
    update book set number_sort = 9, locks = '{number}'
    where library_id = ${lib.id} and name = 'beta.cbz'`
  lib.write('A/gamma.cbz', comic())
  await lib.scan()
  t.same(await order(), { 'alpha.cbz': 1, 'beta.cbz': 9, 'gamma.cbz': 3 })
  lib.write('A/gamma 7.cbz', comic())
  await lib.scan()
  t.same(await order(), { 'alpha.cbz': null, 'beta.cbz': 9, 'gamma.cbz': null, 'gamma 7.cbz': 7 })
})
