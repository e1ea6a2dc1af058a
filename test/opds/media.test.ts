// Files and covers as reading apps fetch them from the feeds.
import { rmSync } from 'node:fs'
import { parse } from 'content-disposition'
import sharp from 'sharp'
import t from 'tap'
import { newId } from '../../lib/id.ts'
import { filePath } from '../../lib/opds/naming.ts'
import { publicationById } from '../../lib/opds/publication.ts'
import { zip } from '../archive/archive-files.ts'
import { epubBytes, item } from '../format/epub/epub-files.ts'
import { pdfOf, stream } from '../format/pdf/pdf-files.ts'
import { comic, shelve } from '../kit/library.ts'
import { serve } from '../kit/server.ts'
import { hide } from '../kit/walk.ts'
import { picture } from '../page/books.ts'

const all = await serve(t, { 'thumbnail.format': 'webp' })
const front = await picture(1500, 2400)
const shelf = await shelve(t, all, {
  'Large/1.cbz': zip([
    { name: '1.jpg', bytes: front },
    { name: '2.jpg', bytes: front },
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
for (const name of names) shelf.write(`Named/${name}`, comic())
const latin = Buffer.from('Named/caf\xe9.cbz', 'latin1')
shelf.write(latin, comic())
await shelf.scan()
const books = await shelf.books()
const at = (path: string) => books.find(b => `${b.folder}/${b.name}` === path)!
const reader = await all.as('reader')
const viewer = {
  accountId: reader.id,
  libraries: null,
  allowedTags: [],
  deniedTags: [],
  ageLimit: null,
  showsUnrated: true,
}
const ask = (path: string, headers = {}, method = 'GET') => reader.ask(method, path, { headers })

t.test('a file has the type that its catalogue says, in both', async t => {
  const types = [
    ['Large/1.cbz', 'application/zip', 'application/vnd.comicbook+zip'],
    ['Paper/1.pdf', 'application/pdf', 'application/pdf'],
    ['Text/1.epub', 'application/epub+zip', 'application/epub+zip'],
    ['Broken/1.cbz', 'application/octet-stream', 'application/octet-stream'],
  ] as const
  for (const [path, ...expected] of types)
    for (const [i, type] of expected.entries()) {
      const { status, headers } = await ask(`/opds/v${i + 1}/books/${at(path).id}/file/any`)
      t.equal(status, 200, path)
      t.equal(headers.get('content-type'), type, path)
    }
})

t.test('any name can be read from the headers and stands in the address', async t => {
  const plain = new Set<string>()
  for (const book of books.filter(b => b.folder === 'Named')) {
    const publication = await publicationById(all.sql, viewer, book.id)
    const address = `/opds/v1${filePath(publication)}`
    t.match(address, /^[\x21-\x7e]+$/)
    const { status, headers } = await ask(address)
    t.equal(status, 200, publication.fileName)
    const disposition = headers.get('content-disposition')!
    t.match(disposition, /^[\x20-\x7e]+$/)
    t.equal(parse(disposition).parameters.filename, publication.fileName)
    const [, quoted = ''] =
      /^attachment; filename="([^"\\;]+)"(?:; filename\*=[^ ;]+)?$/.exec(disposition) ?? []
    t.match(quoted, /\.cbz$/, `${disposition} is understood by those who look for quotes`)
    t.notMatch(quoted, /%[\da-f]{2}/i)
    plain.add(quoted)
  }
  t.ok(plain.size >= names.length, 'files with other letters are not saved over each other')
  t.ok(plain.has('two.dots.cbz'))
  t.ok(
    [...plain].some(name => /^Gro_e No1 \[[\da-f]{8}\]\.cbz$/.test(name)),
    [...plain].join(),
  )
})

t.test('a download goes on where it broke off', async t => {
  const path = `/opds/v1/books/${at('Large/1.cbz').id}/file/1.cbz`
  const whole = await ask(path)
  const etag = whole.headers.get('etag')!
  const start = await ask(path, { range: 'bytes=0-9999' })
  t.equal(start.status, 206)
  const rest = await ask(path, { range: 'bytes=10000-', 'if-range': etag })
  t.equal(rest.status, 206)
  t.ok(Buffer.concat([start.bytes, rest.bytes]).equals(whole.bytes))
  t.equal((await ask(path, { range: 'bytes=5-', 'if-range': '"other"' })).status, 200)
  t.equal((await ask(path, { 'if-none-match': etag })).status, 304)
  t.equal((await ask(path, { range: 'bytes=99999999-' })).status, 416)
  const head = await ask(path, { range: 'bytes=5-9' }, 'HEAD')
  t.equal(head.status, 200, 'HEAD is of the whole')
  t.equal(head.headers.get('content-length'), String(whole.bytes.length))
  t.equal(whole.headers.get('content-encoding'), null)
  t.equal(whole.headers.get('accept-ranges'), 'bytes')
})

t.test('HEAD tells what GET does, of files and images', async t => {
  const { id, seriesId } = at('Large/1.cbz')
  for (const path of [
    `books/${id}/file/1.cbz`,
    `books/${id}/cover.jpg`,
    `books/${id}/thumbnail.jpg`,
    `series/${seriesId}/cover.jpg`,
    `series/${seriesId}/thumbnail.jpg`,
    `books/${at('Broken/1.cbz').id}/cover.jpg`,
  ])
    for (const tree of ['v1', 'v1.2', 'v2']) {
      const get = await ask(`/opds/${tree}/${path}`)
      const head = await ask(`/opds/${tree}/${path}`, {}, 'HEAD')
      t.equal(head.status, 200)
      t.equal(head.bytes.length, 0)
      const told = [
        'content-length',
        'content-type',
        'etag',
        'last-modified',
        'content-disposition',
      ]
      for (const name of [...told, 'cache-control', 'accept-ranges'])
        t.equal(head.headers.get(name), get.headers.get(name), `${tree}/${path} ${name}`)
      t.equal(get.headers.get('content-length'), String(get.bytes.length))
    }
})

const image = async (path: string, headers = {}) => {
  const { status, bytes, headers: told } = await ask(path, headers)
  const { width, height, format } = status === 200 ? await sharp(bytes).metadata() : {}
  return {
    status,
    type: told.get('content-type'),
    tag: told.get('etag')!,
    width,
    height,
    format,
    told,
  }
}

t.test('thumbnails are JPEG, whatever they are kept as', async t => {
  for (const owner of [`books/${at('Large/1.cbz').id}`, `series/${at('Large/1.cbz').seriesId}`]) {
    const { status, type, format, height, tag, told } = await image(
      `/opds/v1/${owner}/thumbnail.jpg`,
    )
    t.match(
      { status, type, format, height },
      { status: 200, type: 'image/jpeg', format: 'jpeg', height: 400 },
    )
    t.match(told.get('cache-control'), /^private, max-age=\d+/)
    const again = { 'if-none-match': tag }
    t.equal((await image(`/opds/v1/${owner}/thumbnail.jpg`, again)).status, 304)
  }
})

t.test('covers are larger, and those of the book itself', async t => {
  const { id, seriesId } = at('Large/1.cbz')
  const large = { status: 200, type: 'image/jpeg', format: 'jpeg', width: 1000, height: 1600 }
  const cover = await image(`/opds/v2/books/${id}/cover.jpg`)
  t.match(cover, large)
  t.match(await image(`/opds/v1/series/${seriesId}/cover.jpg`), { ...large, tag: cover.tag })
  const again = { 'if-none-match': cover.tag }
  t.equal((await image(`/opds/v1/books/${id}/cover.jpg`, again)).status, 304)
  const text = await image(`/opds/v1/books/${at('Text/1.epub').id}/cover.jpg`)
  t.match(text, { type: 'image/jpeg', width: 300, height: 450 }, 'not just its first image')
  const paper = await image(`/opds/v1/books/${at('Paper/1.pdf').id}/cover.jpg`)
  t.match(paper, { status: 200, type: 'image/jpeg', format: 'jpeg' })
})

t.test('an uploaded cover is shown from then on', async t => {
  const admin = await all.as('admin')
  const { id, seriesId } = at('Large/2.cbz')
  const before = await image(`/opds/v1/books/${id}/cover.jpg`)
  const upload = async (path: string, width: number) => {
    const form = new FormData()
    form.set('file', new Blob([await picture(width, width)]), 'cover.jpg')
    return (await admin.ask('POST', `${path}/cover`, { raw: form })).status
  }
  t.equal(await upload(`/books/${id}`, 1700), 201)
  const after = await image(`/opds/v1/books/${id}/cover.jpg`, { 'if-none-match': before.tag })
  t.match(after, { status: 200, type: 'image/jpeg', format: 'jpeg', width: 1600, height: 1600 })
  t.match(await image(`/opds/v1/books/${id}/thumbnail.jpg`), { type: 'image/jpeg', width: 400 })
  t.equal(await upload(`/series/${seriesId}`, 800), 201)
  t.match(await image(`/opds/v2/series/${seriesId}/cover.jpg`), { format: 'jpeg', width: 800 })
  rmSync(`${all.data}/covers`, { recursive: true })
  rmSync(`${all.data}/cache`, { recursive: true })
  t.match(
    await image(`/opds/v2/series/${seriesId}/cover.jpg`),
    { format: 'jpeg', width: 400 },
    'as good as it gets',
  )
})

t.test('where there is no cover a drawing stands for it, as JPEG too', async t => {
  const { id, seriesId } = at('Broken/1.cbz')
  const drawings = await Promise.all(
    [
      `books/${id}/cover`,
      `books/${id}/thumbnail`,
      `series/${seriesId}/cover`,
      `series/${seriesId}/thumbnail`,
    ].map(path => image(`/opds/v1/${path}.jpg`)),
  )
  for (const drawing of drawings)
    t.match(drawing, { status: 200, type: 'image/jpeg', format: 'jpeg', width: 200, height: 300 })
})

t.test('a cover that is not made yet is made at once', async t => {
  const { id } = at('Text/1.epub')
  await all.sql`update book set cover = null where id = ${id}`
  t.match(await image(`/opds/v1/books/${id}/thumbnail.jpg`), { format: 'jpeg', height: 400 })
})

t.test('what is hidden, unknown or gone is not there', async t => {
  const other = await all.as('reader')
  const { id, seriesId } = at('Large/1.cbz')
  await hide(all.sql, other.id, [seriesId])
  for (const tree of ['v1', 'v2'])
    for (const what of ['file/1.cbz', 'cover.jpg', 'thumbnail.jpg']) {
      t.equal((await other.get(`/opds/${tree}/books/${id}/${what}`)).status, 404)
      t.equal((await reader.get(`/opds/${tree}/books/${newId()}/${what}`)).status, 404)
      t.equal((await reader.get(`/opds/${tree}/books/nothing/${what}`)).status, 400)
      t.equal((await all.anyone.get(`/opds/${tree}/books/${id}/${what}`)).status, 401)
      if (what.startsWith('file')) continue
      t.equal((await other.get(`/opds/${tree}/series/${seriesId}/${what}`)).status, 404)
    }
  shelf.remove('Paper/1.pdf')
  const gone = at('Paper/1.pdf').id
  t.equal((await reader.get(`/opds/v1/books/${gone}/file/1.pdf`)).status, 404)
  t.equal((await reader.get(`/opds/v1/books/${gone}/cover.jpg`)).status, 200, 'its cover was kept')
})
