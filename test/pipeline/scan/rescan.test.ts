// Repeated, partial, cancelled and estimated scans.

import { renameSync, utimesSync } from 'node:fs'
import t, { type Test } from 'tap'
import { Invalid } from '../../../lib/base/errors.ts'
import { findEnclosingLibrary } from '../../../lib/catalog/library/library.ts'
import { fileAccess } from '../../../lib/catalog/library/library-root.ts'
import { cancelScan, requestScan } from '../../../lib/catalog/scan/scan-request.ts'
import { estimateScan } from '../../../pipeline/scan/estimate.ts'
import { openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { eventsSince, lastEvent } from '../../kit/events.ts'
import { holdBooks } from '../../kit/hold-books.ts'
import { comic, createTestLibrary, waitForScan } from '../../kit/library.ts'

const all = await openCatalog(t)
const { sql, pipeline } = all
const check = testWithDoctor(t, all)
const shelf = (test: Test, files: Record<string, Buffer> = {}) =>
  createTestLibrary(test, all, files)
const many = (folders: number, books: number) => {
  const files: Record<string, Buffer> = {}
  for (let f = 0; f < folders; f++) {
    for (let b = 0; b < books; b++) files[`Series ${f}/${b + 1}.cbz`] = comic({ pages: 1 })
  }
  return files
}

/** Location and transaction of every row, to detect writes. Concurrent tasks may write to the excluded tables. */
async function rowVersions(excluded: string[]) {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and not table_name = any(${excluded})`
  const rows: Record<string, string> = {}
  for (const { name } of tables) {
    const [row] = await sql`
      select count(*) || ' ' || coalesce(md5(string_agg(ctid || '/' || xmin, ',' order by ctid)), '') as state
      from ${sql(name)}`
    rows[name] = row!.state
  }
  return rows
}

check('a scan of an unchanged library opens nothing, reads nothing and writes nothing', async t => {
  const lib = await shelf(t, many(5, 6))
  t.match(await lib.scan(), { found: 30, added: 30 })
  // Runs the delayed dedupe job of the first scan.
  await all.dedupe()
  const settings = async () => {
    const [library] = await sql`select * from library where id = ${lib.id}`
    return { ...library, last_scanned_at: null }
  }
  const excluded = ['scan', 'library', 'event']
  const [rows, library, last] = [
    await rowVersions(excluded),
    await settings(),
    await lastEvent(sql),
  ]
  t.match(await lib.scan(), {
    state: 'completed',
    ...{ found: 30, added: 0, changed: 0, moved: 0, missing: 0, restored: 0, unchanged: 0 },
    ...{ to_index: 0, to_cover: 0, to_hash: 0, opens: 0, bytes_read: 0 },
  })
  t.same(await rowVersions(excluded), rows)
  t.same(await eventsSince(sql, last), [], 'and publishes no event')
  t.same(await settings(), library, 'except the time of the last scan')
})

check('a partial scan does not touch the rest of the library', async t => {
  const lib = await shelf(t, many(3, 3))
  await lib.scan()
  for (const folder of ['Series 0', 'Series 1']) {
    lib.write(`${folder}/new.cbz`, comic())
    lib.remove(`${folder}/1.cbz`)
  }
  const options = { confirmMissing: true }
  t.match(await lib.scan({ paths: ['Series 0'], options }), { found: 3, added: 1, missing: 1 })
  const folders = new Map((await lib.books()).filter(b => b.missingAt).map(b => [b.folder, b.name]))
  t.same([...folders], [['Series 0', '1.cbz']])
  t.match(await lib.scan({ paths: ['Series 1/new.cbz'], options }), { added: 1, missing: 1 })
  t.match(await lib.scan(), { added: 0, missing: 0, opens: 0 })
})

check('a new folder below a new folder can be scanned alone', async t => {
  const lib = await shelf(t, many(1, 1))
  lib.write('Above/Below/1.cbz', comic())
  t.match(await lib.scan({ paths: ['Above/Below'] }), { found: 1, added: 1 })
  t.match(await lib.scan(), { found: 2, added: 1, moved: 0 })
})

check('a cancelled scan stops, and the next one completes', async t => {
  const lib = await shelf(t, many(4, 60))
  const hold = await holdBooks(sql)
  const scanId = await requestScan(sql, pipeline.queue, { libraryId: lib.id, mode: 'normal' })
  pipeline.wake()
  await hold.isReached()
  await cancelScan(sql, pipeline.queue, scanId)
  await hold.release()
  t.equal((await waitForScan(all, scanId)).state, 'cancelled')
  t.match(await lib.scan(), { state: 'completed', found: 240 })
  t.equal((await lib.books()).length, 240)
  t.match(await lib.counters(), { books: 240, missing: 0, series: 4 })
  t.match(await lib.scan(), { opens: 0, added: 0 })
  await t.rejects(cancelScan(sql, pipeline.queue, scanId), { message: 'The scan is not running' })
})

check('an estimate counts what a scan would do, and writes nothing', async t => {
  const lib = await shelf(t, many(2, 4))
  await lib.scan()
  await all.dedupe()
  const bytes = comic()
  lib.write('Series 0/new.cbz', bytes)
  lib.write('Series 9/new.cbz', bytes)
  lib.remove('Series 1/1.cbz')
  utimesSync(lib.pathOf('Series 1/2.cbz'), 1, 1)
  const rows = await rowVersions(['event'])
  const library = await findEnclosingLibrary(sql, Buffer.from(lib.root))
  const access = fileAccess(all.config)
  const request = {
    library,
    path: Buffer.from(lib.root),
    access,
    ioDepth: 0,
    mode: 'normal' as const,
  }
  t.match(await estimateScan(sql, request), { found: 9, files: 3, missing: 1, unchanged: 6 })
  t.match(await estimateScan(sql, { ...request, path: lib.pathOf('Series 0') }), {
    found: 5,
    files: 1,
  })
  t.match(await estimateScan(sql, { ...request, mode: 'deep' }), { found: 9, files: 9 })
  t.same(await rowVersions(['event']), rows)
  t.match(await lib.scan(), { added: 2, missing: 1, unchanged: 1 })
  renameSync(lib.root, `${lib.root} away`)
  await t.rejects(estimateScan(sql, request), Invalid, 'not everything is missing')
  renameSync(`${lib.root} away`, lib.root)
})

check('a library that was never scanned can be estimated', async t => {
  const lib = await shelf(t, many(2, 2))
  await sql`delete from library where id = ${lib.id}`
  // The delayed dedupe jobs of the other tests find nothing to write after this.
  await all.dedupe()
  const access = fileAccess(all.config)
  const request = {
    library: null,
    path: Buffer.from(lib.root),
    access,
    ioDepth: 0,
    mode: 'normal' as const,
  }
  const rows = await rowVersions(['event'])
  t.match(await estimateScan(sql, request), { found: 4, files: 4, missing: 0 })
  t.same(await rowVersions(['event']), rows)
})
