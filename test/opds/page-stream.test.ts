// Pages as reading apps stream them, and what old and careless clients do to addresses.
import { connect } from 'node:net'
import sharp from 'sharp'
import t from 'tap'
import { newId } from '../../lib/id.ts'
import { pageCounters } from '../../lib/page/counters.ts'
import { zip } from '../archive/archive-files.ts'
import { epubBytes, item } from '../format/epub/epub-files.ts'
import { pdfOf, stream } from '../format/pdf/pdf-files.ts'
import { comic, shelve } from '../kit/library.ts'
import { serve } from '../kit/server.ts'
import { hide } from '../kit/walk.ts'
import { picture } from '../page/books.ts'

const [jpeg, png, webp] = [
  await picture(900, 1200),
  await picture(500, 300, 'png'),
  await picture(400, 600, 'webp'),
]
// A picture of four gigapixels, by what its header says.
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
/** Two pages, a byte of the second being another one than its checksum says. */
function damaged(): Buffer {
  const bytes = imagesOf(jpeg, jpeg)
  const at = bytes.lastIndexOf(jpeg.subarray(1_000, 1_100))
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at)
  return bytes
}
const all = await serve(t)
const shelf = await shelve(t, all, {
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
await shelf.scan()
const books = new Map((await shelf.books()).map(b => [b.name, b]))
const id = (name: string) => books.get(name)!.id
const reader = await all.as('reader')
const v1 = (name: string, page: number | string, query = '') =>
  `/opds/v1/books/${id(name)}/pages/${page}${query}`
const v2 = (name: string, page: number | string, query = '') =>
  v1(name, page, query).replace('v1', 'v2')
const made = async (path: string) => {
  const { status, bytes, headers } = await reader.get(path)
  const type = headers.get('content-type')
  if (status !== 200) return { status }
  const { width, height, format } = await sharp(bytes).metadata()
  return { status, type, width, height, is: `image/${format}`, bytes, headers }
}

t.test('for a damaged page stands a drawing, and the book goes on', async t => {
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
  t.equal((await reader.get(`/books/${book}/pages/2`)).status, 422, 'the API says what is wrong')
})

t.test('every page is of the type that the feed says', async t => {
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
        t.match(await made(v1(name, page, query)), { type, is: type }, `${name} ${page} ${query}`)
})

t.test('the bytes are those of the book where they will do', async t => {
  for (const path of [
    v1('jpeg.cbz', 0),
    v1('jpeg.cbz', 2, '?width=900'),
    v1('mixed.cbz', 0),
    v2('jpeg.cbz', 1),
    v2('mixed.cbz', 1, '?format=jpeg'),
  ])
    t.ok((await made(path)).bytes?.equals(jpeg), path)
  t.ok((await made(v1('gif.cbz', 1, '?width=300'))).bytes?.equals(gif))
  t.ok((await made(v2('mixed.cbz', 2))).bytes?.equals(webp))
  const unmade = await reader.get(v1('huge.cbz', 1, '?width=100'))
  t.ok(unmade.bytes.equals(huge), 'what cannot be made smaller is sent as it is')
})

t.test('sizes are bounds, and what is no size is ignored', async t => {
  t.match(await made(v1('jpeg.cbz', 0, '?width=300')), { width: 300, height: 400 })
  t.match(await made(v1('jpeg.cbz', 0, '?width=300&height=40')), { width: 30, height: 40 })
  t.match(await made(v1('jpeg.cbz', 0, '?width=1')), { width: 1 })
  t.match(await made(v2('mixed.cbz', 2, '?width=100.5')), { width: 100, is: 'image/webp' })
  t.match(await made(v2('mixed.cbz', 2, '?format=png')), { is: 'image/png' })
  t.match(await made(v1('png.cbz', 0, '?format=jpeg')), { is: 'image/jpeg' })
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
    t.match(await made(v1('jpeg.cbz', 0, `?width=${width}`)), { width: 900 }, width)
  t.match(await made(v1('png.cbz', 0, '?format=webp')), { is: 'image/png' }, 'no PSE type')
  t.match(await made(v2('png.cbz', 1, '?format=tiff')), { is: 'image/png' })
})

t.test('304 and HEAD without a look at more than needed', async t => {
  const path = v1('jpeg.cbz', 1, '?width={maxWidth}')
  const get = await reader.get(path)
  t.match(get.headers.get('cache-control'), /^private, max-age=86400/)
  const { opens, tasks } = pageCounters
  await reader.get(path)
  t.match(pageCounters, { opens: opens + 1, tasks }, 'one open a page')
  const headers = { 'if-none-match': get.headers.get('etag')! }
  t.equal((await reader.get(path, { headers })).status, 304)
  t.match(pageCounters, { opens: opens + 1, tasks })
  const head = await reader.ask('HEAD', path)
  t.equal(head.status, 200)
  for (const name of ['content-length', 'content-type', 'etag', 'cache-control'])
    t.equal(head.headers.get(name), get.headers.get(name), name)
})

t.test('pages that are not there, and numbers that are none', async t => {
  const status = async (path: string) => (await reader.get(path)).status
  t.equal(await status(v1('jpeg.cbz', 3)), 404)
  t.equal(await status(v1('jpeg.cbz', 2_000_000_000)), 404)
  t.equal(await status(v2('jpeg.cbz', 4)), 404)
  for (const page of ['-1', 'one', '1.5', '{pageNumber}', '%7BpageNumber%7D'])
    t.equal(await status(v1('jpeg.cbz', page)), 400, page)
  t.equal(await status(v2('jpeg.cbz', 0)), 400)
  for (const path of [v1('flowing.epub', 0), v2('flowing.epub', 1)])
    t.equal(await status(path), 404, 'the pictures of a text are not its pages')
  t.equal(await status(v1('1.cbz', 0)), 422)
  t.equal(await status(`/opds/v1/books/${newId()}/pages/0`), 404)
  shelf.remove('A/gone.cbz')
  t.equal(await status(v1('gone.cbz', 0)), 404)
})

t.test('pages that are hidden, and who may not see pages', async t => {
  const other = await all.as('reader')
  await hide(all.sql, other.id, [books.get('jpeg.cbz')!.seriesId])
  t.equal((await other.get(v1('jpeg.cbz', 0))).status, 404)
  t.equal((await other.get(v2('jpeg.cbz', 1))).status, 404)
  t.equal((await all.anyone.get(v1('jpeg.cbz', 0))).status, 401)
  const looking = await all.as('reader')
  await all.sql`update api_key set permissions = '{BooksRead}' where account_id = ${looking.id}`
  t.equal((await looking.get(v1('jpeg.cbz', 0))).status, 403)
})

/** What comes back over a bare socket, as old clients hear it. */
function spoken(lines: string[]): Promise<{ status: number; head: string; body: Buffer }> {
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

t.test('HTTP/1.0, with a host and without', async t => {
  for (const host of [[], ['Host: books.example.org']]) {
    const feed = await spoken(['GET /opds/v1/catalog HTTP/1.0', ...host])
    t.equal(feed.status, 200)
    t.match(feed.body.toString(), /^<\?xml/)
    t.notMatch(feed.head, /transfer-encoding/i, 'which it does not know')
    const json = await spoken(['GET /opds/v2 HTTP/1.0', ...host])
    t.ok(JSON.parse(json.body.toString()).links)
    const page = await spoken([`GET ${v1('jpeg.cbz', 0)} HTTP/1.0`, ...host])
    t.ok(page.body.equals(jpeg))
    const file = await spoken([`GET /opds/v1/books/${id('png.cbz')}/file/p.cbz HTTP/1.0`, ...host])
    t.match(file.head, new RegExp(`content-length: ${file.body.length}\\b`, 'i'))
  }
})

t.test('braces that were never filled in, as they are', async t => {
  const { status, body } = await spoken([
    `GET ${v1('jpeg.cbz', 0, '?width={maxWidth}')} HTTP/1.1`,
    'Host: localhost',
    'Connection: close',
  ])
  t.equal(status, 200)
  t.ok(jpeg.equals(body))
})

t.test('feeds that nobody packs, HEAD, and slashes too many', async t => {
  const identity = { headers: { 'accept-encoding': 'identity' } }
  for (const path of ['/opds/v1/catalog', '/opds/v2', '/opds/v1/keep-reading', v1('png.cbz', 0)]) {
    const get = await reader.get(path, identity)
    t.equal(get.status, 200, path)
    t.equal(get.headers.get('content-encoding'), null, path)
    t.ok((await reader.get(`${path}/`, identity)).bytes.equals(get.bytes), `${path}/`)
    const head = await reader.ask('HEAD', path, identity)
    t.equal(head.status, 200)
    t.equal(head.bytes.length, 0)
    for (const name of ['content-length', 'content-type', 'etag'])
      t.equal(head.headers.get(name), get.headers.get(name), `${path} ${name}`)
  }
})
