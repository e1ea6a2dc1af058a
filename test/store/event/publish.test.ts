// Events of a library from its creation to its deletion: published by scans and users in the transaction
// of the change, and none when nothing changed.
import t, { type Test } from 'tap'
import { maxWholeFileBytes } from '../../../lib/base/file.ts'
import { newId } from '../../../lib/base/id.ts'
import { publish } from '../../../lib/store/event/publish.ts'
import type { Catalog } from '../../kit/catalog.ts'
import { eventsDuring, eventsSince, lastEvent, messagesSince } from '../../kit/events.ts'
import { folderWithFiles } from '../../kit/files/folders.ts'
import {
  comic,
  createTestLibrary,
  largeComic,
  type TestLibrary,
  waitForScan,
} from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

const all = await startApi(t)
const { sql } = all
const admin = await all.createUser('admin')
const reader = await all.createUser('reader')

const eventsOf = (work: () => Promise<unknown>) => eventsDuring(sql, work)

async function scanEvents(library: TestLibrary, options: Parameters<TestLibrary['scan']>[0] = {}) {
  const events = await eventsOf(() => library.scan(options))
  return (...types: string[]) => events.filter(e => types.length === 0 || types.includes(e.type))
}

const typesOf = (events: { type: string }[]) => events.map(e => e.type)
const info = (more: string) => `<?xml version="1.0"?><ComicInfo>${more}</ComicInfo>`

t.test('a scan publishes each series before its books, each book, and their covers', async t => {
  const library = await createTestLibrary(t, all, {
    'A/1.cbz': comic(),
    'A/2.cbz': comic({ info: info('<Genre>Horror</Genre>') }),
    'B/1.cbz': comic(),
    'B/broken.cbz': Buffer.from('no archive'),
  })
  const [created] = (await eventsSince(sql)).filter(e => e.library === library.id)
  t.match(created, { type: 'library_created' }, 'the library comes first')
  const first = await scanEvents(library)
  const books = await library.books()
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
    'and the series that display them',
  )
  const a = books.find(b => b.folder === 'A')!.seriesId
  t.same(
    first('series_updated').map(e => e.series),
    [a],
    'whose genre was unknown before',
  )
  t.ok(first().every(e => e.library === library.id))

  t.same((await scanEvents(library))(), [], 'a second scan publishes nothing')
  t.same(
    (await scanEvents(library, { mode: 'deep' }))(),
    [],
    'neither does one that reads all files again',
  )
})

t.test('file changes are published with the ids of their books', async t => {
  const library = await createTestLibrary(t, all, {
    'A/1.cbz': comic(),
    'A/2.cbz': comic(),
    'B/1.cbz': comic(),
  })
  await library.scan()
  const [one, two, three] = await library.books()
  const at = (book: { id: string; seriesId: string }) => ({
    library: library.id,
    series: book.seriesId,
    book: book.id,
  })

  library.move('A/1.cbz', 'B/9.cbz')
  const moved = await scanEvents(library)
  t.same(moved('book_created', 'book_updated'), [
    { type: 'book_updated', ...at({ id: one!.id, seriesId: three!.seriesId }) },
  ])
  t.ok(
    moved('series_updated').some(e => e.series === one!.seriesId),
    'the series that it left',
  )

  library.write('A/2.cbz', comic({ pages: 3 }))
  const changed = await scanEvents(library)
  t.same(changed('book_updated'), [{ type: 'book_updated', ...at(two!) }])
  t.same(
    changed('cover_updated').flatMap(e => e.book ?? []),
    [two!.id],
  )

  library.write('A/2.cbz', Buffer.from('broken now'))
  t.same((await scanEvents(library))('book_updated'), [{ type: 'book_updated', ...at(two!) }])
  t.same((await scanEvents(library, { mode: 'deep' }))(), [], 'once')

  const bytes = comic()
  library.write('B/3.cbz', bytes)
  await library.scan()
  const book = await library.book('3.cbz')
  library.remove('B/3.cbz')
  const deleted = { type: 'book_updated', ...at(book), fields: ['deleted'] }
  t.same((await scanEvents(library))('book_updated'), [deleted])
  library.write('B/3.cbz', bytes)
  t.same((await scanEvents(library))('book_updated'), [deleted], 'the file was restored')

  library.remove('A/2.cbz')
  await library.scan({ options: { confirmMissing: true } })
  const purged = await eventsOf(() => admin.delete(`/libraries/${library.id}/purge-deleted`))
  t.same(purged, [
    { type: 'book_deleted', ...at(two!), rating: null, tags: [] },
    { type: 'series_deleted', library: library.id, series: two!.seriesId, rating: null, tags: [] },
  ])
})

t.test('a changed metadata file is published for its series only', async t => {
  const library = await createTestLibrary(t, all, { 'A/1.cbz': comic(), 'B/1.cbz': comic() })
  await library.scan()
  const [one] = await library.books()
  library.write(
    'A/series.json',
    Buffer.from('{"metadata": {"type": "comicSeries", "name": "A", "publisher": "Ink"}}'),
  )
  const seen = await scanEvents(library)
  t.same(seen(), [{ type: 'series_updated', library: library.id, series: one!.seriesId }])
})

t.test('a library is created, changed and deleted', async t => {
  const path = folderWithFiles(t, { 'A/1.cbz': comic() })
  let id = ''
  const created = await eventsOf(async () => {
    const { body } = await admin.post('/libraries', { name: 'L', path, scanImmediately: true })
    id = body.id
    const [scan] = await sql`select id from scan where library_id = ${id}`
    await waitForScan(all as Catalog, scan!.id)
  })
  t.match(created[0], { type: 'library_created', library: id })
  t.same(typesOf(created.slice(1)).sort(), [
    'book_created',
    'cover_updated',
    'cover_updated',
    'series_created',
  ])
  const change = () => admin.patch(`/libraries/${id}`, { name: 'M', excludedPatterns: '*.tmp' })
  t.same(await eventsOf(change), [
    { type: 'library_updated', library: id, fields: ['excluded_patterns', 'name'] },
  ])
  t.same(await eventsOf(change), [])
  await sql`insert into account_library (account_id, library_id) values (${reader.id}, ${id})`
  t.same(
    await eventsOf(async () => {
      await admin.delete(`/libraries/${id}`)
      while ((await sql`select 1 from library where id = ${id}`).length > 0) all.pipeline.wake()
    }),
    [{ type: 'library_deleted', library: id, accounts: [reader.id] }],
    'one event stands for all its contents',
  )
})

t.test('a failed change publishes nothing', async t => {
  const before = await lastEvent(sql)
  const libraryId = newId()
  const broken = sql.begin(async tx => {
    await publish(tx, [{ type: 'library_updated', libraryId }])
    throw new Error('rolled back')
  })
  await t.rejects(broken, { message: 'rolled back' })
  const [book] = await sql<{ id: string }[]>`select id from book limit 1`
  t.equal((await admin.patch(`/books/${book!.id}/metadata`, { isbns: 'none' })).status, 400)
  t.same(await eventsSince(sql, before), [])
})

t.test('many events of one type become a few rows with consecutive numbers', async t => {
  const before = await lastEvent(sql)
  const libraryId = newId()
  const books = Array.from({ length: 1_201 }, () => ({ id: newId(), seriesId: newId() }))
  await publish(sql, [{ type: 'book_created', libraryId, books }])
  const seen = (await eventsSince(sql, before)).filter(e => e.library === libraryId)
  t.same(
    seen.map(e => ({ id: e.book, seriesId: e.series })),
    books,
  )
  // An event of background work may come before them.
  const first = seen[0]!.number
  t.ok(first > before)
  t.same(
    seen.map(e => e.number),
    books.map((_, i) => first + i),
  )
  const [row] =
    await sql`select count(*)::integer as rows from event where library_id = ${libraryId}`
  t.equal(row!.rows, 3)
})

t.test('a scan publishes its progress from the request to its last hash', async (t: Test) => {
  const before = await lastEvent(sql)
  const library = await createTestLibrary(t, all, {
    'A/1.cbz': largeComic(),
    'A/2.cbz': Buffer.alloc(maxWholeFileBytes + 1, 'no archive'),
  })
  const { id } = await library.scan()
  const scans = (await messagesSince(sql, 'scan', before)).filter(m => m.scan_id === id)
  t.same(
    scans.map(m => m.status).filter((status, i, list) => status !== list[i - 1]),
    ['pending', 'running', 'completed'],
  )
  t.equal(scans[0]!.stage, 'waiting')
  t.ok(scans.some(m => m.stage === 'discovering'))
  t.match(scans.at(-1), {
    library_id: library.id,
    stage: 'done',
    mode: 'normal',
    files_total: 2,
    files_discovered: 2,
    files_processed: 2,
    covers_total: 1,
    covers_made: 1,
    hashes_total: 2,
    hashes_made: 2,
    seconds_left: null,
    series_created: 1,
    books_added: 1,
    errors: 1,
    message: null,
  })
  t.ok(scans.at(-1)!.files_per_second > 0)
  const tasks = (await messagesSince(sql, 'task', before)).filter(m => m.task_id === id)
  t.equal(tasks.filter(m => m.status === 'completed').length, 1, 'its completion is published once')
  t.match(tasks.at(-1), {
    task_type: 'scan_library',
    status: 'completed',
    progress: { current: 2, total: 2 },
    library_id: library.id,
  })
  const { body } = await admin.get(`/libraries/${library.id}/scan-status`)
  t.match(body, { seriesCreated: 1, status: 'completed' })
})
