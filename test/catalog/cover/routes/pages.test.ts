// Page images over HTTP.
import { request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import sharp from 'sharp'
import t from 'tap'
import { newId } from '../../../../lib/base/id.ts'
import { deliveryCounters } from '../../../../lib/download/counters.ts'
import { sniffImage } from '../../../../lib/media/image/image.ts'
import { hideSeries } from '../../../kit/accounts.ts'
import { animatedPng, animatedWebp } from '../../../kit/files/animations.ts'
import { zip } from '../../../kit/files/archives.ts'
import { epubBytes } from '../../../kit/files/epub.ts'
import { pdfOf, stream } from '../../../kit/files/pdf.ts'
import { allPages } from '../../../kit/http/pagination.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { waitUntil } from '../../../kit/processes.ts'
import { startApi } from '../../../kit/server.ts'
import { picture } from '../../../page/books.ts'

const jpeg = await picture(900, 1200)
const png = await picture(500, 300, 'png')
const svg = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="90"><script>alert(1)</script><rect width="60" height="90"/></svg>',
)
const webpAnimation = await animatedWebp({ width: 900, height: 1200 })
const pngAnimation = await animatedPng({ width: 900, height: 1200 })
const all = await startApi(t)
const shelf = await createTestLibrary(t, all, {
  'A/1.cbz': zip([
    { name: '1.jpg', bytes: jpeg },
    { name: '2.png', bytes: png },
    { name: '3.svg', bytes: svg },
  ]),
  'A/2.cbz': comic({ pages: 2 }),
  'A/moving.cbz': zip([
    { name: '1.webp', bytes: webpAnimation },
    { name: '2.png', bytes: pngAnimation },
  ]),
  'A/gone.cbz': comic({ pages: 2 }),
  'A/many.cbz': zip(
    Array.from({ length: 40 }, (_, i) => ({ name: `${100 + i}.jpg`, bytes: jpeg })),
  ),
  'Broken/1.cbz': Buffer.from('this is no archive'),
  'Paper/1.pdf': pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]/Contents 4 0 R>>',
    stream('', '0 0 1 rg 20 20 100 100 re f'),
  ]),
  'Text/1.epub': epubBytes({}),
})
await shelf.scan()
const ids = new Map((await shelf.books()).map(b => [`${b.folder}/${b.name}`, b]))
const book = (path: string) => ids.get(path)!.id
const reader = await all.createUser('reader')
const page = (path: string, number: number | string, query = '') =>
  `/books/${book(path)}/pages/${number}${query}`

t.test('browsers get animations as they are, unless they request a format', async t => {
  const headers = { accept: 'image/webp,*/*' }
  for (const [number, original] of [
    [1, webpAnimation],
    [2, pngAnimation],
  ] as const)
    for (const attempt of ['made', 'cached']) {
      const { bytes, status } = await reader.get(page('A/moving.cbz', number, '?width=300'), {
        headers,
      })
      t.equal(status, 200)
      t.ok(original.equals(bytes), attempt)
    }
  const still = await reader.get(page('A/moving.cbz', 1, '?width=300&format=webp'), { headers })
  t.match(await sharp(still.bytes, { animated: true }).metadata(), { width: 300, pages: undefined })
  const scaled = await reader.get(page('A/1.cbz', 1, '?width=300'), { headers })
  t.match(await sharp(scaled.bytes).metadata(), { format: 'webp', width: 300 })
})

t.test('the page list has names, types, sizes and ids', async t => {
  const list = async (path: string) => (await reader.get(`/books/${book(path)}/pages`)).body.data
  const data = await list('A/1.cbz')
  t.match(data, [
    { pageNumber: 1, fileName: '1.jpg', fileFormat: 'jpeg', width: 900, height: 1200 },
    { pageNumber: 2, fileName: '2.png', fileFormat: 'png', isDouble: true, fileSize: png.length },
    { pageNumber: 3, fileFormat: 'svg', bookId: book('A/1.cbz') },
  ])
  t.equal(new Set(data.map((one: { id: string }) => one.id)).size, 3)
  t.match(data[0].id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  t.same(await list('A/1.cbz'), data)
  t.same(await allPages(reader, `/books/${book('A/1.cbz')}/pages?pageSize=2`), data)
  t.same(await list('Broken/1.cbz'), [])
  t.same(await list('Text/1.epub'), [])
})

t.test('a page is sent unchanged, with cache headers', async t => {
  const first = await reader.get(page('A/1.cbz', 1))
  t.equal(first.status, 200)
  t.ok(first.bytes.equals(jpeg))
  t.equal(first.headers.get('content-type'), 'image/jpeg')
  t.equal(first.headers.get('content-length'), String(jpeg.length))
  t.equal(first.headers.get('content-encoding'), null)
  t.match(first.headers.get('cache-control'), /^private, max-age=\d+, must-revalidate$/)
  t.match(first.headers.get('etag'), /^"[\w-]+"$/, 'a strong ETag')
  t.equal(first.headers.get('x-content-type-options'), 'nosniff')
  t.ok((await reader.get(page('A/1.cbz', 2, '?v=17'))).bytes.equals(png), '?v= is ignored')
  t.equal((await reader.get('/progress')).body.total, 0, 'progress is unchanged')
})

t.test('304 without opening the file for a cached page', async t => {
  const before = await reader.get(page('A/1.cbz', 1, '?width=100'))
  const headers = { 'if-none-match': before.headers.get('etag')! }
  const { opens, requests } = deliveryCounters
  const again = await reader.get(page('A/1.cbz', 1, '?width=100'), { headers })
  t.equal(again.status, 304)
  t.equal(again.bytes.length, 0)
  t.equal(again.headers.get('etag'), headers['if-none-match'])
  t.match(deliveryCounters, { opens, requests }, 'no file was opened')
  t.equal((await reader.get(page('A/1.cbz', 1), { headers })).status, 200, 'a different image')
  const any = { headers: { 'if-none-match': '*' } }
  t.equal((await reader.get(page('A/1.cbz', 4), any)).status, 404)
  for (const query of ['', '?width=100']) {
    const head = await reader.request('HEAD', page('A/1.cbz', 1, query))
    const get = await reader.get(page('A/1.cbz', 1, query))
    for (const name of ['content-length', 'content-type', 'etag', 'cache-control'])
      t.equal(head.headers.get(name), get.headers.get(name), `HEAD ${query} ${name}`)
    t.equal(head.bytes.length, 0)
  }
  const head = await reader.request('HEAD', page('A/1.cbz', 1, '?width=100'), { headers })
  t.equal(head.status, 304)
  t.equal(head.headers.get('content-length'), null)
})

t.test('width, height and format apply to every format of books', async t => {
  const created = async (path: string, number: number, query: string) => {
    const { status, bytes, headers } = await reader.get(page(path, number, query))
    t.equal(status, 200, `${path} ${query}`)
    const { width, height, format } = await sharp(bytes).metadata()
    t.equal(headers.get('content-type'), sniffImage(bytes), `${path} ${query}`)
    return { width, height, format }
  }
  t.match(await created('A/1.cbz', 1, '?width=300'), { width: 300, height: 400, format: 'jpeg' })
  t.match(await created('A/1.cbz', 1, '?height=120'), { width: 90, height: 120 })
  t.match(await created('A/1.cbz', 1, '?width=600&height=120'), { width: 90, height: 120 })
  t.match(
    await created('A/1.cbz', 1, '?width=5000'),
    { width: 900, format: 'jpeg' },
    'not enlarged',
  )
  t.match(await created('A/1.cbz', 1, '?format=webp'), { width: 900, format: 'webp' })
  t.match(await created('A/1.cbz', 2, '?width=100'), { width: 100, format: 'png' })
  t.match(await created('A/1.cbz', 2, '?format=jpeg&height=30'), { height: 30, format: 'jpeg' })
  t.match(await created('Paper/1.pdf', 1, '?width=50'), { width: 50, height: 75 })
  t.match(await created('Paper/1.pdf', 1, '?format=png'), { format: 'png' })
})

t.test('browsers get scaled pages as WebP, and pages that fit as they are', async t => {
  const accept = 'image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8'
  const get = async (query: string, headers: Record<string, string> = { accept }) => {
    const { headers: sent, bytes } = await reader.get(page('A/1.cbz', 1, query), { headers })
    t.equal(/\bAccept\b/.test(sent.get('vary')!), !query.includes('format'))
    return { type: sent.get('content-type'), bytes, etag: sent.get('etag') }
  }
  const scaled = await get('?width=300')
  t.equal(scaled.type, 'image/webp')
  t.match(await sharp(scaled.bytes).metadata(), { width: 300, format: 'webp' })
  const plain = await get('?width=300', { accept: '*/*' })
  t.equal(plain.type, 'image/jpeg')
  t.not(plain.etag, scaled.etag)
  t.equal((await get('?width=300', { accept: 'image/webp;q=0, */*' })).type, 'image/jpeg')
  t.equal((await get('?width=300&format=png')).type, 'image/png', 'a format that was requested')
  t.ok((await get('?width=900')).bytes.equals(jpeg))
  t.ok((await get('')).bytes.equals(jpeg))
})

t.test('an SVG page cannot run scripts', async t => {
  const drawing = await reader.get(page('A/1.cbz', 3))
  t.equal(drawing.status, 200)
  t.equal(drawing.headers.get('content-type'), 'image/svg+xml')
  t.match(drawing.headers.get('content-security-policy'), /default-src 'none'.*sandbox/)
  t.equal(drawing.headers.get('content-encoding'), null)
})

t.test('invalid requests are 400, missing pages 404, broken files 422', async t => {
  for (const invalid of ['0', '-1', 'one', '1.5'])
    t.equal((await reader.get(page('A/1.cbz', invalid))).status, 400, invalid)
  for (const query of ['width=0', 'width=10001', 'height=-1', 'width=a', 'format=gif'])
    t.equal((await reader.get(page('A/1.cbz', 1, `?${query}`))).status, 400, query)
  t.equal((await reader.get(page('A/1.cbz', 4))).status, 404)
  t.equal((await reader.get(page('A/1.cbz', 2_000_000_000))).status, 404)
  t.equal((await reader.get(`/books/${newId()}/pages/1`)).status, 404)
  t.equal((await reader.get(page('Text/1.epub', 1))).status, 404)
  const broken = await reader.get(page('Broken/1.cbz', 1))
  t.equal(broken.status, 422)
  t.match(broken.body, { error: 'UnprocessableEntity', details: { code: 'not_an_archive' } })
})

t.test('a file deleted after the scan is 404', async t => {
  shelf.remove('A/gone.cbz')
  t.equal((await reader.get(page('A/gone.cbz', 1))).status, 404)
  await shelf.scan()
  t.equal((await reader.get(page('A/gone.cbz', 1))).status, 404)
  t.equal((await reader.get(`/books/${book('A/gone.cbz')}/file`)).status, 404)
})

t.test('pages changed on disk after the scan are sent as they are now', async t => {
  const before = await reader.get(page('A/2.cbz', 1))
  await sleep(5)
  shelf.write(
    'A/2.cbz',
    zip([
      { name: '1.png', bytes: png },
      { name: '2.jpg', bytes: jpeg },
    ]),
  )
  const after = await reader.get(page('A/2.cbz', 1))
  t.ok(after.bytes.equals(png))
  t.not(after.headers.get('etag'), before.headers.get('etag'))
})

t.test('hidden books have no pages', async t => {
  const other = await all.createUser('reader')
  await hideSeries(all.sql, other.id, [ids.get('A/1.cbz')!.seriesId])
  t.equal((await other.get(`/books/${book('A/1.cbz')}/pages`)).status, 404)
  t.equal((await other.get(page('A/1.cbz', 1))).status, 404)
  t.equal((await reader.get(page('A/1.cbz', 1))).status, 200)
})

t.test('a book that becomes hidden while its pages are read is refused', async t => {
  const admin = await all.createUser('admin')
  const child = await all.createUser('reader')
  await all.sql`update account set age_limit = 12 where id = ${child.id}`
  const id = book('A/2.cbz')
  const status = async () => (await child.get(page('A/2.cbz', 1))).status
  for (const [ageRating, expected] of [
    [18, 404],
    [6, 200],
    [18, 404],
    [null, 200],
  ] as const) {
    await admin.patch(`/books/${id}/metadata`, { ageRating })
    t.equal(await status(), expected, `rated ${ageRating}`)
  }
  await all.sql`update book set age_rating = 18 where id = ${id}`
  await waitUntil(async () => (await status()) === 404)
  await all.sql`update book set age_rating = null where id = ${id}`
  await waitUntil(async () => (await status()) === 200)
})

t.test('abandoned requests are not rendered', async t => {
  const { tasks } = deliveryCounters
  const requests = Array.from({ length: 40 }, (_, i) => {
    const url = new URL(`/api/v1${page('A/many.cbz', i + 1, `?width=${200 + i}`)}`, all.base)
    const pending = request(url, { headers: { 'x-api-key': reader.key } })
    pending.on('error', () => {})
    pending.end()
    return pending
  })
  // The first of them are being rendered.
  await waitUntil(() => deliveryCounters.tasks > tasks)
  for (const pending of requests) pending.destroy()
  // A new request does not wait for the forty abandoned ones.
  t.equal((await reader.get(page('A/many.cbz', 1, '?width=60'))).status, 200)
  await sleep(300)
  t.ok(deliveryCounters.tasks - tasks < 30, `${deliveryCounters.tasks - tasks} tasks`)
})
