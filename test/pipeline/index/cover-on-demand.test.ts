// Covers made because someone looks at them: before all others, within the request.
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openApi } from '../../../lib/api/open.ts'
import { loadConfig } from '../../../lib/config/config.ts'
import { thumbnailPath } from '../../../lib/image/thumbnail-path.ts'
import { openLog } from '../../../lib/log.ts'
import { openQueue } from '../../../lib/queue/queue.ts'
import { startPipeline } from '../../../pipeline/pipeline.ts'
import { database } from '../../kit/db.ts'
import { comic, faults, manyComics, shelve, temporary } from '../../kit/library.ts'
import { newAccount, serve } from '../../kit/server.ts'
import { hide } from '../../kit/walk.ts'

const all = await serve(t)
const { sql, pipeline } = all
const shelf = await shelve(t, all, {
  ...manyComics(12),
  'Series/1.cbz': comic(),
  'Series/2.cbz': comic(),
  'Broken/1.cbz': Buffer.from('nothing'),
})
await shelf.scan()
const reader = await all.as('reader')
const fileOf = (cover: string) => thumbnailPath(`${all.data}/thumbnails`, cover, 'jpeg')
const uncover = (folder: string) =>
  sql`update book b set cover = null from directory d
    where d.id = b.directory_id and d.path = ${Buffer.from(folder)}`
const thumbnail = async (path: string, who = reader) => {
  const { headers } = await who.get(`${path}/thumbnail`)
  const [type, tag, kept] = ['content-type', 'etag', 'cache-control'].map(h => headers.get(h))
  return { type, tag, kept }
}

t.test('a cover that is not there yet is made while its viewer waits', async t => {
  const book = await shelf.book('3.cbz')
  await uncover('Row')
  const { type, tag, kept } = await thumbnail(`/books/${book.id}`)
  t.equal(type, 'image/jpeg')
  t.equal(tag, `"${book.cover}"`)
  t.match(kept, /max-age=300/)
  t.equal((await shelf.book('3.cbz')).cover, book.cover)
  t.equal((await shelf.book('4.cbz')).cover, null, 'that of no other book')
  const row = (await shelf.books()).filter(b => b.folder === 'Row')
  const seen = await Promise.all(row.map(b => thumbnail(`/books/${b.id}`)))
  t.ok(
    seen.every(one => one.type === 'image/jpeg'),
    'a screen full of them',
  )
})

t.test('a series and a library are shown by the first book that can have a cover', async t => {
  const [first] = (await shelf.books()).filter(b => b.folder === 'Series')
  await uncover('Series')
  t.equal((await thumbnail(`/series/${first!.seriesId}`)).tag, `"${first!.cover}"`)
  const { seriesId, cover } = (await shelf.books()).find(b => b.folder === 'Row')!
  await sql`update book set cover = null`
  const other = await all.as('reader')
  await hide(sql, other.id, [seriesId])
  t.equal((await thumbnail(`/libraries/${shelf.id}`, other)).tag, `"${first!.cover}"`)
  t.equal((await thumbnail(`/series/${seriesId}`)).tag, `"${cover}"`)
})

t.test('a cover whose file is gone is made again', async t => {
  const { id, cover } = await shelf.book('5.cbz')
  const known = cover ?? (await thumbnail(`/books/${id}`)).tag!.slice(1, -1)
  rmSync(fileOf(known))
  // Another process, which has none of them in memory.
  const { config } = all
  const api = await openApi({
    sql,
    config,
    log: openLog({ level: 'error' }),
    queue: pipeline.queue,
  })
  t.teardown(() => api.close())
  const url = `/api/v1/books/${id}/thumbnail`
  const { headers } = await api.server.inject({ url, headers: { 'x-api-key': reader.key } })
  t.equal(headers.etag, `"${known}"`)
  t.ok(existsSync(fileOf(known)))
})

t.test('what cannot be made is neither waited for nor tried at every look', async t => {
  const broken = (await shelf.books()).find(b => b.folder === 'Broken')!
  const began = performance.now()
  const drawing = await thumbnail(`/books/${broken.id}`)
  t.match(drawing, { type: 'image/svg+xml', kept: 'private, max-age=10, must-revalidate' })
  t.ok(performance.now() - began < 1_800, 'who waits does so for two seconds')
  const away = await shelf.book('6.cbz')
  const jobs = () => sql`select from pgboss.job where name = 'show'`
  const before = (await jobs()).length
  await sql`update book set cover = null where id = ${away.id}`
  renameSync(shelf.at('Row/6.cbz'), shelf.at('Row/6.away'))
  t.match(await thumbnail(`/books/${away.id}`), { type: 'image/svg+xml', kept: 'no-store' })
  t.match(await thumbnail(`/books/${away.id}`), { type: 'image/svg+xml', kept: 'no-store' })
  t.equal((await jobs()).length, before + 1)
  renameSync(shelf.at('Row/6.away'), shelf.at('Row/6.cbz'))
  await shelf.scan()
  t.same(await faults(all), [], 'the doctor finds nothing')
})

t.test('a cover that a user asks for is made before thousands that nobody asked for', async t => {
  const admin = await all.as('admin')
  const { id, libraryId } = await shelf.book('7.cbz')
  const cover = (await thumbnail(`/books/${id}`)).tag!.slice(1, -1)
  const ids = (await shelf.books()).filter(b => b.error === null).map(b => b.id)
  const [scan] = await sql<{ id: string }[]>`select id from scan limit 1`
  const bulk = Array.from({ length: 300 }, () => ({ scanId: scan!.id, libraryId, ids }))
  await pipeline.queue.send(sql, 'cover', bulk)
  rmSync(fileOf(cover))
  const { body } = await admin.post(`/books/${id}/thumbnail/generate`, { force: true })
  t.match(body.taskId, /^[0-9a-f-]{36}$/)
  for (let left = 1000; left > 0 && !existsSync(fileOf(cover)); left--) await sleep(20)
  t.ok(existsSync(fileOf(cover)))
  t.ok(await pipeline.queue.busy(libraryId, ['cover']), 'the others wait still')
  const [task] = await sql<{ state: string }[]>`
    select state from pgboss.job where id = ${body.taskId}`
  t.ok(task)
  await pipeline.queue.withdraw(sql, 'cover', libraryId)
})

t.test('without workers nobody waits for long, and not many at once', async t => {
  const { sql } = await database(t)
  const flags = { data_dir: join(temporary(t), 'data'), 'rate_limit.enabled': false }
  const config = loadConfig({ env: {}, flags: { ...flags, 'pipeline.threads': 1 } })
  const log = openLog({ level: 'error' })
  const queue = await openQueue(sql, error => t.fail(error.message))
  t.teardown(() => queue.close())
  const first = await startPipeline({ sql, config, log, queue })
  const shelf = await shelve(t, { sql, pipeline: first }, manyComics(80))
  await shelf.scan()
  await first.close()
  await sql`update book set cover = null`
  const api = await openApi({ sql, config, log, queue })
  t.teardown(() => api.close())
  const { key } = await newAccount({ sql }, 'reader')
  const look = async (id: string) => {
    const began = performance.now()
    const url = `/api/v1/books/${id}/thumbnail`
    const { headers } = await api.server.inject({ url, headers: { 'x-api-key': key } })
    t.equal(headers['cache-control'], headers.etag === '"placeholder-1"' ? 'no-store' : kept)
    return { took: performance.now() - began, type: headers['content-type'] }
  }
  const kept = 'private, max-age=300, must-revalidate'
  const ids = (await shelf.books()).map(book => book.id)
  const looks = await Promise.all(ids.map(look))
  t.ok(
    looks.every(one => one.type === 'image/svg+xml'),
    'all see the drawing',
  )
  // On a busy machine the others are late as well; 64 jobs tell that they did not wait.
  t.ok(looks.filter(one => one.took > 1_900).length >= 64)
  t.equal((await sql`select from pgboss.job where name = 'show'`).length, 64)
  t.ok((await look(ids.at(-1)!)).took < 1_800, 'nobody was heard: the next do not wait')

  const worker = await startPipeline({ sql, config, log, queue })
  for (let left = 3_000; left > 0 && (await queue.busy(shelf.id, ['show'])); left--) await sleep(20)
  t.equal(
    (await look(ids[0]!)).type,
    'image/jpeg',
    'what was asked for is made when somebody works',
  )
  t.equal((await look(ids.at(-1)!)).type, 'image/jpeg', 'and waited for again')
  await worker.close()
})
