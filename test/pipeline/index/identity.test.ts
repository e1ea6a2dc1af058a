// Identity of books: retained data when files are renamed, moved, replaced, copied or touched.
import { copyFileSync, readFileSync, renameSync, utimesSync } from 'node:fs'
import t, { type Test } from 'tap'
import { createReader } from '../../kit/accounts.ts'
import { openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'

const all = await openCatalog(t)
const { sql } = all
const check = testWithDoctor(t, all)
const shelf = (test: Test, files: Record<string, Buffer> = {}) =>
  createTestLibrary(test, all, files)
const four = () => ({
  'A/1.cbz': comic(),
  'A/2.cbz': comic(),
  'B/1.cbz': comic(),
  'B/2.cbz': comic(),
})

check('a disk that returns with another device number and its books is scanned', async t => {
  const lib = await shelf(t, four())
  await lib.scan()
  await sql`update library set device = 'another' where id = ${lib.id}`
  t.match(await lib.scan(), { state: 'completed', missing: 0, opens: 0 })
})

check(
  'a renamed folder keeps its series, its books, their progress and what users set',
  async t => {
    const lib = await shelf(t, { ...four(), 'A/3.cbz': comic() })
    await lib.scan()
    const before = await lib.books()
    const alice = await createReader(sql)
    await alice.read(before[0]!.id, 7)
    await sql`update series set locks = '{summary}', summary = 'Mine' where id = ${before[0]!.seriesId}`
    lib.move('A', 'Renamed')
    t.match(await lib.scan(), { state: 'completed', moved: 3, added: 0, missing: 0 })
    const after = (await lib.books()).filter(b => b.folder === 'Renamed')
    t.same(
      after.map(b => b.id),
      before.filter(b => b.folder === 'A').map(b => b.id),
    )
    t.ok(after.every(b => b.seriesId === before[0]!.seriesId && b.series === 'Renamed'))
    t.same(await alice.pages(), { [before[0]!.id]: 7 })
    const [series] = await sql`select summary, locks from series where id = ${before[0]!.seriesId}`
    t.match(series, { summary: 'Mine', locks: ['summary'] })
  },
)

check('files that are renamed, or moved to another folder, keep their ids', async t => {
  const lib = await shelf(t, { ...four(), 'A/3.cbz': comic() })
  await lib.scan()
  const { id: renamed } = (await lib.books())[0]!
  const { id: moved } = await lib.book('3.cbz')
  lib.move('A/1.cbz', 'A/one.cbz')
  lib.move('A/3.cbz', 'B/3.cbz')
  t.match(await lib.scan(), { moved: 2, added: 0, missing: 0 })
  t.equal((await lib.book('one.cbz')).id, renamed)
  t.match(await lib.book('3.cbz'), { id: moved, series: 'B', folder: 'B' })
})

for (const first of ['from', 'to'] as const) {
  check(`a file moved to another library keeps its id when ${first} is scanned first`, async t => {
    const from = await shelf(t, {
      ...four(),
      'B/3.cbz': comic(),
      'broken/4.cbz': Buffer.from(`no zip ${first}`),
    })
    const to = await shelf(t, four())
    await from.scan()
    await to.scan()
    const { id } = await from.book('3.cbz')
    const broken = await from.book('4.cbz')
    t.equal(broken.error, 'not_an_archive')
    for (const path of ['B/3.cbz', 'broken/4.cbz'])
      renameSync(from.pathOf(path), to.pathOf(`A/${path.slice(-5)}`))
    // Two of six are gone: more than the limit of an unconfirmed scan.
    const options = { confirmMissing: true }
    for (const lib of first === 'from' ? [from, to] : [to, from]) await lib.scan({ options })
    t.match(await to.book('3.cbz'), { id, series: 'A', missingAt: null })
    t.match(await to.book('4.cbz'), { id: broken.id, series: 'A', missingAt: null })
    t.match(await from.counters(), { books: 4, missing: 0, series: 2 })
    t.match(await to.counters(), { books: 6, missing: 0, series: 2 })
  })
}

check('a file replaced with equal size and time is detected by a deep scan only', async t => {
  const lib = await shelf(t, { 'A/1.cbz': comic({ padding: 300_000 }), 'A/2.cbz': comic() })
  await lib.scan()
  const before = await lib.book('1.cbz')
  const bytes = readFileSync(lib.pathOf('A/1.cbz'))
  bytes[bytes.indexOf('.png') - 1]! += 1
  lib.replaceSilently('A/1.cbz', bytes)
  t.match(await lib.scan(), { opens: 0, changed: 0 })
  t.match(await lib.scan({ mode: 'deep' }), { changed: 1, unchanged: 1 })
  const after = await lib.book('1.cbz')
  t.equal(after.id, before.id)
  t.not(after.sha256, before.sha256)
})

check('a restored file is the same book', async t => {
  const lib = await shelf(t, { ...four(), 'B/3.cbz': comic() })
  await lib.scan()
  const { id } = await lib.book('3.cbz')
  const bytes = readFileSync(lib.pathOf('B/3.cbz'))
  lib.remove('B/3.cbz')
  t.match(await lib.scan(), { missing: 1 })
  t.ok((await lib.book('3.cbz')).missingAt)
  lib.write('B/3.cbz', bytes)
  t.match(await lib.scan(), { restored: 1, added: 0, missing: 0 })
  t.match(await lib.book('3.cbz'), { id, missingAt: null })
})

check('a copy is a new book, and both are in a duplicate group', async t => {
  const lib = await shelf(t, four())
  await lib.scan()
  const original = await lib.book('1.cbz').catch(async () => (await lib.books())[0]!)
  copyFileSync(lib.pathOf('A/1.cbz'), lib.pathOf('A/copy.cbz'))
  t.match(await lib.scan(), { added: 1, moved: 0 })
  const copy = await lib.book('copy.cbz')
  t.not(copy.id, original.id)
  await all.dedupe()
  const group = await sql<{ book_id: string }[]>`
    select book_id from duplicate_book
    where group_id in (select group_id from duplicate_book where book_id = ${copy.id})
    order by book_id`
  t.same(
    group.map(row => row.book_id),
    [original.id, copy.id].sort(),
  )
})

check('a touched file costs its fingerprint and its headers, and changes nothing else', async t => {
  const lib = await shelf(t, { 'A/1.cbz': comic({ padding: 300_000 }) })
  await lib.scan()
  const row = async () => {
    const [book] = await sql`select * from book where library_id = ${lib.id}`
    const { modified_ms, updated_at, scan_id, ...facts } = book!
    return { modified_ms, facts }
  }
  const before = await row()
  utimesSync(lib.pathOf('A/1.cbz'), 1_000_000, 1_000_000)
  const scan = await lib.scan()
  t.match(scan, { unchanged: 1, changed: 0, opens: 1 })
  t.ok(scan.bytes_read <= 20 * 1024, `${scan.bytes_read} bytes`)
  const after = await row()
  t.same(after.facts, before.facts)
  t.equal(after.modified_ms, 1_000_000_000)
})

check('a locked field survives a deep scan', async t => {
  const info = '<ComicInfo><Title>Theirs</Title><Writer>Their writer</Writer></ComicInfo>'
  const lib = await shelf(t, { 'A/1.cbz': comic({ info }) })
  await lib.scan()
  const { id, title } = await lib.book('1.cbz')
  t.equal(title, 'Theirs')
  await sql`
    update book set title = 'Mine', sort_key = 'mine', summary = 'Not locked', locks = '{title}'
    where id = ${id}`
  await lib.scan({ mode: 'deep' })
  const [book] = await sql`select title, sort_key, summary from book where id = ${id}`
  t.match(book, { title: 'Mine', sort_key: 'mine', summary: null })
})

check('a new sidecar makes the books beside it pending, and no others', async t => {
  const lib = await shelf(t, { 'Lone/1.cbz': comic(), 'Row/1.cbz': comic(), 'Row/2.cbz': comic() })
  await lib.scan()
  const dc = 'xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"'
  const opf = `<package version="2.0" ${dc}><metadata><dc:title>From sidecar</dc:title></metadata></package>`
  lib.write('Lone/metadata.opf', Buffer.from(opf))
  const scan = await lib.scan()
  t.equal(scan.to_index, 1)
  t.equal((await lib.books())[0]!.title, 'From sidecar')
  lib.write(
    'Row/series.json',
    Buffer.from(JSON.stringify({ metadata: { name: 'Row', year: 1999 } })),
  )
  t.equal((await lib.scan()).to_index, 2)
  t.match(await lib.scan(), { to_index: 0, opens: 0 })
})
