// Custom covers over HTTP: upload, selection, deletion.
import { existsSync, readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import sharp from 'sharp'
import t from 'tap'
import { newId } from '../../../../lib/base/id.ts'
import { maxCovers } from '../../../../lib/catalog/cover/cover.ts'
import { maxWaitingUploads } from '../../../../lib/catalog/cover/routes/cover-upload.ts'
import { hideSeries } from '../../../kit/accounts.ts'
import { doctorFindings } from '../../../kit/catalog.ts'
import { createBombs } from '../../../kit/files/bombs.ts'
import type { Client } from '../../../kit/http/client.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'
import { picture } from '../../../page/books.ts'

type Book = { id: string; seriesId: string }

const all = await startApi(t, { 'api.upload_mb': 1 })
const shelf = await createTestLibrary(t, all, {
  'A/1.cbz': comic(),
  'A/2.cbz': comic(),
  'B/1.cbz': comic(),
})
await shelf.scan()
const books = await shelf.books()
const [one, two, elsewhere] = books as unknown as [Book, Book, Book]
const maintainer = await all.createUser('maintainer')
const reader = await all.createUser('reader')
const [red, green] = [await picture(700, 500), await picture(300, 200, 'png')]

const upload = (path: string, bytes: Uint8Array, part = 'file', who: Client = maintainer) => {
  const raw = new FormData()
  raw.append('note', 'other fields are ignored')
  raw.append(part, new Blob([Uint8Array.from(bytes)]), 'cover')
  return who.request('POST', `${path}/cover`, { raw })
}
const shown = async (path: string) => (await reader.get(`${path}/thumbnail`)).headers.get('etag')
const stored = () => {
  const folder = join(all.data, 'covers')
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(f => f.isFile())
    .map(f => f.name)
}

for (const [kind, path] of [
  ['book', `/books/${one.id}`],
  ['series', `/series/${one.seriesId}`],
] as const) {
  t.test(`covers of a ${kind}`, async t => {
    const automatic = await shown(path)
    const first = await upload(path, red)
    t.equal(first.status, 201)
    t.match(first.body, { source: 'custom', isSelected: true, width: 700, height: 500 })
    t.equal(first.body[`${kind}Id`], kind === 'book' ? one.id : one.seriesId)
    t.notOk('path' in first.body, 'the file path is not exposed')
    const { bytes, headers } = await reader.get(`${path}/thumbnail`)
    t.equal(headers.get('content-type'), 'image/jpeg')
    t.match(await sharp(bytes).metadata(), { width: 400 })
    t.not(headers.get('etag'), automatic)

    const image = await reader.get(`${path}/covers/${first.body.id}/image`)
    t.ok(image.bytes.equals(red), 'the original is stored')
    t.equal(image.headers.get('content-type'), 'image/jpeg')
    const fresh = { headers: { 'if-none-match': image.headers.get('etag')! } }
    t.equal((await reader.get(`${path}/covers/${first.body.id}/image`, fresh)).status, 304)

    const second = await upload(path, green, 'image')
    t.equal(second.status, 201)
    const again = await upload(path, red, 'cover')
    t.equal(again.status, 200, 'the same image again')
    t.equal(again.body.id, first.body.id)
    const { body } = await reader.get(`${path}/covers`)
    t.same(
      body.covers.map((c: { id: string; isSelected: boolean }) => [c.id, c.isSelected]),
      [
        [first.body.id, true],
        [second.body.id, false],
      ],
    )
    const isLocked = async () =>
      (await maintainer.get(`${path}/metadata/locks`)).body[kind === 'book' ? 'coverLock' : 'cover']
    t.equal(await isLocked(), true)

    const chosen = await maintainer.put(`${path}/covers/${second.body.id}/select`)
    t.match(chosen, { status: 200, body: { id: second.body.id, isSelected: true } })
    const own = await shown(path)
    t.equal((await maintainer.delete(`${path}/covers/selected`)).status, 204)
    t.equal(await shown(path), automatic)
    t.equal((await reader.get(`${path}/covers`)).body.covers.length, 2, 'custom covers remain')
    await maintainer.put(`${path}/covers/${first.body.id}/select`)
    t.equal((await maintainer.delete(`${path}/covers/${first.body.id}`)).status, 204)
    t.equal(await shown(path), own, 'the remaining cover is selected')
    t.equal(await isLocked(), true)
    t.equal((await maintainer.delete(`${path}/covers/${second.body.id}`)).status, 204)
    t.equal(await shown(path), automatic)
    t.equal(await isLocked(), false, 'scans choose the cover again')
    t.same((await reader.get(`${path}/covers`)).body, { covers: [] })
    t.same(stored(), [], 'no file remains')
    t.equal((await maintainer.delete(`${path}/covers/${second.body.id}`)).status, 404)
  })
}

t.test('one file is shared by books with the same image until the last one is deleted', async t => {
  const mine = await upload(`/books/${one.id}`, red)
  const theirs = await upload(`/books/${two.id}`, red)
  t.equal(stored().length, 1)
  await maintainer.delete(`/books/${one.id}/covers/${mine.body.id}`)
  t.equal(stored().length, 1)
  const imagePath = `/books/${two.id}/covers/${theirs.body.id}/image`
  t.ok((await reader.get(imagePath)).bytes.equals(red))
  t.equal((await reader.get(imagePath.replace(two.id, one.id))).status, 404, 'only at its own book')
  await maintainer.delete(`/books/${two.id}/covers/${theirs.body.id}`)
  t.same(stored(), [])
})

t.test('deleting an upload of the book thumbnail does not delete the thumbnail', async t => {
  const own = await reader.get(`/books/${one.id}/thumbnail`)
  const cover = await upload(`/books/${one.id}`, own.bytes)
  t.equal(cover.status, 201)
  await maintainer.delete(`/books/${one.id}/covers/${cover.body.id}`)
  const after = await reader.get(`/books/${one.id}/thumbnail`)
  t.equal(after.headers.get('etag'), own.headers.get('etag'))
  t.same(await doctorFindings(all), [])
})

t.test('the doctor does not report uploaded covers', async t => {
  const cover = await upload(`/series/${one.seriesId}`, green)
  const folder = join(all.data, 'thumbnails')
  const old = new Date(Date.now() - 7_200_000)
  for (const f of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (f.isFile()) utimesSync(join(f.parentPath, f.name), old, old)
  t.same(await doctorFindings(all), [])
  await maintainer.delete(`/series/${one.seriesId}/covers/${cover.body.id}`)
})

t.test('a series has the cover of the selected book', async t => {
  const path = `/series/${one.seriesId}`
  const automatic = await shown(path)
  const choose = (bookId: string) => maintainer.put(`${path}/covers/from-book`, { bookId })
  t.equal((await choose(two.id)).status, 204)
  t.equal(await shown(path), await shown(`/books/${two.id}`))
  t.equal((await choose(elsewhere.id)).status, 404)
  t.equal((await maintainer.delete(`${path}/covers/selected`)).status, 204)
  t.equal(await shown(path), automatic)
})

t.test('files that are not images are rejected without a trace', async t => {
  const path = `/books/${one.id}`
  t.match(await upload(path, Buffer.from('not an image')), {
    status: 400,
    body: { details: { code: 'unsupported_image' } },
  })
  t.equal((await upload(path, red.subarray(0, 30))).status, 400)
  t.equal((await upload(path, Buffer.alloc(0))).status, 400)
  for (const bomb of await createBombs(['svg use', 'svg mask', 'gif of 65,535', 'avif 30,000']))
    t.match(
      await upload(path, bomb.bytes),
      { status: 400, body: { details: { code: 'too_large' } } },
      bomb.name,
    )
  t.equal((await upload(path, red, 'portrait')).status, 400)
  t.equal((await upload(path, Buffer.alloc(1_200_000, 1))).status, 413)
  const raw = async (type: string, text: string) =>
    (
      await maintainer.request('POST', `${path}/cover`, {
        raw: Buffer.from(text),
        headers: { 'content-type': type },
      })
    ).status
  t.equal(await raw('multipart/form-data; boundary=x', '--x\r\nContent-Disp'), 400)
  t.equal(await raw('multipart/form-data; boundary=x', ''), 400)
  t.equal(await raw('multipart/form-data', '--x--'), 400)
  t.equal(await raw('application/json', '{}'), 415)
  t.equal(await raw('image/jpeg', 'x'), 415)
  t.same((await reader.get(`${path}/covers`)).body.covers, [])
  t.same(stored(), [])
})

t.test('bytes after the image are not stored', async t => {
  const path = `/books/${one.id}`
  const box = (type: string) =>
    Buffer.concat([Buffer.from([0, 0, 0, 12]), Buffer.from(`${type}body`)])
  const plain = { width: 20, height: 30, channels: 3, background: 'red' } as const
  for (const format of ['jpeg', 'png', 'gif', 'webp', 'avif'] as const) {
    const image = await sharp({ create: plain }).toFormat(format).toBuffer()
    const more = Buffer.concat([image, box('evil'), Buffer.alloc(3000, '<script>')])
    const { status, body } = await upload(path, more)
    t.equal(status, 201, format)
    const original = await reader.get(`${path}/covers/${body.id}/image`)
    t.ok(original.bytes.equals(image), format)
    t.equal((await upload(path, image)).status, 200, 'the same image')
    await maintainer.delete(`${path}/covers/${body.id}`)
  }
})

t.test('a series has at most 50 custom covers, also of uploads at the same time', async t => {
  const path = `/series/${one.seriesId}`
  // Rows alone: the number is counted in the database.
  await all.sql`
    insert into cover (id, series_id, source, hash, original)
    select gen_random_uuid(), ${one.seriesId}, 'custom', sha256(n::text::bytea), 'png'
    from generate_series(1, ${maxCovers - 2}) n`
  const other = await all.createUser('maintainer')
  const images = await Promise.all([50, 60, 70, 80].map(side => picture(side, side)))
  const results = await Promise.all(
    images.map((image, i) => upload(path, image, 'file', i % 2 ? other : maintainer)),
  )
  t.same(results.map(({ status }) => status).sort(), [201, 201, 409, 409])
  t.match(results.find(({ status }) => status === 409)!.body.message, /already 50 custom covers/)
  const again = images[results.findIndex(({ status }) => status === 201)]!
  t.equal((await upload(path, again)).status, 200, 'an image that is already there')
  t.equal((await upload(`/books/${one.id}`, red)).status, 201, 'each owner has its own')
  await all.sql`delete from cover`
})

t.test('one upload of an account is read at a time; too many that wait are rejected', async t => {
  const path = `/books/${one.id}`
  const count = 2 + maxWaitingUploads
  // The first of them holds the place until its body ends. fetch sends headers with the first bytes.
  const bodies = Array.from({ length: count }, () => new PassThrough())
  const sent = bodies.map(body =>
    fetch(`${all.base}/api/v1${path}/cover`, {
      method: 'POST',
      headers: { 'x-api-key': maintainer.key, 'content-type': 'multipart/form-data; boundary=x' },
      body,
      duplex: 'half',
    } as never),
  )
  for (const body of bodies) body.write('--x\r\n')
  const first = await Promise.race(sent)
  t.equal(first.status, 429)
  t.ok(first.headers.get('retry-after'))
  for (const body of bodies) body.end('--x--\r\n')
  const statuses = (await Promise.all(sent)).map(({ status }) => status)
  t.equal(statuses.filter(status => status === 429).length, 1)
  t.equal(statuses.filter(status => status === 400).length, count - 1)
})

t.test('readers can view covers, except hidden ones', async t => {
  t.equal((await upload(`/books/${one.id}`, red, 'file', reader)).status, 403)
  t.equal((await upload(`/books/${newId()}`, red)).status, 404)
  const cover = await upload(`/series/${one.seriesId}`, red)
  const other = await all.createUser('maintainer')
  await hideSeries(all.sql, other.id, [one.seriesId])
  const path = `/series/${one.seriesId}`
  t.equal((await other.get(`${path}/covers`)).status, 404)
  t.equal((await other.get(`${path}/covers/${cover.body.id}/image`)).status, 404)
  t.equal((await other.put(`${path}/covers/${cover.body.id}/select`)).status, 404)
  t.equal((await other.delete(`${path}/covers/${cover.body.id}`)).status, 404)
  t.equal((await upload(path, red, 'file', other)).status, 404)
})
