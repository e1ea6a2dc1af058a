// Cover thumbnails over HTTP.
import { existsSync, rmSync, statSync } from 'node:fs'
import sharp from 'sharp'
import t from 'tap'
import { newId } from '../../../../lib/base/id.ts'
import { deliveryCounters } from '../../../../lib/download/counters.ts'
import { thumbnailPath } from '../../../../lib/media/image/thumbnail-path.ts'
import { hideSeries } from '../../../kit/accounts.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { waitUntil } from '../../../kit/processes.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const shelf = await createTestLibrary(t, all, {
  'A/1.cbz': comic(),
  'A/2.cbz': comic(),
  'B/1.cbz': comic(),
  'Broken/1.cbz': Buffer.from('nothing'),
})
await shelf.scan()
const books = await shelf.books()
const at = (path: string) => books.find(b => `${b.folder}/${b.name}` === path)!
const reader = await all.createUser('reader')
const admin = await all.createUser('admin')
const thumbnail = async (path: string, who = reader) => {
  const { status, bytes, headers } = await who.get(`${path}/thumbnail`)
  return { status, bytes, headers, type: headers.get('content-type'), tag: headers.get('etag') }
}
const fileOf = (cover: string) => thumbnailPath(`${all.data}/thumbnails`, cover, 'jpeg')

t.test('books, series and libraries have the cover of their first book', async t => {
  const first = await thumbnail(`/books/${at('A/1.cbz').id}`)
  t.equal(first.status, 200)
  t.equal(first.type, 'image/jpeg')
  t.equal(first.tag, `"${at('A/1.cbz').cover}"`)
  t.match(first.headers.get('cache-control'), /^private, max-age=300, must-revalidate$/)
  t.ok((await sharp(first.bytes).metadata()).width)
  t.equal((await thumbnail(`/series/${at('A/1.cbz').seriesId}`)).tag, first.tag)
  t.equal((await thumbnail(`/libraries/${shelf.id}`)).tag, first.tag)
})

t.test('304 without opening the file', async t => {
  const path = `/books/${at('A/2.cbz').id}/thumbnail`
  const headers = { 'if-none-match': `"${at('A/2.cbz').cover}"` }
  const { opens } = deliveryCounters
  t.equal((await reader.get(path, { headers })).status, 304)
  t.equal(deliveryCounters.opens, opens)
  const [head, get] = [await reader.request('HEAD', path), await reader.get(path)]
  t.equal(head.status, 200)
  t.equal(head.headers.get('content-length'), String(get.bytes.length))
})

t.test('without a cover there is a placeholder with a short lifetime', async t => {
  const { status, type, headers, tag, bytes } = await thumbnail(`/books/${at('Broken/1.cbz').id}`)
  t.equal(status, 200)
  t.equal(type, 'image/svg+xml')
  t.equal(headers.get('cache-control'), 'private, max-age=10, must-revalidate')
  t.equal(headers.get('content-encoding'), null)
  t.match(headers.get('content-security-policy'), /sandbox/)
  t.match(bytes.toString(), /^<svg/)
  t.equal((await thumbnail(`/series/${at('Broken/1.cbz').seriesId}`)).tag, tag)
})

t.test('a restricted viewer sees the first visible cover', async t => {
  const other = await all.createUser('reader')
  await hideSeries(all.sql, other.id, [at('A/1.cbz').seriesId])
  t.equal((await thumbnail(`/books/${at('A/1.cbz').id}`, other)).status, 404)
  t.equal((await thumbnail(`/series/${at('A/1.cbz').seriesId}`, other)).status, 404)
  t.equal((await thumbnail(`/libraries/${shelf.id}`, other)).tag, `"${at('B/1.cbz').cover}"`)
  t.equal((await thumbnail(`/libraries/${newId()}`, other)).status, 404)
  const young = await all.createUser('reader')
  t.equal((await admin.put(`/users/${young.id}`, { ageLimit: 12 })).status, 200)
  await all.sql`update book set age_rating = 18 where id = ${at('A/1.cbz').id}`
  const seen = await thumbnail(`/series/${at('A/1.cbz').seriesId}`, young)
  t.equal(seen.tag, `"${at('A/2.cbz').cover}"`, 'not that of the hidden book')
  await all.sql`update book set age_rating = null where id = ${at('A/1.cbz').id}`
})

t.test('a thumbnail is regenerated on request', async t => {
  const { id, cover, seriesId } = at('B/1.cbz')
  const waitForQueue = async () => {
    await waitUntil(async () => {
      all.pipeline.wake()
      return !(await all.pipeline.queue.hasJobs(shelf.id, ['coverOnDemand']))
    })
  }
  t.equal((await reader.post(`/books/${id}/thumbnail/generate`)).status, 403)
  t.equal((await admin.post(`/books/${newId()}/thumbnail/generate`)).status, 404)
  rmSync(fileOf(cover!))
  const none = await admin.post(`/books/${id}/thumbnail/generate`, {})
  t.equal(none.status, 200)
  await waitForQueue()
  t.ok(existsSync(fileOf(cover!)), 'a missing file is regenerated')
  const { mtimeMs } = statSync(fileOf(cover!))
  await admin.post(`/books/${id}/thumbnail/generate`)
  await waitForQueue()
  t.equal(statSync(fileOf(cover!)).mtimeMs, mtimeMs, 'an existing one is unchanged')
  rmSync(fileOf(cover!))
  const { status, body } = await admin.post(`/series/${seriesId}/thumbnail/generate`, {
    force: true,
  })
  t.equal(status, 200)
  t.match(body.taskId, /^[0-9a-f-]{36}$/)
  await waitForQueue()
  t.ok(existsSync(fileOf(cover!)))
})
