import t from 'tap'
import type { Viewer } from '../../../lib/auth/viewer.ts'
import { parseSeriesFilter } from '../../../lib/catalog/list/filter.ts'
import { listBooks } from '../../../lib/catalog/list/list-books.ts'
import { listSeries } from '../../../lib/catalog/list/list-series.ts'
import { writeSeriesSearch } from '../../../lib/catalog/search/search-rows.ts'
import { backfill } from '../../../pipeline/work/backfill.ts'
import { catalogue, checkedBy, comic, reader, shelve } from '../../kit/library.ts'

const all = await catalogue(t)
const { sql } = all
const scanned = checkedBy(t, all)
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

async function found(text: string, who = viewer()) {
  const { ids } = await listBooks(sql, who, { filter: null, text, page: 1, pageSize: 100 })
  const rows = await sql<{ title: string }[]>`select title from book where id = any(${ids})`
  return rows.map(row => row.title).sort()
}

async function seriesOf(condition: object, who = viewer()) {
  const filter = parseSeriesFilter(condition)
  const { ids } = await listSeries(sql, who, { filter, page: 1, pageSize: 100 })
  const rows = await sql<{ title: string }[]>`select title from series where id = any(${ids})`
  return rows.map(row => row.title).sort()
}

const is = (field: string, value: string) => ({ [field]: { operator: 'is', value } })

scanned('a scan makes books and series findable by what their files say', async t => {
  const shelf = await shelve(t, all, {
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
  t.same(await found('dammerung'), ['Das Ende', 'Der Anfang'], 'by the series')
  t.same(await found('MULLER'), ['Der Anfang'], 'by an author')
  t.same(await found('lang'), ['Der Anfang'], 'by a tag')
  t.same(await found('巨'), ['Else'], 'by one character of the series as the file names it')
  t.same(await found('other'), [], 'not by the folder, when the file says otherwise')
  t.same(await seriesOf(is('genre', 'sci-fi')), ['Dämmerung'])
  t.same(await seriesOf(is('genre', 'Drama')), ['Dämmerung', '進撃の巨人'])
  const labels = await sql`select name, spellings from label where key = 'sci-fi'`
  t.equal(labels.length, 1)
  t.equal(labels[0]!.spellings.length, 2)
  const [series] = await sql`select genres, book_genres from series where title = 'Dämmerung'`
  t.equal(series!.genres.length, 2, 'one name for both spellings')
  t.equal(series!.book_genres.length, 3)
})

scanned(
  'what changed on disk changes what is found, and a rescan without changes writes nothing',
  async t => {
    const shelf = await shelve(t, all, {
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
    t.same(await found('hello'), [])
    t.same(await found('goodbye'), ['Goodbye'])
    t.same(await seriesOf(is('genre', 'comedy')), [])
    shelf.remove('Quokka/2.cbz')
    await shelf.scan({ options: { confirmMissing: true } })
    t.same(await found('quokka'), ['Goodbye'], 'missing books are not found')
    shelf.move('Quokka', 'Wombat')
    await shelf.scan({ options: { confirmMissing: true } })
    t.same(await found('quokka'), [])
    t.same(
      await found('wombat'),
      ['Goodbye'],
      'a renamed series renames what its books are found by',
    )
  },
)

scanned('a title that a user locked is what is found', async t => {
  const shelf = await shelve(t, all, { 'Lynx/1.cbz': comic({ info: info({ Title: 'Said' }) }) })
  await shelf.scan()
  await sql`update book set title = 'Chosen', locks = '{title}' where library_id = ${shelf.id}`
  shelf.write('Lynx/1.cbz', comic({ pages: 4, info: info({ Title: 'Said again' }) }))
  await shelf.scan()
  t.same(await found('lynx chosen'), ['Chosen'])
  t.same(await found('said'), [])
})

scanned('a series that was named while a scan read its books is found by its name', async t => {
  const shelf = await shelve(t, all, { 'Okapi/1.cbz': comic({ info: info({ Title: 'First' }) }) })
  await shelf.scan()
  const [series] = await sql<{ id: string }[]>`select id from series where name = 'Okapi'`
  await sql`
    update series set title = 'Elected', provenance = '{"title": "user"}' where id = ${series!.id}`
  await sql.begin(tx => writeSeriesSearch(tx, [series!.id]))
  // As a scan leaves it that had asked for the title before.
  await sql`
    update book_search set text = replace(text, ' elected', ' okapi') where series_id = ${series!.id}`
  shelf.write('Okapi/2.cbz', comic({ info: info({ Title: 'Second' }) }))
  await shelf.scan()
  t.same(await found('elected'), ['First', 'Second'])
})

scanned('places of readers follow books that come and go', async t => {
  const shelf = await shelve(t, all, { 'Heron/1.cbz': comic(), 'Heron/2.cbz': comic() })
  await shelf.scan()
  const who = await reader(sql)
  for (const book of await shelf.books()) await who.read(book.id, 1)
  await sql`update progress set is_completed = true, completed_at = now() where account_id = ${who.id}`
  shelf.write('Heron/3.cbz', comic())
  await shelf.scan()
  t.same(await seriesOf(is('readStatus', 'in_progress'), viewer(who.id)), ['Heron'])
  shelf.remove('Heron/3.cbz')
  await shelf.scan({ options: { confirmMissing: true } })
  t.same(await seriesOf(is('readStatus', 'read'), viewer(who.id)), ['Heron'])
})

scanned('what one scan brings in is listed volume by volume', async t => {
  const volumes = (name: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${name} ${i + 1}.cbz`)
  // No more than one job takes: jobs are done side by side.
  const paths = [...volumes('Asterix/Asterix', 12), ...volumes('Berserk/Berserk c', 32)]
  const shelf = await shelve(t, all, Object.fromEntries(paths.map(path => [path, comic()])))
  await shelf.scan()
  const { ids } = await listBooks(sql, viewer(), {
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

scanned('a catalogue of an older release is filled in', async t => {
  const shelf = await shelve(t, all, {
    'Ibex 10/1.cbz': comic({ info: info({ Title: 'Old', Genre: 'Nature' }) }),
  })
  await shelf.scan()
  const [key] = await sql`select name_key from series where library_id = ${shelf.id}`
  await sql`delete from book_search`
  await sql`delete from series_search`
  await sql`delete from label`
  await sql`update series set name_key = lower(name), genres = '{}', book_genres = '{}'`
  t.ok((await backfill(sql)) > 0)
  t.same(await found('ibex'), ['Old'])
  t.same(await seriesOf(is('genre', 'nature')), ['Ibex 10'])
  t.same(await sql`select name_key from series where library_id = ${shelf.id}`, [key])
  t.equal(await backfill(sql), 0, 'and then there is nothing to do')
})
