// Page streaming, also for old and careless clients.
import { connect } from 'node:net'
import sharp from 'sharp'
import t from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { deliveryCounters } from '../../../lib/download/counters.ts'
import { hideSeries } from '../../kit/accounts.ts'
import { zip } from '../../kit/files/archives.ts'
import { epubBytes, item } from '../../kit/files/epub.ts'
import { pdfOf, stream } from '../../kit/files/pdf.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'
import { picture } from '../../page/books.ts'

const [jpeg, png, webp] = [
  await picture(900, 1200),
  await picture(500, 300, 'png'),
  await picture(400, 600, 'webp'),
]
// An image of four gigapixels according to its header.
const huge = Buffer.from(jpeg)
huge.fill(
  0xff,
  huge.indexOf(Buffer.from('ffc0', 'hex')) + 5,
  huge.indexOf(Buffer.from('ffc0', 'hex')) + 9,
)
const gif = await sharp(await picture(300, 400))
  .gif()
  .toBuffer()
const imagesOf = (...images: Buffer[]) =>
  zip(images.map((bytes, i) => ({ name: `${i}.jpg`, bytes })))
const pageOf = (name: string) => `<html><body><img src="${name}"/></body></html>`
const epub = (metadata: string) =>
  epubBytes({
    metadata,
    manifest: [
      item('a', 'a.xhtml', 'application/xhtml+xml'),
      item('b', 'b.xhtml', 'application/xhtml+xml'),
      item('x', 'x.png', 'image/png'),
      item('y', 'y.jpg', 'image/jpeg'),
    ].join(''),
    spine: '<itemref idref="a"/><itemref idref="b"/>',
    files: {
      'OPS/a.xhtml': pageOf('x.png'),
      'OPS/b.xhtml': pageOf('y.jpg'),
      'OPS/x.png': png,
      'OPS/y.jpg': jpeg,
    },
  })
/** Two pages; a byte of the second does not match its checksum. */
function damaged(): Buffer {
  const bytes = imagesOf(jpeg, jpeg)
  const at = bytes.lastIndexOf(jpeg.subarray(1_000, 1_100))
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at)
  return bytes
}
const all = await startApi(t)
const library = await createTestLibrary(t, all, {
  'A/jpeg.cbz': imagesOf(jpeg, jpeg, jpeg),
  'A/huge.cbz': imagesOf(jpeg, huge),
  'A/damaged.cbz': damaged(),
  'A/png.cbz': imagesOf(png, png),
  'A/gif.cbz': imagesOf(gif, gif),
  'A/mixed.cbz': imagesOf(jpeg, webp, png, gif),
  'A/gone.cbz': comic(),
  'Broken/1.cbz': Buffer.from('this is no archive'),
  'Paper/1.pdf': pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]/Contents 4 0 R>>',
    stream('', '0 0 1 rg 20 20 100 100 re f'),
  ]),
  'Text/fixed.epub': epub('<meta property="rendition:layout">pre-paginated</meta>'),
  'Text/flowing.epub': epub(''),
})
await library.scan()
const books = new Map((await library.books()).map(book => [book.name, book]))
const id = (name: string) => books.get(name)!.id
const reader = await all.createUser('reader')
const v1 = (name: string, page: number | string, query = '') =>
  `/opds/v1/books/${id(name)}/pages/${page}${query}`
const v2 = (name: string, page: number | string, query = '') =>
  v1(name, page, query).replace('v1', 'v2')
const fetchImage = async (path: string) => {
  const { status, bytes, headers } = await reader.get(path)
  const type = headers.get('content-type')
  if (status !== 200) return { status }
  const { width, height, format } = await sharp(bytes).metadata()
  return { status, type, width, height, actualType: `image/${format}`, bytes, headers }
}

t.test('a damaged page is replaced by a placeholder, the others are sent', async t => {
  const book = id('damaged.cbz')
  for (const [path, type] of [
    [`/opds/v1/books/${book}/pages/1`, 'image/jpeg'],
    [`/opds/v2/books/${book}/pages/2?format=png`, 'image/png'],
  ] as const) {
    const { status, headers, bytes } = await reader.get(path)
    t.equal(status, 200)
    t.equal(headers.get('content-type'), type)
    t.equal(headers.get('cache-control'), 'no-store')
    t.notSame(bytes, jpeg)
    t.equal((await sharp(bytes).metadata()).format, type.slice('image/'.length))
  }
  t.same((await reader.get(`/opds/v1/books/${book}/pages/0`)).bytes, jpeg)
  t.equal((await reader.get(`/books/${book}/pages/2`)).status, 422, 'the API reports the error')
})

t.test('every page has the media type of the feed', async t => {
  const types = [
    ['jpeg.cbz', 3, 'image/jpeg'],
    ['png.cbz', 2, 'image/png'],
    ['gif.cbz', 2, 'image/gif'],
    ['mixed.cbz', 4, 'image/jpeg'],
    ['1.pdf', 1, 'image/jpeg'],
    ['fixed.epub', 2, 'image/jpeg'],
  ] as const
  for (const [name, count, type] of types)
    for (let page = 0; page < count; page++)
      for (const query of ['?width={maxWidth}', '?width=100', '?width=9999999', ''])
        t.match(
          await fetchImage(v1(name, page, query)),
          { type, actualType: type },
          `${name} ${page} ${query}`,
        )
})

t.test('original bytes are sent where they satisfy the request', async t => {
  for (const path of [
    v1('jpeg.cbz', 0),
    v1('jpeg.cbz', 2, '?width=900'),
    v1('mixed.cbz', 0),
    v2('jpeg.cbz', 1),
    v2('mixed.cbz', 1, '?format=jpeg'),
  ])
    t.ok((await fetchImage(path)).bytes?.equals(jpeg), path)
  t.ok((await fetchImage(v1('gif.cbz', 1, '?width=300'))).bytes?.equals(gif))
  t.ok((await fetchImage(v2('mixed.cbz', 2))).bytes?.equals(webp))
  const unscaled = await reader.get(v1('huge.cbz', 1, '?width=100'))
  t.ok(unscaled.bytes.equals(huge), 'an image that cannot be scaled is sent as it is')
})

t.test('sizes are upper bounds, and invalid sizes are ignored', async t => {
  t.match(await fetchImage(v1('jpeg.cbz', 0, '?width=300')), { width: 300, height: 400 })
  t.match(await fetchImage(v1('jpeg.cbz', 0, '?width=300&height=40')), { width: 30, height: 40 })
  t.match(await fetchImage(v1('jpeg.cbz', 0, '?width=1')), { width: 1 })
  t.match(await fetchImage(v2('mixed.cbz', 2, '?width=100.5')), {
    width: 100,
    actualType: 'image/webp',
  })
  t.match(await fetchImage(v2('mixed.cbz', 2, '?format=png')), { actualType: 'image/png' })
  t.match(await fetchImage(v1('png.cbz', 0, '?format=jpeg')), { actualType: 'image/jpeg' })
  for (const width of [
    '',
    '0',
    '-5',
    'wide',
    '{maxWidth}',
    '%7BmaxWidth%7D',
    '1e3',
    '5000',
    '9'.repeat(30),
  ])
    t.match(await fetchImage(v1('jpeg.cbz', 0, `?width=${width}`)), { width: 900 }, width)
  t.match(
    await fetchImage(v1('png.cbz', 0, '?format=webp')),
    { actualType: 'image/png' },
    'not a type of OPDS-PSE',
  )
  t.match(await fetchImage(v2('png.cbz', 1, '?format=tiff')), { actualType: 'image/png' })
})

t.test('304 and HEAD open no files', async t => {
  const path = v1('jpeg.cbz', 1, '?width={maxWidth}')
  const get = await reader.get(path)
  t.match(get.headers.get('cache-control'), /^private, max-age=86400/)
  const { opens, tasks } = deliveryCounters
  await reader.get(path)
  t.match(deliveryCounters, { opens: opens + 1, tasks }, 'one open per page')
  const headers = { 'if-none-match': get.headers.get('etag')! }
  t.equal((await reader.get(path, { headers })).status, 304)
  t.match(deliveryCounters, { opens: opens + 1, tasks })
  const head = await reader.request('HEAD', path)
  t.equal(head.status, 200)
  for (const name of ['content-length', 'content-type', 'etag', 'cache-control'])
    t.equal(head.headers.get(name), get.headers.get(name), name)
})

t.test('missing pages and invalid numbers', async t => {
  const status = async (path: string) => (await reader.get(path)).status
  t.equal(await status(v1('jpeg.cbz', 3)), 404)
  t.equal(await status(v1('jpeg.cbz', 2_000_000_000)), 404)
  t.equal(await status(v2('jpeg.cbz', 4)), 404)
  for (const page of ['-1', 'one', '1.5', '{pageNumber}', '%7BpageNumber%7D'])
    t.equal(await status(v1('jpeg.cbz', page)), 400, page)
  t.equal(await status(v2('jpeg.cbz', 0)), 400)
  for (const path of [v1('flowing.epub', 0), v2('flowing.epub', 1)])
    t.equal(await status(path), 404, 'images of a reflowable text are not pages')
  t.equal(await status(v1('1.cbz', 0)), 422)
  t.equal(await status(`/opds/v1/books/${newId()}/pages/0`), 404)
  library.remove('A/gone.cbz')
  t.equal(await status(v1('gone.cbz', 0)), 404)
})

t.test('hidden pages, and accounts without permission to see pages', async t => {
  const other = await all.createUser('reader')
  await hideSeries(all.sql, other.id, [books.get('jpeg.cbz')!.seriesId])
  t.equal((await other.get(v1('jpeg.cbz', 0))).status, 404)
  t.equal((await other.get(v2('jpeg.cbz', 1))).status, 404)
  t.equal((await all.anonymous.get(v1('jpeg.cbz', 0))).status, 401)
  const limited = await all.createUser('reader')
  await all.sql`update api_key set permissions = '{BooksRead}' where account_id = ${limited.id}`
  t.equal((await limited.get(v1('jpeg.cbz', 0))).status, 403)
})

/** The response to a raw request over a socket. */
function sendRaw(lines: string[]): Promise<{ status: number; head: string; body: Buffer }> {
  const { port } = new URL(all.base)
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('data', part => parts.push(Buffer.from(part))).on('error', reject)
    socket.on('end', () => {
      const bytes = Buffer.concat(parts)
      const at = bytes.indexOf('\r\n\r\n')
      const head = bytes.subarray(0, at).toString('latin1')
      resolve({ status: Number(head.split(' ')[1]), head, body: bytes.subarray(at + 4) })
    })
    socket.write(`${[...lines, `X-API-Key: ${reader.key}`].join('\r\n')}\r\n\r\n`)
  })
}

t.test('HTTP/1.0, with and without Host', async t => {
  for (const host of [[], ['Host: books.example.org']]) {
    const feed = await sendRaw(['GET /opds/v1/catalog HTTP/1.0', ...host])
    t.equal(feed.status, 200)
    t.match(feed.body.toString(), /^<\?xml/)
    t.notMatch(feed.head, /transfer-encoding/i, 'not supported by HTTP/1.0')
    const json = await sendRaw(['GET /opds/v2 HTTP/1.0', ...host])
    t.ok(JSON.parse(json.body.toString()).links)
    const page = await sendRaw([`GET ${v1('jpeg.cbz', 0)} HTTP/1.0`, ...host])
    t.ok(page.body.equals(jpeg))
    const file = await sendRaw([`GET /opds/v1/books/${id('png.cbz')}/file/p.cbz HTTP/1.0`, ...host])
    t.match(file.head, new RegExp(`content-length: ${file.body.length}\\b`, 'i'))
  }
})

t.test('an unexpanded template variable', async t => {
  const { status, body } = await sendRaw([
    `GET ${v1('jpeg.cbz', 0, '?width={maxWidth}')} HTTP/1.1`,
    'Host: localhost',
    'Connection: close',
  ])
  t.equal(status, 200)
  t.ok(jpeg.equals(body))
})

t.test('uncompressed feeds, HEAD, and trailing slashes', async t => {
  const identity = { headers: { 'accept-encoding': 'identity' } }
  for (const path of ['/opds/v1/catalog', '/opds/v2', '/opds/v1/keep-reading', v1('png.cbz', 0)]) {
    const get = await reader.get(path, identity)
    t.equal(get.status, 200, path)
    t.equal(get.headers.get('content-encoding'), null, path)
    t.ok((await reader.get(`${path}/`, identity)).bytes.equals(get.bytes), `${path}/`)
    const head = await reader.request('HEAD', path, identity)
    t.equal(head.status, 200)
    t.equal(head.bytes.length, 0)
    for (const name of ['content-length', 'content-type', 'etag'])
      t.equal(head.headers.get(name), get.headers.get(name), `${path} ${name}`)
  }
})
