// Libraries over HTTP: create, read, update, delete, scan preview.
import { mkdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createReader } from '../../../kit/accounts.ts'
import { folderWithFiles, temporaryFolder } from '../../../kit/files/folders.ts'
import { holdBooks } from '../../../kit/hold-books.ts'
import { comic, comicFiles, createTestLibrary, waitForScan } from '../../../kit/library.ts'
import { waitUntil } from '../../../kit/processes.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const admin = await all.createUser('admin')
const maintainer = await all.createUser('maintainer')
const someone = await all.createUser('reader')

type LibrarySummary = { id: string; name: string; bookCount: number }

const make = async (t: Test, more: object = {}) => {
  const path = folderWithFiles(t, { 'Akira/1.cbz': comic() })
  const created = await admin.post('/libraries', { name: 'Manga', path, ...more })
  t.equal(created.status, 201, JSON.stringify(created.body))
  return created.body
}

t.test('a library is created with all fields, in camelCase and snake_case', async t => {
  const path = folderWithFiles(t, { 'Akira/1.cbz': comic() })
  const snake = await admin.post('/libraries', {
    name: ' Manga ',
    path: `${path}/`,
    scanning_config: {
      enabled: true,
      cron_schedule: '0 */6 * * *',
      default_mode: 'deep',
      scan_on_start: true,
    },
    default_reading_direction: 'rtl',
    allowed_formats: ['cbz', 'PDF'],
  })
  t.equal(snake.status, 201)
  const config = {
    enabled: true,
    scanMode: 'deep',
    defaultMode: 'deep',
    cronSchedule: '0 */6 * * *',
    cronTimezone: null,
    scanOnStart: true,
    purgeDeletedOnScan: false,
    watch: 'off',
  }
  t.match(snake.body, {
    name: 'Manga',
    path,
    isActive: true,
    description: null,
    defaultReadingDirection: 'rtl',
    allowedFormats: ['CBZ', 'PDF'],
    seriesStrategy: 'series_volume',
    bookStrategy: 'metadata_first',
    numberStrategy: 'smart',
    bookCount: 0,
    seriesCount: 0,
    lastScannedAt: null,
  })
  t.same(snake.body.scanningConfig, config)
  t.same(snake.body.scanning_config, {
    enabled: true,
    default_mode: 'deep',
    cron_schedule: '0 */6 * * *',
    cron_timezone: null,
    scan_on_start: true,
    purge_deleted_on_scan: false,
    watch: 'off',
  })
  t.same(snake.body.watchState, { mode: 'off', message: null, since: null })
  const rules = [
    { pattern: '\\(.*\\)', replacement: '', description: 'no brackets', enabled: true },
  ]
  const conditions = {
    mode: 'all',
    rules: [{ field: 'metadata.title', operator: 'is_not_null', value: null }],
  }
  const camel = await make(t, {
    description: 'All of it',
    seriesStrategy: 'flat',
    seriesConfig: { require_metadata: true },
    bookStrategy: 'custom',
    bookConfig: { pattern: '(?P<title>.+)' },
    numberStrategy: 'filename',
    numberConfig: { anything: [1] },
    scanningConfig: { scanMode: 'normal', cronTimezone: 'Europe/Berlin' },
    excludedPatterns: '*.tmp\nExtras/',
    titlePreprocessingRules: rules,
    autoMatchConditions: conditions,
  })
  t.match(camel, {
    description: 'All of it',
    seriesStrategy: 'flat',
    seriesConfig: { requireMetadata: true },
    bookStrategy: 'custom',
    numberStrategy: 'filename',
    numberConfig: { anything: [1] },
    excludedPatterns: '*.tmp\nExtras/',
    allowedFormats: null,
    titlePreprocessingRules: rules,
    autoMatchConditions: conditions,
  })
  t.match(camel.scanningConfig, {
    enabled: false,
    scanMode: 'normal',
    cronTimezone: 'Europe/Berlin',
  })
  t.same((await someone.get(`/libraries/${camel.id}`)).body, { ...camel, path: '' })
})

t.test('a library has the watch setting and the watch state', async t => {
  const { id } = await make(t)
  const at = `/libraries/${id}`
  const get = async () => (await admin.get(at)).body
  t.match(await get(), { scanningConfig: null, watchState: { mode: 'off', since: null } })
  const heartbeatAgo = (seconds: number) => all.sql`
    insert into library_watch (library_id, mode, message, seen_at)
    values (${id}, 'polling', 'No more watches', now() - make_interval(secs => ${seconds}))
    on conflict (library_id) do update set message = excluded.message, seen_at = excluded.seen_at`
  await heartbeatAgo(80)
  const { watchState } = await get()
  t.match(watchState, { mode: 'polling', message: 'No more watches', since: /^\d{4}-.*Z$/ })
  await heartbeatAgo(100)
  t.match(
    (await get()).watchState,
    { mode: 'off', message: null },
    'a process without heartbeat is ignored',
  )
  const patched = await admin.patch(at, { scanning_config: { watch: 'poll' } })
  t.match(patched.body, { scanningConfig: { watch: 'poll' }, scanning_config: { watch: 'poll' } })
  const refused = await admin.patch(at, { scanningConfig: { watch: 'always' } })
  t.equal(refused.status, 400)
  const old = { enabled: false, scanMode: 'normal', cronSchedule: null, cronTimezone: null }
  const before = { ...old, scanOnStart: false, purgeDeletedOnScan: false }
  await all.sql`update library set scanning_config = ${all.sql.json(before)} where id = ${id}`
  const stored = await get()
  t.equal(stored.scanningConfig.watch, 'off', 'default for older rows')
  const changed = { ...stored, scanning_config: { ...stored.scanning_config, watch: 'on' } }
  t.match((await admin.put(at, changed)).body, { scanningConfig: { watch: 'on' } })
})

t.test('invalid folders are rejected with a message', async t => {
  const root = folderWithFiles(t, { 'A/B/1.cbz': comic(), 'file.cbz': comic() })
  const refused = async (path: string, status: number, message: RegExp) => {
    const { status: actual, body } = await admin.post('/libraries', { name: 'X', path })
    t.equal(actual, status, `${path}: ${body.message}`)
    t.match(body.message, message)
  }
  await refused('relative/folder', 400, /absolute/)
  await refused(`${root}/nothing`, 400, /cannot be read/)
  await refused(`${root}/file.cbz`, 400, /not a folder/)
  await refused(`${root}/\u0000`, 400, /null character/)
  await refused(all.data, 400, /data directory/)
  mkdirSync(join(all.data, 'inside'), { recursive: true })
  await refused(join(all.data, 'inside'), 400, /data directory/)
  await make(t, { path: join(root, 'A') })
  await refused(join(root, 'A'), 409, /already/)
  await refused(join(root, 'A', 'B'), 409, /inside another/)
  await refused(root, 409, /is inside/)
  const link = join(temporaryFolder(t), 'link')
  symlinkSync(join(root, 'A'), link)
  await refused(link, 409, /already/)
  mkdirSync(join(root, 'AB'))
  await make(t, { path: join(root, 'AB') })
})

t.test('invalid settings are rejected', async t => {
  const path = temporaryFolder(t)
  const invalid = [
    { seriesStrategy: 'by_colour' },
    { seriesStrategy: 'custom', seriesConfig: { pattern: '(' } },
    { seriesConfig: { unknown: 1 } },
    { bookStrategy: 'custom' },
    { bookStrategy: 'loud' },
    { numberStrategy: 'dice' },
    { defaultReadingDirection: 'up' },
    { allowedFormats: ['DOCX'] },
    { excludedPatterns: 'a\n'.repeat(501) },
    { excludedPatterns: `${'a'.repeat(999)}\n`.repeat(21) },
    { scanningConfig: { cronSchedule: 'every day' } },
    { scanningConfig: { cronSchedule: '0 0 * * * *' } },
    { scanningConfig: { cronTimezone: 'Mars/Olympus' } },
    { scanningConfig: { scanMode: 'fast' } },
    { scanningConfig: { mood: 'good' } },
    { titlePreprocessingRules: [{ pattern: '(', replacement: '' }] },
    { titlePreprocessingRules: [{ pattern: '(a)\\1', replacement: '' }] },
    { autoMatchConditions: { mode: 'some', rules: [] } },
    { autoMatchConditions: { mode: 'any', rules: [{ field: 'a b', operator: 'equals' }] } },
    {
      autoMatchConditions: {
        mode: 'any',
        rules: [{ field: 'a', operator: 'matches', value: '(' }],
      },
    },
    { autoMatchConditions: { mode: 'any', rules: [{ field: 'a', operator: 'in', value: 3 }] } },
    {
      autoMatchConditions: {
        mode: 'any',
        rules: [{ field: 'a', operator: 'equals', value: nested(2000) }],
      },
    },
    { colour: 'red' },
    { name: '  ' },
  ]
  for (const more of invalid) {
    const { status, body } = await admin.post('/libraries', { name: 'X', path, ...more })
    t.equal(status, 400, `${JSON.stringify(more).slice(0, 80)}: ${body.message}`)
    t.notMatch(body.message, /cannot be read/)
  }
  t.equal(
    (await admin.get('/libraries?pageSize=500')).body.data.some(
      (l: LibrarySummary) => l.name === 'X',
    ),
    false,
  )
})

t.test('PUT and PATCH change only present fields', async t => {
  const before = await make(t, { description: 'old', excludedPatterns: '*.tmp' })
  const put = await maintainer.put(`/libraries/${before.id}`, { name: 'New', description: null })
  t.equal(put.status, 200)
  t.match(put.body, {
    name: 'New',
    description: null,
    excludedPatterns: '*.tmp',
    path: before.path,
  })
  const patch = await maintainer.patch(`/libraries/${before.id}`, {
    is_active: false,
    excluded_patterns: null,
    scanningConfig: { cronSchedule: '5 4 * * *' },
  })
  t.match(patch.body, {
    name: 'New',
    isActive: false,
    excludedPatterns: null,
    scanning_config: { enabled: true, cron_schedule: '5 4 * * *', default_mode: 'normal' },
  })
  const cleared = await maintainer.patch(`/libraries/${before.id}`, {
    scanning_config: null,
    name: null,
  })
  t.match(cleared.body, { name: 'New', scanningConfig: null, scanning_config: null })
  const unchanged = await maintainer.put(`/libraries/${before.id}`, {})
  t.same(unchanged.body, cleared.body)
})

t.test('a changed strategy is applied by the next scan', async t => {
  const { id } = await make(t, { seriesStrategy: 'flat' })
  const change = (body: object) => admin.patch(`/libraries/${id}`, body)
  t.match((await change({ seriesStrategy: 'flat' })).body, { strategiesChanged: false })
  t.match((await change({ series_strategy: 'flat', series_config: {} })).body, {
    ...{ strategiesChanged: false, seriesConfig: { requireMetadata: false } },
  })
  t.match((await change({ seriesConfig: { requireMetadata: true } })).body, {
    ...{ strategiesChanged: true, seriesStrategy: 'flat', seriesConfig: { requireMetadata: true } },
  })
  const { body } = await change({ seriesStrategy: 'calibre' })
  t.match(body, { seriesStrategy: 'calibre', seriesConfig: { seriesMode: 'from_metadata' } })
  t.notOk('requireMetadata' in body.seriesConfig, 'the configuration is that of the new strategy')
  t.equal((await change({ seriesStrategy: 'by_color' })).status, 400)
  t.equal((await change({ seriesConfig: { skipDepth: 1 } })).status, 400)
})

t.test('a book strategy has settings of its own', async t => {
  const { id } = await make(t, { bookStrategy: 'custom', bookConfig: { pattern: '(.*)' } })
  t.match((await admin.patch(`/libraries/${id}`, { bookStrategy: 'smart' })).body, {
    bookStrategy: 'smart',
    bookConfig: { additionalGenericPatterns: [] },
  })
  t.equal((await admin.patch(`/libraries/${id}`, { bookStrategy: 'custom' })).status, 400)
})

t.test('a library with a new folder retains books and progress', async t => {
  const shelf = await createTestLibrary(t, all, { 'Akira/1.cbz': comic(), 'Akira/2.cbz': comic() })
  await shelf.scan()
  const books = await shelf.books()
  const ana = await createReader(all.sql)
  await ana.read(books[0]!.id, 2)
  const elsewhere = join(temporaryFolder(t), 'elsewhere')
  renameSync(shelf.root, elsewhere)
  const moved = await admin.put(`/libraries/${shelf.id}`, { path: elsewhere })
  t.match(moved.body, { path: elsewhere, bookCount: 2 })
  const scan = await shelf.scan()
  t.match(scan, { state: 'completed', missing: 0, added: 0 })
  t.same(
    (await shelf.books()).map(b => b.id),
    books.map(b => b.id),
  )
  t.same(await ana.pages(), { [books[0]!.id]: 2 })
  t.equal((await admin.put(`/libraries/${shelf.id}`, { path: '/nowhere at all' })).status, 400)
})

t.test('libraries are listed by name, in pages, with counters', async t => {
  const shelf = await createTestLibrary(t, all, {
    'A/1.cbz': comic(),
    'A/2.cbz': comic(),
    'B/1.cbz': comic(),
  })
  await shelf.scan()
  const { body } = await someone.get('/libraries?page_size=500')
  const names: string[] = body.data.map((l: LibrarySummary) => l.name.toLowerCase())
  t.same(names, names.toSorted())
  t.equal(body.total, body.data.length)
  t.match(
    body.data.find((l: LibrarySummary) => l.id === shelf.id),
    { bookCount: 3, seriesCount: 2 },
  )
  const page = await someone.get('/libraries?page=2&pageSize=1')
  t.same(page.body.data, [body.data[1]])
  t.match(page.body.links.prev, /page=1/)
})

t.test('hidden libraries and series are neither listed nor counted', async t => {
  const open = await createTestLibrary(t, all, { 'A/1.cbz': comic(), 'B/1.cbz': comic() })
  const shut = await createTestLibrary(t, all, { 'A/1.cbz': comic() })
  await open.scan()
  await shut.scan()
  const child = await all.createUser('maintainer')
  await all.sql`update account set all_libraries = false, age_limit = 12 where id = ${child.id}`
  await all.sql`insert into account_library (account_id, library_id) values (${child.id}, ${open.id})`
  const books = await open.books()
  await all.sql`update book set age_rating = 18 where id = ${books[0]!.id}`
  const list = await child.get('/libraries')
  t.same(
    list.body.data.map((l: LibrarySummary) => [l.id, l.bookCount]),
    [[open.id, 1]],
  )
  const hidden = `/libraries/${shut.id}`
  for (const response of [
    await child.get(hidden),
    await child.put(hidden, { name: 'mine' }),
    await child.post(`${hidden}/scan`),
    await child.get(`${hidden}/scan-status`),
    await child.post(`${hidden}/scan/cancel`),
    await child.delete(`${hidden}/purge-deleted`),
    await child.post(`${hidden}/analyze`),
  ])
    t.equal(response.status, 404)
  const path = folderWithFiles(t, { 'A/1.cbz': comic() })
  t.equal((await child.post('/libraries', { name: 'Own', path })).status, 403)
  const limited = await all.createUser('admin')
  await all.sql`update account set all_libraries = false where id = ${limited.id}`
  const own = await limited.post('/libraries', { name: 'Own', path })
  t.equal(own.status, 201)
  t.equal((await limited.get(`/libraries/${own.body.id}`)).status, 200, 'the creator can see it')
})

t.test('scanImmediately starts a scan', async t => {
  const { id } = await make(t, { scanImmediately: true })
  const [scan] = await all.sql`select id from scan where library_id = ${id}`
  await waitForScan(all, scan!.id)
  t.match((await admin.get(`/libraries/${id}`)).body, { bookCount: 1, seriesCount: 1 })
})

t.test('a deleted library disappears immediately, and its folder can be used again', async t => {
  const shelf = await createTestLibrary(t, all, { ...comicFiles(20), 'B/1.cbz': comic() })
  await shelf.scan()
  const [book] = await shelf.books()
  const ana = await createReader(all.sql)
  await ana.read(book!.id, 1)
  t.equal((await maintainer.delete(`/libraries/${shelf.id}`)).status, 403)
  const gone = await admin.delete(`/libraries/${shelf.id}`)
  t.equal(gone.status, 204)
  t.equal((await someone.get(`/libraries/${shelf.id}`)).status, 404)
  t.equal((await someone.get(`/books/${book!.id}`)).status, 404)
  t.equal((await admin.delete(`/libraries/${shelf.id}`)).status, 404)
  const again = await admin.post('/libraries', { name: 'Again', path: shelf.root })
  t.equal(again.status, 201)
  t.equal(
    (await someone.get(`/libraries/${again.body.id}`)).status,
    200,
    'also during the deletion',
  )
  await untilErased(shelf.id)
  const [rest] = await all.sql`
    select (select count(*)::integer from library where id = ${shelf.id}) as libraries,
      (select count(*)::integer from book where library_id = ${shelf.id}) as books,
      (select count(*)::integer from series where library_id = ${shelf.id}) as series,
      (select count(*)::integer from directory where library_id = ${shelf.id}) as folders`
  t.same({ ...rest }, { libraries: 0, books: 0, series: 0, folders: 0 })
  t.same(await ana.pages(), {})
})

t.test('a library can be deleted during a scan', async t => {
  const shelf = await createTestLibrary(t, all, comicFiles(150))
  const hold = await holdBooks(all.sql)
  const started = await admin.post(`/libraries/${shelf.id}/scan`)
  t.equal(started.status, 200)
  all.pipeline.wake()
  await hold.isReached()
  t.equal((await admin.delete(`/libraries/${shelf.id}`)).status, 204)
  await hold.release()
  await untilErased(shelf.id)
  t.same([...(await all.sql`select 1 from library where id = ${shelf.id}`)], [])
})

t.test('readers cannot change libraries', async t => {
  const { id, path } = await make(t)
  for (const response of [
    await someone.post('/libraries', { name: 'x', path }),
    await someone.put(`/libraries/${id}`, { name: 'x' }),
    await someone.delete(`/libraries/${id}`),
    await someone.post('/libraries/preview-scan', { path }),
    await someone.post(`/libraries/${id}/scan`),
  ])
    t.equal(response.status, 403)
  t.equal((await all.anonymous.get('/libraries')).status, 401)
})

const untilErased = (id: string) =>
  waitUntil(async () => {
    all.pipeline.wake()
    return (await all.sql`select 1 from library where id = ${id}`).length === 0
  })

function nested(levels: number): unknown {
  return levels === 0 ? 1 : [nested(levels - 1)]
}
