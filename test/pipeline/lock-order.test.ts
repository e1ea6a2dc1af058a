// Order in which the pipeline locks several rows: by id, in any order of the list and of the rows on disk.
import t, { type Test } from 'tap'
import { newId } from '../../lib/base/id.ts'
import { deleteLabel } from '../../lib/catalog/label/label-delete.ts'
import { openQueue } from '../../lib/store/queue/queue.ts'
import { finalizeMissing } from '../../pipeline/finalize/missing.ts'
import { finalizeSeries } from '../../pipeline/finalize/series.ts'
import { storeCovers } from '../../pipeline/index/covers.ts'
import { storeHashes } from '../../pipeline/index/hashes.ts'
import { emptyThumbnail } from '../../pipeline/index/thumbnail-request.ts'
import { storeDifferences } from '../../pipeline/scan/differences.ts'
import { librarySettings } from '../../pipeline/scan/scan-context.ts'
import { createDatabase } from '../kit/db.ts'
import { isFree, type Row, whileBlocked } from '../kit/row-locks.ts'

const { sql } = await createDatabase(t)
const queue = await openQueue(sql, error => t.fail(error.message))
t.teardown(() => queue.close())

const libraryId = newId()
const seriesId = newId()
const [firstFolder, secondFolder] = [newId(), newId()].sort() as [string, string]
const [first, second] = [newId(), newId()].sort() as [string, string]
await sql`insert into library (id, name, root) values (${libraryId}, 'Order', 'order')`
// The second row comes first everywhere: on disk, by name and in the lists below.
for (const [id, path] of [
  [secondFolder, 'a'],
  [firstFolder, 'b'],
] as const)
  await sql`
    insert into directory (id, library_id, path) values (${id}, ${libraryId}, ${Buffer.from(path)})`
await sql`
  insert into series (id, library_id, key, name, title, sort_key, search_key, book_count)
  values (${seriesId}, ${libraryId}, 's', 's', 's', 's', 's', 2)`
for (const [id, name] of [
  [second, 'a'],
  [first, 'b'],
] as const) {
  await sql`
    insert into book (id, library_id, series_id, directory_id, name, size, modified_ms, title, sort_key,
      search_key, name_key, genres)
    values (${id}, ${libraryId}, ${seriesId}, ${secondFolder}, ${Buffer.from(name)}, 1, 1, ${name}, ${name},
      ${name}, ${name}, '{Drama}')`
  await sql`insert into book_artifact (book_id) values (${id})`
}
await sql`update library set book_count = 2, series_count = 1 where id = ${libraryId}`

async function insertScan() {
  const scanId = newId()
  await sql`
    insert into scan (id, library_id, mode, paths, options)
    values (${scanId}, ${libraryId}, 'normal', '{}', '{}')`
  const settings = (await librarySettings(sql, libraryId))!
  const more = { deep: false, followed: false, state: 'running', paths: [], options: {} }
  return { ...settings, ...more, scanId }
}

const scan = await insertScan()
const rowsOf = (table: string): [Row, Row] => [
  { table, id: first },
  { table, id: second },
]

/** Asserts that `work` locks none of the rows `later` while it waits for the row `held`. */
async function assertOrder(
  t: Test,
  held: Row,
  later: Row[],
  work: () => Promise<unknown>,
): Promise<void> {
  await whileBlocked(sql, held, work, async () => {
    for (const row of later)
      t.ok(await isFree(sql, row), `${row.table} is locked after ${held.table}`)
  })
}

t.test('the order of books in a series', async t => {
  const [held, later] = rowsOf('book')
  await sql`insert into series_refresh (library_id, series_id) values (${libraryId}, ${seriesId})`
  await assertOrder(t, held, [later], () => finalizeSeries(sql, scan))
  const books = await sql`select number_sort as number from book order by name`
  t.same(
    books.map(book => book.number),
    [1, 2],
  )
})

t.test('covers', async t => {
  const [held, later] = rowsOf('book_artifact')
  const results = [second, first].map(id => ({
    ...emptyThumbnail({ id, artwork: null }),
    cover: 'ab',
  }))
  await assertOrder(t, held, [later], () => storeCovers(sql, scan, results))
  t.equal((await sql`select from book_artifact where cover = '\\xab'`).length, 2)
})

t.test('hashes', async t => {
  const result = {
    sha256: 'ab',
    size: 1,
    modifiedMs: 1,
    bytesRead: 1,
    damage: null,
    isUnchecked: false,
    error: null,
  }
  const results = [second, first].map(id => ({ ...result, id }))
  for (const table of ['book', 'book_artifact']) {
    const [held, later] = rowsOf(table)
    await assertOrder(t, held, [later], () => storeHashes(sql, scan, results))
  }
  t.equal((await sql`select from book_artifact where sha256 = '\\xab'`).length, 2)
})

t.test('books of a deleted label', async t => {
  await sql`insert into series_refresh (library_id, series_id) values (${libraryId}, ${seriesId})`
  await finalizeSeries(sql, scan)
  const [label] = await sql<{ id: string }[]>`select id from label where name = 'Drama'`
  const [held, later] = rowsOf('book')
  await assertOrder(t, held, [later], () => deleteLabel(sql, 'genre', label!.id))
  t.equal((await sql`select from book where genres <> '{}'`).length, 0)
})

t.test('folders and pending files of a walk', async t => {
  const difference = { size: 2, ms: 2, forced: false, replaces: false }
  const comparison = {
    differences: [
      { ...difference, directoryId: secondFolder, name: '61' },
      { ...difference, directoryId: firstFolder, name: '62' },
    ],
    missing: [],
    missingFolders: [],
    folders: [secondFolder, firstFolder].map(id => ({ id, digest: 'ab', sidecars: {} })),
  }
  const store = () => storeDifferences(sql, queue, scan, comparison)
  await assertOrder(
    t,
    { table: 'directory', id: firstFolder },
    [{ table: 'directory', id: secondFolder }],
    store,
  )
  const files = await sql<{ id: string }[]>`
    select id::text from pending_file where library_id = ${libraryId} order by directory_id`
  const [held, later] = files.map(({ id }) => ({ table: 'pending_file', id })) as [Row, Row]
  await assertOrder(t, held, [later], store)
  const [job] = await sql`select data from pgboss.job where name = 'index' order by id limit 1`
  t.same(job!.data.ids, [later.id, held.id], 'the job has them in the order of the walk')
})

t.test('missing candidates, after their books', async t => {
  for (const id of [second, first])
    await sql`
      insert into missing_candidate (book_id, library_id, directory_id)
      values (${id}, ${libraryId}, ${secondFolder})`
  const [held, later] = rowsOf('book')
  await assertOrder(t, held, [later, ...rowsOf('missing_candidate')], () =>
    finalizeMissing(sql, scan, 100),
  )
  t.equal((await sql`select from book where missing_at is not null`).length, 2)
  t.equal((await sql`select from missing_candidate`).length, 0)
})
