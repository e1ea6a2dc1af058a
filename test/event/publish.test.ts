// What is told of a library from its making to its end: by scans and by users, at the moment of the
// change, and nothing when nothing changed.
import t, { type Test } from 'tap'
import { tell } from '../../lib/event/publish.ts'
import { newId } from '../../lib/id.ts'
import { eventsSince, lastEvent, messagesSince, toldWhile } from '../kit/events.ts'
import { type Catalogue, comic, ended, folderOf, type Shelf, shelve } from '../kit/library.ts'
import { serve } from '../kit/server.ts'

const all = await serve(t)
const { sql } = all
const admin = await all.as('admin')
const reader = await all.as('reader')

const told = (work: () => Promise<unknown>) => toldWhile(sql, work)

async function scanned(shelf: Shelf, options: Parameters<Shelf['scan']>[0] = {}) {
  const events = await told(() => shelf.scan(options))
  return (...types: string[]) => events.filter(e => types.length === 0 || types.includes(e.type))
}

const typesOf = (events: { type: string }[]) => events.map(e => e.type)
const info = (more: string) => `<?xml version="1.0"?><ComicInfo>${more}</ComicInfo>`

t.test(
  'a scan tells of each series before its books, of each book, and of their covers',
  async t => {
    const shelf = await shelve(t, all, {
      'A/1.cbz': comic(),
      'A/2.cbz': comic({ info: info('<Genre>Horror</Genre>') }),
      'B/1.cbz': comic(),
      'B/broken.cbz': Buffer.from('no archive'),
    })
    const [made] = (await eventsSince(sql)).filter(e => e.library === shelf.id)
    t.match(made, { type: 'library_created' }, 'of the library first')
    const first = await scanned(shelf)
    const books = await shelf.books()
    t.same(
      first('book_created')
        .map(e => e.book)
        .sort(),
      books.map(b => b.id).sort(),
    )
    t.equal(first('series_created').length, 2)
    for (const book of books) {
      const types = typesOf(first().filter(e => e.series === book.seriesId))
      t.ok(types.indexOf('series_created') < types.indexOf('book_created'))
      t.ok(first('book_created').some(e => e.book === book.id && e.series === book.seriesId))
    }
    t.same(
      first('cover_updated')
        .flatMap(e => e.book ?? [])
        .sort(),
      books
        .filter(b => b.cover)
        .map(b => b.id)
        .sort(),
    )
    t.same(
      [...new Set(first('cover_updated').flatMap(e => (e.book ? [] : [e.series])))].sort(),
      [...new Set(books.map(b => b.seriesId))].sort(),
      'and of the series that show them',
    )
    const a = books.find(b => b.folder === 'A')!.seriesId
    t.same(
      first('series_updated').map(e => e.series),
      [a],
      'whose genre was not known before',
    )
    t.ok(first().every(e => e.library === shelf.id))

    t.same((await scanned(shelf))(), [], 'a second scan has nothing to tell')
    t.same((await scanned(shelf, { mode: 'deep' }))(), [], 'nor has one that reads all anew')
  },
)

t.test('what becomes of files is told under the ids of their books', async t => {
  const shelf = await shelve(t, all, { 'A/1.cbz': comic(), 'A/2.cbz': comic(), 'B/1.cbz': comic() })
  await shelf.scan()
  const [one, two, three] = await shelf.books()
  const at = (book: { id: string; seriesId: string }) => ({
    library: shelf.id,
    series: book.seriesId,
    book: book.id,
  })

  shelf.move('A/1.cbz', 'B/9.cbz')
  const moved = await scanned(shelf)
  t.same(moved('book_created', 'book_updated'), [
    { type: 'book_updated', ...at({ id: one!.id, seriesId: three!.seriesId }) },
  ])
  t.ok(
    moved('series_updated').some(e => e.series === one!.seriesId),
    'it left a series',
  )

  shelf.write('A/2.cbz', comic({ pages: 3 }))
  const changed = await scanned(shelf)
  t.same(changed('book_updated'), [{ type: 'book_updated', ...at(two!) }])
  t.same(
    changed('cover_updated').flatMap(e => e.book ?? []),
    [two!.id],
  )

  shelf.write('A/2.cbz', Buffer.from('broken now'))
  t.same((await scanned(shelf))('book_updated'), [{ type: 'book_updated', ...at(two!) }])
  t.same((await scanned(shelf, { mode: 'deep' }))(), [], 'once')

  const bytes = comic()
  shelf.write('B/3.cbz', bytes)
  await shelf.scan()
  const book = await shelf.book('3.cbz')
  shelf.remove('B/3.cbz')
  const deleted = { type: 'book_updated', ...at(book), fields: ['deleted'] }
  t.same((await scanned(shelf))('book_updated'), [deleted])
  shelf.write('B/3.cbz', bytes)
  t.same((await scanned(shelf))('book_updated'), [deleted], 'it is back')

  shelf.remove('A/2.cbz')
  await shelf.scan({ options: { confirmMissing: true } })
  const purged = await told(() => admin.delete(`/libraries/${shelf.id}/purge-deleted`))
  t.same(purged, [
    { type: 'book_deleted', ...at(two!), rating: null, tags: [] },
    { type: 'series_deleted', library: shelf.id, series: two!.seriesId, rating: null, tags: [] },
  ])
})

t.test(
  'a file beside books that says something new is told of, and of the others nothing',
  async t => {
    const shelf = await shelve(t, all, { 'A/1.cbz': comic(), 'B/1.cbz': comic() })
    await shelf.scan()
    const [one] = await shelf.books()
    shelf.write(
      'A/series.json',
      Buffer.from('{"metadata": {"type": "comicSeries", "name": "A", "publisher": "Ink"}}'),
    )
    const seen = await scanned(shelf)
    t.same(seen(), [{ type: 'series_updated', library: shelf.id, series: one!.seriesId }])
  },
)

t.test('a library is made, changed and removed', async t => {
  const path = folderOf(t, { 'A/1.cbz': comic() })
  let id = ''
  const made = await told(async () => {
    const { body } = await admin.post('/libraries', { name: 'L', path, scanImmediately: true })
    id = body.id
    const [scan] = await sql`select id from scan where library_id = ${id}`
    await ended(all as Catalogue, scan!.id)
  })
  t.match(made[0], { type: 'library_created', library: id })
  t.same(typesOf(made.slice(1)).sort(), [
    'book_created',
    'cover_updated',
    'cover_updated',
    'series_created',
  ])
  const change = () => admin.patch(`/libraries/${id}`, { name: 'M', excludedPatterns: '*.tmp' })
  t.same(await told(change), [
    { type: 'library_updated', library: id, fields: ['excluded_patterns', 'name'] },
  ])
  t.same(await told(change), [])
  await sql`insert into account_library (account_id, library_id) values (${reader.id}, ${id})`
  t.same(
    await told(async () => {
      await admin.delete(`/libraries/${id}`)
      while ((await sql`select 1 from library where id = ${id}`).length > 0) all.pipeline.wake()
    }),
    [{ type: 'library_deleted', library: id, accounts: [reader.id] }],
    'which stands for all that was in it',
  )
})

t.test('what is not done is not told', async t => {
  const before = await lastEvent(sql)
  const libraryId = newId()
  const broken = sql.begin(async tx => {
    await tell(tx, [{ type: 'library_updated', libraryId }])
    throw new Error('on second thoughts')
  })
  await t.rejects(broken, { message: 'on second thoughts' })
  const [book] = await sql<{ id: string }[]>`select id from book limit 1`
  t.equal((await admin.patch(`/books/${book!.id}/metadata`, { isbns: 'none' })).status, 400)
  t.same(await eventsSince(sql, before), [])
})

t.test('many events of one kind are some rows, whose numbers have no gap', async t => {
  const before = await lastEvent(sql)
  const libraryId = newId()
  const books = Array.from({ length: 1_201 }, () => ({ id: newId(), seriesId: newId() }))
  await tell(sql, [{ type: 'book_created', libraryId, books }])
  const seen = await eventsSince(sql, before)
  t.same(
    seen.map(e => ({ id: e.book, seriesId: e.series })),
    books,
  )
  t.same(
    seen.map(e => e.number),
    books.map((_, i) => before + 1 + i),
  )
  const [row] =
    await sql`select count(*)::integer as rows from event where library_id = ${libraryId}`
  t.equal(row!.rows, 3)
})

t.test(
  'a scan says how it gets on, from the moment it is asked for to its last hash',
  async (t: Test) => {
    const before = await lastEvent(sql)
    const shelf = await shelve(t, all, { 'A/1.cbz': comic(), 'A/2.cbz': Buffer.from('no archive') })
    const { id } = await shelf.scan()
    const scans = (await messagesSince(sql, 'scan', before)).filter(m => m.scan_id === id)
    t.same(
      scans.map(m => m.status).filter((status, i, list) => status !== list[i - 1]),
      ['pending', 'running', 'completed'],
    )
    t.equal(scans[0]!.stage, 'waiting')
    t.ok(scans.some(m => m.stage === 'discovering'))
    t.match(scans.at(-1), {
      library_id: shelf.id,
      stage: 'done',
      mode: 'normal',
      files_total: 2,
      files_discovered: 2,
      files_processed: 2,
      series_created: 1,
      books_added: 1,
      errors: 1,
      message: null,
    })
    t.ok(scans.at(-1)!.files_per_second > 0)
    const tasks = (await messagesSince(sql, 'task', before)).filter(m => m.task_id === id)
    t.equal(tasks.filter(m => m.status === 'completed').length, 1, 'its end is told once')
    t.match(tasks.at(-1), {
      task_type: 'scan_library',
      status: 'completed',
      progress: { current: 2, total: 2 },
      library_id: shelf.id,
    })
    const { body } = await admin.get(`/libraries/${shelf.id}/scan-status`)
    t.match(body, { seriesCreated: 1, status: 'completed' })
  },
)
