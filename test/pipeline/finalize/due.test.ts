// Due covers and hashes: lost jobs are enqueued again, and jobs wait for unavailable folders.
import { mkdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { thumbnailPath } from '../../../lib/media/image/thumbnail-path.ts'
import { openQueue } from '../../../lib/store/queue/queue.ts'
import { createDedupeJob } from '../../../pipeline/finalize/dedupe.ts'
import { enqueueDue } from '../../../pipeline/finalize/due.ts'
import { loadScan } from '../../../pipeline/scan/scan-context.ts'
import { openCatalog } from '../../kit/catalog.ts'
import { createDatabase } from '../../kit/db.ts'
import { createTestLibrary, largeComic, waitForScan } from '../../kit/library.ts'

const all = await openCatalog(t)
const { sql, pipeline } = all
const { queue } = pipeline
const two = () => ({ 'A/1.cbz': largeComic(), 'A/2.cbz': largeComic() })

type Job = { id: string; name: string; data: { ids: string[]; again?: true; scanId: string } }
const jobs = (libraryId: string) => sql<(Job & { state: string; late: boolean })[]>`
  select id, name, data, state::text, start_after > now() + interval '30 seconds' as late
  from pgboss.job
  where data->>'libraryId' = ${libraryId} and name in ('cover', 'hash') and state < 'completed'
  order by name`
const reset = (libraryId: string) =>
  sql`update book_artifact set cover = null, cover_error = null, sha256 = null
    where book_id in (select id from book where library_id = ${libraryId})`

async function until(what: string, condition: () => Promise<boolean>) {
  for (let left = 2_000; left > 0; left--) {
    pipeline.wake()
    if (await condition()) return
    await sleep(20)
  }
  throw new Error(what)
}

t.test('lost covers and hashes are made again', async t => {
  const lib = await createTestLibrary(t, all, two())
  const { id } = await lib.scan()
  const before = await lib.books()
  const { format } = all.config.thumbnail
  const path = thumbnailPath(join(all.data, 'thumbnails'), before[0]!.cover!, format)
  const { size } = statSync(path)
  // As a crash leaves it.
  truncateSync(path, 10)
  await reset(lib.id)
  await enqueueDue(sql, queue, (await loadScan(sql, id))!)
  const scan = await waitForScan(all, id)
  t.equal(statSync(path).size, size, 'a thumbnail without its end is replaced')
  t.match(scan, { to_cover: 4, covers: 4, to_hash: 4, hashed: 4 })
  const facts = ({ cover, sha256 }: (typeof before)[number]) => ({ cover, sha256 })
  t.same((await lib.books()).map(facts), before.map(facts))
  await enqueueDue(sql, queue, (await loadScan(sql, id))!)
  t.same(await jobs(lib.id), [], 'nothing is due any more')
})

t.test('a book that has a job is not enqueued twice', async t => {
  const lib = await createTestLibrary(t, all, two())
  const { id } = await lib.scan()
  await reset(lib.id)
  const ids = (await lib.books()).map(book => book.id)
  const job = { scanId: id, libraryId: lib.id, ids }
  await queue.send(sql, 'cover', [job], { afterSeconds: 3600 })
  await queue.send(sql, 'hash', [job], { afterSeconds: 3600 })
  await enqueueDue(sql, queue, (await loadScan(sql, id))!)
  t.equal((await jobs(lib.id)).length, 2)
  t.notOk(await queue.hasReadyJobs(['cover', 'hash']), 'a delayed job does not count as ready')
  await queue.reassignToScan(sql, lib.id, id)
  await waitForScan(all, id)
})

t.test('what a later scan takes over counts for it, and the earlier one is done', async t => {
  const lib = await createTestLibrary(t, all, two())
  const { id: earlier } = await lib.scan()
  const { id: later } = await lib.scan()
  await reset(lib.id)
  const ids = (await lib.books()).map(book => book.id)
  const figures = { to_cover: 0, covers: 0, to_hash: 0, hashed: 0 }
  await sql`update scan set ${sql(figures)} where id in (${earlier}, ${later})`
  await sql`update scan set to_cover = ${ids.length}, to_hash = ${ids.length} where id = ${earlier}`
  const job = { scanId: earlier, libraryId: lib.id, ids }
  await queue.send(sql, 'cover', [job], { afterSeconds: 3600 })
  await queue.send(sql, 'hash', [job], { afterSeconds: 3600 })
  t.same(await queue.reassignToScan(sql, lib.id, later), [earlier])
  await waitForScan(all, later)
  const rows = await sql`
    select to_cover, covers, to_hash, hashed from scan where id in (${earlier}, ${later}) order by number`
  const taken = { to_cover: 2, covers: 2, to_hash: 2, hashed: 2 }
  t.same([...rows], [figures, taken])
})

t.test('without a hash policy no hash is due', async t => {
  const lib = await createTestLibrary(t, all, two())
  await sql`update library set hash_policy = 'off' where id = ${lib.id}`
  const { id } = await lib.scan()
  await enqueueDue(sql, queue, (await loadScan(sql, id))!)
  t.same(await jobs(lib.id), [])
  await sql`update library set hash_policy = 'candidates' where id = ${lib.id}`
  await enqueueDue(sql, queue, (await loadScan(sql, id))!)
  t.same(await jobs(lib.id), [], 'no twins')
})

t.test('jobs wait for an unavailable library and are not lost', async t => {
  const lib = await createTestLibrary(t, all, two())
  const { id } = await lib.scan()
  await reset(lib.id)
  renameSync(lib.root, `${lib.root} elsewhere`)
  await enqueueDue(sql, queue, (await loadScan(sql, id))!)
  await until('both jobs failed once', async () =>
    (await jobs(lib.id)).every(job => job.state === 'retry'),
  )
  t.match(
    (
      await sql`select cover_error, sha256 from book_artifact a
      join book b on b.id = a.book_id where b.library_id = ${lib.id}`
    ).map(r => ({
      ...r,
    })),
    [
      { cover_error: null, sha256: null },
      { cover_error: null, sha256: null },
    ],
  )
  renameSync(`${lib.root} elsewhere`, lib.root)
  t.match(await lib.scan(), { state: 'completed' }, 'a scan makes them ready at once')
  t.ok((await lib.books()).every(book => book.cover !== null && book.sha256 !== null))
})

t.test('waiting jobs can be postponed', async t => {
  const lib = await createTestLibrary(t, all, two())
  const { id } = await lib.scan()
  await reset(lib.id)
  const job = { scanId: id, libraryId: lib.id, ids: (await lib.books()).map(book => book.id) }
  await queue.send(sql, 'hash', [job], { afterSeconds: 20 })
  await queue.postpone('hash', lib.id, 60)
  t.match(await jobs(lib.id), [{ late: true }])
  await queue.deleteWaiting(sql, 'hash', lib.id)
})

t.test('a missing file leaves no error on its book and does not delay other books', async t => {
  const lib = await createTestLibrary(t, all, two())
  const { id } = await lib.scan()
  await reset(lib.id)
  lib.remove('A/1.cbz')
  await enqueueDue(sql, queue, (await loadScan(sql, id))!)
  await waitForScan(all, id)
  const rows = await sql`
    select cover_error as error, cover is not null as covered, sha256 is not null as hashed
    from book_artifact a join book b on b.id = a.book_id
    where b.library_id = ${lib.id} order by b.name`
  t.same(
    rows.map(row => ({ ...row })),
    [
      { error: null, covered: false, hashed: false },
      { error: null, covered: true, hashed: true },
    ],
  )
})

t.test('a thumbnail folder that cannot be written leaves no error on books', async t => {
  const lib = await createTestLibrary(t, all, two())
  const { id } = await lib.scan()
  await reset(lib.id)
  const thumbnails = join(all.data, 'thumbnails')
  rmSync(thumbnails, { recursive: true })
  writeFileSync(thumbnails, 'a file where the folder should be')
  await enqueueDue(sql, queue, (await loadScan(sql, id))!)
  const covers = async () => (await jobs(lib.id)).filter(job => job.name === 'cover')
  await until('the job failed', async () => (await covers()).some(job => job.state === 'retry'))
  const [row] = await sql`
    select count(*)::integer as count from book_artifact a join book b on b.id = a.book_id
    where b.library_id = ${lib.id} and num_nonnulls(a.cover, a.cover_error) > 0`
  t.equal(row!.count, 0)
  rmSync(thumbnails)
  mkdirSync(thumbnails)
  await queue.reassignToScan(sql, lib.id, id)
  await waitForScan(all, id)
  t.ok((await lib.books()).every(book => book.cover !== null))
})

t.test('a deep scan hashes again, even if a normal scan takes over its jobs', async t => {
  const lib = await createTestLibrary(t, all, two())
  await lib.scan()
  const { id } = await lib.scan()
  const ids = (await lib.books()).map(book => book.id)
  await sql`
    update book_artifact set sha256 = '\\x00'
    where book_id in (select id from book where library_id = ${lib.id})`
  const job = { scanId: id, libraryId: lib.id, ids }
  await queue.send(sql, 'hash', [job])
  await waitForScan(all, id)
  t.ok(
    (await lib.books()).every(book => book.sha256 === '00'),
    'a book with a hash is skipped',
  )
  await queue.send(sql, 'hash', [{ ...job, again: true }])
  await waitForScan(all, id)
  t.notOk((await lib.books()).some(book => book.sha256 === '00'))
})

t.test('a followed scan keeps its jobs', async t => {
  const lib = await createTestLibrary(t, all, two())
  const followed = await lib.scan({ options: { followed: true } })
  const plain = await lib.scan()
  const ids = (await lib.books()).map(book => book.id)
  const job = { libraryId: lib.id, ids }
  const later = { afterSeconds: 3600 }
  await queue.send(sql, 'hash', [{ ...job, scanId: followed.id }], later)
  await queue.send(sql, 'cover', [{ ...job, scanId: plain.id }], later)
  const scanId = (await lib.scan()).id
  await waitForScan(all, scanId)
  const rows = await sql`
    select name, data->>'scanId' as scan from pgboss.job
    where data->>'libraryId' = ${lib.id} and name in ('cover', 'hash')
    order by created_on desc, name desc limit 2`
  t.same(
    rows.map(row => ({ ...row })),
    [
      { name: 'cover', scan: scanId },
      { name: 'hash', scan: followed.id },
    ],
  )
})

t.test('the dedupe job is enqueued again while books are hashed', async t => {
  const lib = await createTestLibrary(t, all, two())
  const { id } = await lib.scan()
  const waiting = async () => {
    const [row] = await sql`
      select count(*)::integer as count from pgboss.job
      where name = 'dedupe' and state < 'active'`
    return row!.count as number
  }
  await sql`delete from pgboss.job where name = 'dedupe'`
  const runDedupe = createDedupeJob(sql, queue)
  await runDedupe({ libraryId: lib.id })
  t.equal(await waiting(), 0, 'no hash job is running')
  await sql`
    insert into pgboss.job (id, name, data, state, policy)
    values (gen_random_uuid(), 'hash', ${sql.json({ scanId: id, libraryId: 'none', ids: [] })}, 'active', 'standard')`
  await runDedupe({ libraryId: lib.id })
  t.equal(await waiting(), 1)
  await sql`delete from pgboss.job where data->>'libraryId' = 'none' or name = 'dedupe'`
})

t.test('queue options are updated when the queue is opened', async t => {
  const { sql } = await createDatabase(t)
  const first = await openQueue(sql, () => {})
  await sql`update pgboss.queue set retention_seconds = 60, retry_backoff = false, retry_delay_max = null`
  await first.close()
  const second = await openQueue(sql, () => {})
  const rows =
    await sql`select distinct retention_seconds as retention, retry_backoff as backoff from pgboss.queue where name in ('cover', 'scan')`
  t.same(
    rows.map(row => ({ ...row })),
    [{ retention: 315_360_000, backoff: true }],
  )
  const [plan] = await sql.begin(async tx => {
    await tx`set local enable_seqscan = off`
    return await tx`
      explain (format json) select 1 from pgboss.job
      where name in ('cover', 'hash') and state < 'completed' and data->>'libraryId' = 'x'`
  })
  t.match(JSON.stringify(plan), /job_by_library/)
  await second.close()
})
