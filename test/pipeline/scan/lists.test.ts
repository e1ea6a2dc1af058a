// Search, labels and reading counters after scans.
import t from 'tap'
import type { Viewer } from '../../../lib/accounts/viewer.ts'
import { refreshSeriesSearch } from '../../../lib/catalog/derived/search-rows.ts'
import { parseSeriesFilter } from '../../../lib/list/condition.ts'
import { listBooks } from '../../../lib/list/list-books.ts'
import { listSeries } from '../../../lib/list/list-series.ts'
import { createServices } from '../../../lib/store/services.ts'
import { createReader } from '../../kit/accounts.ts'
import { openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'

const all = await openCatalog(t)
const { sql } = all
const db = { sql, services: createServices(sql) }
const scanned = testWithDoctor(t, all)
const info = (tags: Record<string, string>) =>
  `<ComicInfo>${Object.entries(tags)
    .map(([tag, text]) => `<${tag}>${text}</${tag}>`)
    .join('')}</ComicInfo>`

const viewer = (accountId = '01890000-0000-7000-8000-000000000000'): Viewer => ({
  accountId,
  libraries: null,
  allowedTags: [],
  deniedTags: [],
  ageLimit: null,
  showsUnrated: true,
})

async function search(text: string, who = viewer()) {
  const { ids } = await listBooks(db, who, { filter: null, text, page: 1, pageSize: 100 })
  const rows = await sql<{ title: string }[]>`select title from book where id = any(${ids})`
  return rows.map(row => row.title).sort()
}

async function seriesOf(condition: object, who = viewer()) {
  const filter = parseSeriesFilter(condition)
  const { ids } = await listSeries(db, who, { filter, page: 1, pageSize: 100 })
  const rows = await sql<{ title: string }[]>`select title from series where id = any(${ids})`
  return rows.map(row => row.title).sort()
}

const is = (field: string, value: string) => ({ [field]: { operator: 'is', value } })

scanned('after a scan books and series are found by the metadata of their files', async t => {
  const shelf = await createTestLibrary(t, all, {
    'Dämmerung/1.cbz': comic({
      info: info({
        Title: 'Der Anfang',
        Writer: 'Jo Müller',
        Genre: 'Sci-Fi, Drama',
        Tags: 'lang',
      }),
    }),
    'Dämmerung/2.cbz': comic({ info: info({ Title: 'Das Ende', Genre: 'SCI-FI' }) }),
    'Other/1.cbz': comic({ info: info({ Title: 'Else', Series: '進撃の巨人', Genre: 'drama' }) }),
  })
  await shelf.scan()
  t.same(await search('dammerung'), ['Das Ende', 'Der Anfang'], 'by the series')
  t.same(await search('MULLER'), ['Der Anfang'], 'by an author')
  t.same(await search('lang'), ['Der Anfang'], 'by a tag')
  t.same(await search('巨'), ['Else'], 'by one character of the series in the metadata')
  t.same(await search('other'), [], 'not by the folder, if the metadata names another series')
  t.same(await seriesOf(is('genre', 'sci-fi')), ['Dämmerung'])
  t.same(await seriesOf(is('genre', 'Drama')), ['Dämmerung', '進撃の巨人'])
  const labels = await sql`select name, spellings from label where key = 'sci-fi'`
  t.equal(labels.length, 1)
  t.equal(labels[0]!.spellings.length, 2)
  const [series] = await sql`select genres, book_genres from series where title = 'Dämmerung'`
  t.equal(series!.genres.length, 2, 'one label for both spellings')
  t.equal(series!.book_genres.length, 3)
})

scanned(
  'changes on disk change search results, and a rescan without changes writes nothing',
  async t => {
    const shelf = await createTestLibrary(t, all, {
      'Quokka/1.cbz': comic({ info: info({ Title: 'Hello', Genre: 'Comedy' }) }),
      'Quokka/2.cbz': comic({ info: info({ Title: 'Again' }) }),
    })
    await shelf.scan()
    const versions = () => sql`
    select 'label' as of, xmin::text as version, id from label
    union all select 'link', xmin::text, series_id from series_label
    union all select 'series', xmin::text, series_id from series_search
    union all select 'book', xmin::text, book_id from book_search
    union all select 'row', xmin::text, id from series
    order by 1, 3, 2`
    const before = await versions()
    await shelf.scan()
    await shelf.scan({ mode: 'deep' })
    const after = await versions()
    t.same(
      after.filter(v => v.of !== 'row'),
      before.filter(v => v.of !== 'row'),
    )
    shelf.write('Quokka/1.cbz', comic({ pages: 3, info: info({ Title: 'Goodbye' }) }))
    await shelf.scan()
    t.same(await search('hello'), [])
    t.same(await search('goodbye'), ['Goodbye'])
    t.same(await seriesOf(is('genre', 'comedy')), [])
    shelf.remove('Quokka/2.cbz')
    await shelf.scan({ options: { confirmMissing: true } })
    t.same(await search('quokka'), ['Goodbye'], 'missing books are excluded')
    shelf.move('Quokka', 'Wombat')
    await shelf.scan({ options: { confirmMissing: true } })
    t.same(await search('quokka'), [])
    t.same(await search('wombat'), ['Goodbye'], 'books are found by the new name of their series')
  },
)

scanned('a book is found by the title that a user locked', async t => {
  const shelf = await createTestLibrary(t, all, {
    'Lynx/1.cbz': comic({ info: info({ Title: 'Embedded' }) }),
  })
  await shelf.scan()
  await sql`update book set title = 'Chosen', locks = '{title}' where library_id = ${shelf.id}`
  shelf.write('Lynx/1.cbz', comic({ pages: 4, info: info({ Title: 'Embedded again' }) }))
  await shelf.scan()
  t.same(await search('lynx chosen'), ['Chosen'])
  t.same(await search('embedded'), [])
})

scanned('a series that was renamed during a scan is found by its new title', async t => {
  const shelf = await createTestLibrary(t, all, {
    'Okapi/1.cbz': comic({ info: info({ Title: 'First' }) }),
  })
  await shelf.scan()
  const [series] = await sql<{ id: string }[]>`select id from series where name = 'Okapi'`
  await sql`
    update series set title = 'Elected', provenance = '{"title": "user"}' where id = ${series!.id}`
  await sql.begin(tx => refreshSeriesSearch(tx, [series!.id]))
  // As written by a scan that had read the previous title.
  await sql`
    update book_search set text = replace(text, ' elected', ' okapi') where series_id = ${series!.id}`
  shelf.write('Okapi/2.cbz', comic({ info: info({ Title: 'Second' }) }))
  await shelf.scan()
  t.same(await search('elected'), ['First', 'Second'])
})

scanned('reading counters follow added and missing books', async t => {
  const shelf = await createTestLibrary(t, all, { 'Heron/1.cbz': comic(), 'Heron/2.cbz': comic() })
  await shelf.scan()
  const reader = await createReader(sql)
  for (const book of await shelf.books()) await reader.read(book.id, 1)
  await sql`update progress set is_completed = true, completed_at = now() where account_id = ${reader.id}`
  shelf.write('Heron/3.cbz', comic())
  await shelf.scan()
  t.same(await seriesOf(is('readStatus', 'in_progress'), viewer(reader.id)), ['Heron'])
  shelf.remove('Heron/3.cbz')
  await shelf.scan({ options: { confirmMissing: true } })
  t.same(await seriesOf(is('readStatus', 'read'), viewer(reader.id)), ['Heron'])
})

scanned('books of one scan are listed volume by volume', async t => {
  const volumes = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${name} ${i + 1}.cbz`)
  // Fits in one job, because jobs run concurrently.
  const paths = [...volumes('Asterix/Asterix', 12), ...volumes('Berserk/Berserk c', 32)]
  const shelf = await createTestLibrary(
    t,
    all,
    Object.fromEntries(paths.map(path => [path, comic()])),
  )
  await shelf.scan()
  const { ids } = await listBooks(db, viewer(), {
    filter: null,
    libraryId: shelf.id,
    sort: 'created',
    direction: 'desc',
    page: 1,
    pageSize: 200,
  })
  const places = new Map((await shelf.books()).map(b => [b.id, `${b.folder}/${b.name}`]))
  t.same(
    ids.map(id => places.get(id)),
    paths.toReversed(),
  )
})
