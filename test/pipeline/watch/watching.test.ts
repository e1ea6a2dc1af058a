// Watched libraries: new, growing, moved and deleted files become visible without a request.
import { appendFileSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openLog } from '../../../lib/base/log.ts'
import { startPipeline } from '../../../pipeline/pipeline.ts'
import { quietMs } from '../../../pipeline/watch/changes.ts'
import { openFolderWatch } from '../../../pipeline/watch/watch-folders.ts'
import { startWatching } from '../../../pipeline/watch/watching.ts'
import { type Catalog, doctorFindings, openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { comic, createTestLibrary, type TestLibrary } from '../../kit/library.ts'
import { useClock } from '../../kit/suite/clock.ts'

type Sql = Catalog['sql']

// Five seconds on an idle machine; sooner than by polling on any.
const soonMs = 50_000
const log = openLog({ level: 'silent' })

/** A log, and what is at least a warning in it. */
function recordedLog() {
  const text: string[] = []
  const log = openLog({ level: 'warn' }, { write: line => void text.push(line) })
  return { log, lines: () => text.map(line => JSON.parse(line) as Record<string, unknown>) }
}

const configure = (sql: Sql, { id }: Pick<TestLibrary, 'id'>, watch: 'off' | 'on' | 'poll') => sql`
  update library set scanning_config = scanning_config || jsonb_build_object('watch', ${watch}::text)
  where id = ${id}`

async function state(sql: Sql, { id }: Pick<TestLibrary, 'id'>) {
  const [row] = await sql<{ mode: string; message: string | null }[]>`
    select mode, message from library_watch where library_id = ${id}`
  return row ?? { mode: 'off', message: null }
}

/** Waits until `condition` resolves to true; returns the milliseconds it took. */
async function until(what: string, condition: () => Promise<boolean>, timeoutMs = 120_000) {
  const startedAt = Date.now()
  while (!(await condition())) {
    if (Date.now() - startedAt > timeoutMs) throw new Error(`${what}: not within ${timeoutMs} ms`)
    await sleep(50)
  }
  return Date.now() - startedAt
}

/** As if the file had been written long ago. */
const setOldTime = (shelf: TestLibrary, path: string) => utimesSync(shelf.pathOf(path), 1, 1)

/** A library that is watched and scanned. */
async function watchedShelf(all: Catalog, t: Test, files: Record<string, Buffer> = {}) {
  const shelf = await createTestLibrary(t, all, files)
  for (const path of Object.keys(files)) setOldTime(shelf, path)
  await configure(all.sql, shelf, 'on')
  await until('watching', async () => (await state(all.sql, shelf)).mode === 'watching')
  await until('first scans', async () => {
    const [row] = await all.sql`
      select last_scanned_at is not null and book_count = ${Object.keys(files).length} as done
      from library where id = ${shelf.id}`
    return row!.done && !(await isBusy(all, shelf))
  })
  return shelf
}

async function isBusy({ sql, pipeline }: Pick<Catalog, 'sql' | 'pipeline'>, { id }: TestLibrary) {
  const [row] = await sql`
    select from scan where library_id = ${id} and state in ('queued', 'running') limit 1`
  return row !== undefined || (await pipeline.queue.hasJobs(id, ['index', 'cover', 'hash']))
}

/** Ends the watch before the folder is deleted. */
async function unwatch(all: Catalog, shelf: TestLibrary) {
  await configure(all.sql, shelf, 'off')
  await until('off', async () => (await state(all.sql, shelf)).mode === 'off')
  await until('done', async () => !(await isBusy(all, shelf)))
}

const isPresent = (shelf: TestLibrary, name: string) => async () =>
  (await shelf.books()).some(book => book.name === name && book.missingAt === null)

t.test('with a running pipeline', async t => {
  const all = await openCatalog(t)
  const { sql } = all
  const test = testWithDoctor(t, all)

  await test('existing files are scanned when watching starts, a new file soon after', async t => {
    const shelf = await watchedShelf(all, t, { 'Akira/1.cbz': comic() })
    t.equal((await shelf.books()).length, 1)
    shelf.write('Akira/2.cbz', comic({ pages: 3 }))
    shelf.write('Berserk/deep/3.cbz', comic())
    const ms = await until('visible', isPresent(shelf, '2.cbz'))
    t.comment(`a new file: ${ms} ms`)
    t.ok(ms <= soonMs, `${ms} ms`)
    t.equal((await shelf.book('2.cbz')).pages, 3)
    t.ok((await until('visible', isPresent(shelf, '3.cbz'))) <= soonMs, 'in a new folder')
    await configure(sql, shelf, 'off')
    await until('off', async () => (await state(sql, shelf)).mode === 'off')
  })

  await test('a file that is being written is not indexed, nor by a scan of another file in the folder', async t => {
    const shelf = await watchedShelf(all, t)
    const bytes = comic({ pages: 4, padding: 4_000 })
    const growing = join(shelf.root, 'grows.cbz')
    writeFileSync(growing, bytes.subarray(0, 100))
    shelf.write('neighbor.cbz', comic())
    let at = 100
    let isTooSlow = false
    let writtenAt = Date.now()
    const isIndexed = isPresent(shelf, 'neighbor.cbz')
    while (!(await isIndexed()) && at < 700) {
      await sleep(100)
      // On a busy machine the file may look as if it was complete.
      isTooSlow ||= Date.now() - writtenAt > quietMs
      appendFileSync(growing, bytes.subarray(at, at + 1))
      writtenAt = Date.now()
      at += 1
    }
    t.ok(await isIndexed())
    const isGrowingIndexed = await isPresent(shelf, 'grows.cbz')()
    isTooSlow ||= Date.now() - writtenAt > quietMs
    if (!isTooSlow) t.notOk(isGrowingIndexed, 'only the other file is indexed')
    appendFileSync(growing, bytes.subarray(at))
    t.ok((await until('visible', isPresent(shelf, 'grows.cbz'))) <= soonMs)
    t.match(await shelf.book('grows.cbz'), { pages: 4, error: null })
    await unwatch(all, shelf)
  })

  await test('a moved book keeps its id, a deleted one is missing', async t => {
    const shelf = await watchedShelf(all, t, { 'A/1.cbz': comic(), 'A/2.cbz': comic() })
    const { id } = await shelf.book('1.cbz')
    mkdirSync(shelf.pathOf('B'))
    renameSync(shelf.pathOf('A/1.cbz'), shelf.pathOf('B/one.cbz'))
    await until('moved', isPresent(shelf, 'one.cbz'))
    t.equal((await shelf.book('one.cbz')).id, id)
    t.equal((await shelf.books()).length, 2, 'and no other book was created')
    rmSync(shelf.pathOf('B'), { recursive: true })
    renameSync(shelf.pathOf('A'), shelf.pathOf('C'))
    await until('missing', async () => (await shelf.book('one.cbz')).missingAt !== null)
    await until('renamed', async () => (await shelf.book('2.cbz')).folder === 'C')
    await unwatch(all, shelf)
  })

  await test('a scan that watching did not request includes recently modified files', async t => {
    const shelf = await createTestLibrary(t, all, { 'A/1.cbz': comic() })
    const recent = await shelf.scan({ options: { quietMs: 60_000 } })
    t.match(recent, { found: 0, added: 0, unreadable_directories: 0 })
    const [row] = await sql`select options from scan where id = ${recent.id}`
    t.same(row!.options.leftOut, [Buffer.from('A/1.cbz').toString('hex')])
    t.match(await shelf.scan(), { found: 1, added: 1 })
    shelf.write('A/1.cbz', comic({ pages: 5 }))
    t.match(await shelf.scan({ options: { quietMs: 60_000 } }), { changed: 0, missing: 0 })
    t.match(await shelf.scan(), { changed: 1 })
  })

  await test('paths that contain each other, or whose folders are gone, are scanned once', async t => {
    const shelf = await createTestLibrary(t, all, { 'A/b/1.cbz': comic(), 'A/2.cbz': comic() })
    const paths = ['A', 'A', 'A/b', 'A/b/1.cbz', 'A/2.cbz']
    t.match(await shelf.scan({ paths }), { state: 'completed', added: 2, found: 2 })
    shelf.remove('A/b')
    const gone = await shelf.scan({ paths: ['A/b/1.cbz'] })
    t.match(gone, { state: 'completed', missing: 1, unreadable_directories: 0 })
  })
})

t.test('without a watching pipeline', async t => {
  const catalog = await openCatalog(t)
  const { sql, config } = catalog
  await catalog.pipeline.close()
  const pipeline = await startPipeline({ sql, config, log, watch: false })
  t.teardown(() => pipeline.close())
  const { queue, wake } = pipeline
  const all = { ...catalog, pipeline }
  const folders = openFolderWatch()

  await t.test('a library is polled when the kernel allows no more watches', async t => {
    await sql`
      insert into setting (key, value) values ('watch.poll_seconds', '5')
      on conflict (key) do update set value = excluded.value`
    const shelf = await createTestLibrary(t, { sql, pipeline }, { 'A/1.cbz': comic() })
    setOldTime(shelf, 'A/1.cbz')
    await configure(sql, shelf, 'on')
    const refusing = {
      async watch() {
        throw Object.assign(new Error(), { code: 'ENOSPC' })
      },
      async close() {},
    }
    const { lines, log } = recordedLog()
    const watching = await startWatching({ sql, queue, log, wake, folders: refusing, checkMs: 200 })
    await until('first', isPresent(shelf, '1.cbz'))
    t.equal((await state(sql, shelf)).mode, 'polling')
    writeFileSync(shelf.pathOf('A/2.cbz'), comic())
    setOldTime(shelf, 'A/2.cbz')
    useClock(t)(5_000)
    await until('second', isPresent(shelf, '2.cbz'))
    await until('done', async () => !(await isBusy(all, shelf)))
    await watching.close()
    t.equal((await state(sql, shelf)).mode, 'off', 'the claim is released')
    const reason = /inotify|watches/
    t.match(lines(), [{ msg: 'library is polled, not watched', libraryId: shelf.id, reason }])
  })

  await t.test('a watch that is closed while it starts ends without a warning', async t => {
    const shelf = await createTestLibrary(t, { sql, pipeline })
    await configure(sql, shelf, 'on')
    const started = Promise.withResolvers<void>()
    const slow = {
      watch() {
        started.resolve()
        return new Promise<never>(() => {})
      },
      async close() {},
    }
    const { lines, log } = recordedLog()
    const watching = await startWatching({ sql, queue, log, wake, folders: slow })
    await started.promise
    await watching.close()
    t.same(lines(), [])
  })

  await t.test(
    'a library folder that disappears is polled, and watched again when it is back',
    async t => {
      const watching = await startWatching({ sql, queue, log, wake, checkMs: 200 })
      const shelf = await watchedShelf(all, t, { 'A/1.cbz': comic() })
      renameSync(shelf.root, `${shelf.root} away`)
      await until('polling', async () => (await state(sql, shelf)).mode === 'polling')
      t.match((await state(sql, shelf)).message, /cannot be watched \(ENOENT\)/)
      t.ok(await isPresent(shelf, '1.cbz')(), 'nothing is missing')
      renameSync(`${shelf.root} away`, shelf.root)
      await until('watching', async () => (await state(sql, shelf)).mode === 'watching')
      shelf.write('A/2.cbz', comic())
      await until('visible', isPresent(shelf, '2.cbz'))
      await unwatch(all, shelf)
      await watching.close()
      t.same(await doctorFindings(all), [], 'the doctor finds nothing')
    },
  )

  await t.test('one of two processes watches; when it ends the other takes over', async t => {
    const shelf = await createTestLibrary(t, { sql, pipeline })
    await configure(sql, shelf, 'on')
    const first = await startWatching({ sql, queue, log, wake })
    await until('watching', async () => (await state(sql, shelf)).mode === 'watching')
    const since = () => sql`select since::text from library_watch where library_id = ${shelf.id}`
    const before = await since()
    const second = await startWatching({ sql, queue, log, wake, folders, checkMs: 1_000 })
    await configure(sql, shelf, 'on')
    // It looks for libraries before it ends.
    await (await startWatching({ sql, queue, log, wake })).close()
    t.same(await since(), before, 'an existing claim is not disturbed')
    await first.close()
    await until('the other', async () => (await state(sql, shelf)).mode === 'watching')
    t.notSame(await since(), before)
    // The claim of a process that was killed.
    await sql`
      update library_watch set since = now(), seen_at = now() - interval '41 seconds'
      where library_id = ${shelf.id}`
    const killed = await since()
    await until('taken over', async () => (await since())[0]!.since !== killed[0]!.since)
    await until('again', async () => (await state(sql, shelf)).mode === 'watching')
    await second.close()
  })
})
