// Files and covers in the OPDS feeds.
import { rmSync } from 'node:fs'
import { parse } from 'content-disposition'
import sharp from 'sharp'
import t from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { filePath } from '../../../lib/protocols/publication/links.ts'
import { publicationById } from '../../../lib/protocols/publication/publication.ts'
import { hideSeries } from '../../kit/accounts.ts'
import { zip } from '../../kit/files/archives.ts'
import { epubBytes, item } from '../../kit/files/epub.ts'
import { pdfOf, stream } from '../../kit/files/pdf.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'
import { picture } from '../../page/books.ts'

const all = await startApi(t, { 'thumbnail.format': 'webp' })
const coverImage = await picture(1500, 2400)
const library = await createTestLibrary(t, all, {
  'Large/1.cbz': zip([
    { name: '1.jpg', bytes: coverImage },
    { name: '2.jpg', bytes: coverImage },
  ]),
  'Large/2.cbz': comic(),
  'Paper/1.pdf': pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]/Contents 4 0 R>>',
    stream('', '0 0 1 rg 20 20 100 100 re f'),
  ]),
  'Text/1.epub': epubBytes({
    manifest:
      item('p', 'plate.png', 'image/png') + item('c', 'front.jpg', 'image/jpeg', 'cover-image'),
    files: {
      'OPS/plate.png': await picture(60, 60, 'png'),
      'OPS/front.jpg': await picture(300, 450),
    },
  }),
  'Broken/1.cbz': Buffer.from('this is no archive'),
})
const names = [
  'Größe №1.cbz',
  'Gro\u0308ße №1.cbz',
  '進撃の巨人 1.cbz',
  '進撃の巨像 1.cbz',
  '🙂 family 👩‍👩‍👧.cbz',
  'مرحبا 12.cbz',
  'a"b\\c\'d.cbz',
  '100%41; rate=x?#&.cbz',
  'line\r\nSet-Cookie: x=1\t\x01.cbz',
  `${'long '.repeat(50)}.cbz`,
  'two.dots.cbz',
]
for (const name of names) library.write(`Named/${name}`, comic())
const latin = Buffer.from('Named/caf\xe9.cbz', 'latin1')
library.write(latin, comic())
await library.scan()
const books = await library.books()
const bookAt = (path: string) => books.find(book => `${book.folder}/${book.name}` === path)!
const reader = await all.createUser('reader')
const viewer = {
  accountId: reader.id,
  libraries: null,
  allowedTags: [],
  deniedTags: [],
  ageLimit: null,
  showsUnrated: true,
}
const request = (path: string, headers = {}, method = 'GET') =>
  reader.request(method, path, { headers })

t.test('a file has the media type of its feed entry, in both catalogs', async t => {
  const types = [
    ['Large/1.cbz', 'application/zip', 'application/vnd.comicbook+zip'],
    ['Paper/1.pdf', 'application/pdf', 'application/pdf'],
    ['Text/1.epub', 'application/epub+zip', 'application/epub+zip'],
  ] as const
  for (const [path, ...expected] of types)
    for (const [i, type] of expected.entries()) {
      const { status, headers } = await request(`/opds/v${i + 1}/books/${bookAt(path).id}/file/any`)
      t.equal(status, 200, path)
      t.equal(headers.get('content-type'), type, path)
    }
})

t.test('any file name appears in the headers and in the URL', async t => {
  const asciiNames = new Set<string>()
  for (const book of books.filter(book => book.folder === 'Named')) {
    const publication = await publicationById(all.sql, viewer, book.id)
    const address = `/opds/v1${filePath(publication)}`
    t.match(address, /^[\x21-\x7e]+$/)
    const { status, headers } = await request(address)
    t.equal(status, 200, publication.fileName)
    const disposition = headers.get('content-disposition')!
    t.match(disposition, /^[\x20-\x7e]+$/)
    t.equal(parse(disposition).parameters.filename, publication.fileName)
    const [, quoted = ''] =
      /^attachment; filename="([^"\\;]+)"(?:; filename\*=[^ ;]+)?$/.exec(disposition) ?? []
    t.match(quoted, /\.cbz$/, `${disposition} can be parsed by clients that look for quotes`)
    t.notMatch(quoted, /%[\da-f]{2}/i)
    asciiNames.add(quoted)
  }
  t.ok(asciiNames.size >= names.length, 'names with other letters remain distinct')
  t.ok(asciiNames.has('two.dots.cbz'))
  t.ok(
    [...asciiNames].some(name => /^Gro_e No1 \[[\da-f]{8}\]\.cbz$/.test(name)),
    [...asciiNames].join(),
  )
})

t.test('an interrupted download can be resumed', async t => {
  const path = `/opds/v1/books/${bookAt('Large/1.cbz').id}/file/1.cbz`
  const complete = await request(path)
  const etag = complete.headers.get('etag')!
  const start = await request(path, { range: 'bytes=0-9999' })
  t.equal(start.status, 206)
  const rest = await request(path, { range: 'bytes=10000-', 'if-range': etag })
  t.equal(rest.status, 206)
  t.ok(Buffer.concat([start.bytes, rest.bytes]).equals(complete.bytes))
  t.equal((await request(path, { range: 'bytes=5-', 'if-range': '"other"' })).status, 200)
  t.equal((await request(path, { 'if-none-match': etag })).status, 304)
  t.equal((await request(path, { range: 'bytes=99999999-' })).status, 416)
  const head = await request(path, { range: 'bytes=5-9' }, 'HEAD')
  t.equal(head.status, 200, 'HEAD ignores ranges')
  t.equal(head.headers.get('content-length'), String(complete.bytes.length))
  t.equal(complete.headers.get('content-encoding'), null)
  t.equal(complete.headers.get('accept-ranges'), 'bytes')
})

t.test('HEAD returns the headers of GET, for files and images', async t => {
  const { id, seriesId } = bookAt('Large/1.cbz')
  for (const path of [
    `books/${id}/file/1.cbz`,
    `books/${id}/cover.jpg`,
    `books/${id}/thumbnail.jpg`,
    `series/${seriesId}/cover.jpg`,
    `series/${seriesId}/thumbnail.jpg`,
    `books/${bookAt('Broken/1.cbz').id}/cover.jpg`,
  ])
    for (const tree of ['v1', 'v1.2', 'v2']) {
      const get = await request(`/opds/${tree}/${path}`)
      const head = await request(`/opds/${tree}/${path}`, {}, 'HEAD')
      t.equal(head.status, 200)
      t.equal(head.bytes.length, 0)
      const validators = [
        'content-length',
        'content-type',
        'etag',
        'last-modified',
        'content-disposition',
      ]
      for (const name of [...validators, 'cache-control', 'accept-ranges'])
        t.equal(head.headers.get(name), get.headers.get(name), `${tree}/${path} ${name}`)
      t.equal(get.headers.get('content-length'), String(get.bytes.length))
    }
})

const image = async (path: string, headers = {}) => {
  const { status, bytes, headers: responseHeaders } = await request(path, headers)
  const { width, height, format } = status === 200 ? await sharp(bytes).metadata() : {}
  return {
    status,
    type: responseHeaders.get('content-type'),
    etag: responseHeaders.get('etag')!,
    width,
    height,
    format,
    headers: responseHeaders,
  }
}

t.test('thumbnails are JPEG, in any storage format', async t => {
  for (const owner of [
    `books/${bookAt('Large/1.cbz').id}`,
    `series/${bookAt('Large/1.cbz').seriesId}`,
  ]) {
    const { status, type, format, height, etag, headers } = await image(
      `/opds/v1/${owner}/thumbnail.jpg`,
    )
    t.match(
      { status, type, format, height },
      { status: 200, type: 'image/jpeg', format: 'jpeg', height: 400 },
    )
    t.match(headers.get('cache-control'), /^private, max-age=\d+/)
    const conditional = { 'if-none-match': etag }
    t.equal((await image(`/opds/v1/${owner}/thumbnail.jpg`, conditional)).status, 304)
  }
})

t.test('covers are larger, and rendered from the book', async t => {
  const { id, seriesId } = bookAt('Large/1.cbz')
  const large = { status: 200, type: 'image/jpeg', format: 'jpeg', width: 1000, height: 1600 }
  const cover = await image(`/opds/v2/books/${id}/cover.jpg`)
  t.match(cover, large)
  t.match(await image(`/opds/v1/series/${seriesId}/cover.jpg`), { ...large, etag: cover.etag })
  const conditional = { 'if-none-match': cover.etag }
  t.equal((await image(`/opds/v1/books/${id}/cover.jpg`, conditional)).status, 304)
  const text = await image(`/opds/v1/books/${bookAt('Text/1.epub').id}/cover.jpg`)
  t.match(
    text,
    { type: 'image/jpeg', width: 300, height: 450 },
    'the cover image, not the first image',
  )
  const paper = await image(`/opds/v1/books/${bookAt('Paper/1.pdf').id}/cover.jpg`)
  t.match(paper, { status: 200, type: 'image/jpeg', format: 'jpeg' })
})

t.test('an uploaded cover is displayed', async t => {
  const admin = await all.createUser('admin')
  const { id, seriesId } = bookAt('Large/2.cbz')
  const before = await image(`/opds/v1/books/${id}/cover.jpg`)
  const upload = async (path: string, width: number) => {
    const form = new FormData()
    form.set('file', new Blob([await picture(width, width)]), 'cover.jpg')
    return (await admin.request('POST', `${path}/cover`, { raw: form })).status
  }
  t.equal(await upload(`/books/${id}`, 1700), 201)
  const after = await image(`/opds/v1/books/${id}/cover.jpg`, { 'if-none-match': before.etag })
  t.match(after, { status: 200, type: 'image/jpeg', format: 'jpeg', width: 1600, height: 1600 })
  t.match(await image(`/opds/v1/books/${id}/thumbnail.jpg`), { type: 'image/jpeg', width: 400 })
  t.equal(await upload(`/series/${seriesId}`, 800), 201)
  t.match(await image(`/opds/v2/series/${seriesId}/cover.jpg`), { format: 'jpeg', width: 800 })
  rmSync(`${all.data}/covers`, { recursive: true })
  rmSync(`${all.data}/cache`, { recursive: true })
  t.match(
    await image(`/opds/v2/series/${seriesId}/cover.jpg`),
    { format: 'jpeg', width: 400 },
    'the largest image that is left',
  )
})

t.test('a missing cover is replaced by a placeholder, as JPEG', async t => {
  const { id, seriesId } = bookAt('Broken/1.cbz')
  const placeholders = await Promise.all(
    [
      `books/${id}/cover`,
      `books/${id}/thumbnail`,
      `series/${seriesId}/cover`,
      `series/${seriesId}/thumbnail`,
    ].map(path => image(`/opds/v1/${path}.jpg`)),
  )
  for (const placeholder of placeholders)
    t.match(placeholder, {
      status: 200,
      type: 'image/jpeg',
      format: 'jpeg',
      width: 200,
      height: 300,
    })
})

t.test('a cover that does not exist yet is made on demand', async t => {
  const { id } = bookAt('Text/1.epub')
  await all.sql`update book_artifact set cover = null where book_id = ${id}`
  t.match(await image(`/opds/v1/books/${id}/thumbnail.jpg`), { format: 'jpeg', height: 400 })
})

t.test('hidden, unknown and deleted books are not found', async t => {
  const other = await all.createUser('reader')
  const { id, seriesId } = bookAt('Large/1.cbz')
  await hideSeries(all.sql, other.id, [seriesId])
  for (const tree of ['v1', 'v2'])
    for (const what of ['file/1.cbz', 'cover.jpg', 'thumbnail.jpg']) {
      t.equal((await other.get(`/opds/${tree}/books/${id}/${what}`)).status, 404)
      t.equal((await reader.get(`/opds/${tree}/books/${newId()}/${what}`)).status, 404)
      t.equal((await reader.get(`/opds/${tree}/books/invalid/${what}`)).status, 404)
      t.equal((await all.anonymous.get(`/opds/${tree}/books/${id}/${what}`)).status, 401)
      if (what.startsWith('file')) continue
      t.equal((await other.get(`/opds/${tree}/series/${seriesId}/${what}`)).status, 404)
    }
  library.remove('Paper/1.pdf')
  const gone = bookAt('Paper/1.pdf').id
  t.equal((await reader.get(`/opds/v1/books/${gone}/file/1.pdf`)).status, 404)
  t.equal(
    (await reader.get(`/opds/v1/books/${gone}/cover.jpg`)).status,
    200,
    'its cover is retained',
  )
})
