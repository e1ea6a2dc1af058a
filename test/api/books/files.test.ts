// Files of books as downloads.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openZip } from '../../../lib/archive/zip/zip.ts'
import { openFile } from '../../../lib/file.ts'
import { defaultLimits } from '../../../lib/format/contract.ts'
import { newId } from '../../../lib/id.ts'
import { comic, shelve } from '../../kit/library.ts'
import { serve } from '../../kit/server.ts'
import { hide } from '../../kit/walk.ts'

const all = await serve(t)
const shelf = await shelve(t, all, {
  'Ærø/Größe №1.cbz': comic({ padding: 5000 }),
  'Ærø/Größe №2.cbz': comic(),
  'Empty/1.cbz': comic(),
})
await shelf.scan()
const books = await shelf.books()
const [first, second] = books.filter(b => b.name.endsWith('.cbz') && b.series !== 'Empty') as [
  (typeof books)[0],
  (typeof books)[0],
]
const reader = await all.as('reader')
const content = readFileSync(shelf.at('Ærø/Größe №1.cbz'))

t.test('a file comes whole, under its own name', async t => {
  const whole = await reader.get(`/books/${first.id}/file`)
  t.equal(whole.status, 200)
  t.ok(whole.bytes.equals(content))
  t.equal(whole.headers.get('content-type'), 'application/zip')
  t.equal(whole.headers.get('accept-ranges'), 'bytes')
  t.equal(whole.headers.get('content-encoding'), null)
  t.match(whole.headers.get('cache-control'), /private/)
  t.match(
    whole.headers.get('content-disposition'),
    /^attachment; filename=".*"; filename\*=UTF-8''Gr%C3%B6%C3%9Fe%20%E2%84%961\.cbz$/,
  )
  const head = await reader.ask('HEAD', `/books/${first.id}/file`)
  for (const name of ['content-length', 'content-type', 'etag', 'last-modified'])
    t.equal(head.headers.get(name), whole.headers.get(name), name)
  t.equal(head.headers.get('content-length'), String(content.length))
})

t.test('parts and conditions', async t => {
  const path = `/books/${first.id}/file`
  const ask = (headers: Record<string, string>, method = 'GET') =>
    reader.ask(method, path, { headers })
  const part = await ask({ range: 'bytes=100-199' })
  t.equal(part.status, 206)
  t.ok(part.bytes.equals(content.subarray(100, 200)))
  t.equal(part.headers.get('content-range'), `bytes 100-199/${content.length}`)
  const etag = part.headers.get('etag')!
  const end = await ask({ range: 'bytes=-5', 'if-range': etag })
  t.ok(end.bytes.equals(content.subarray(-5)))
  t.equal((await ask({ range: 'bytes=0-1', 'if-range': '"other"' })).status, 200)
  for (const method of ['GET', 'HEAD']) {
    t.equal((await ask({ 'if-none-match': etag }, method)).status, 304, method)
    t.equal((await ask({ 'if-match': '"other"' }, method)).status, 412, method)
  }
  const beyond = await ask({ range: 'bytes=99999999-' })
  t.equal(beyond.status, 416)
  t.equal(beyond.headers.get('content-range'), `bytes */${content.length}`)
  for (const range of ['bytes=0-9', 'bytes=99999999-']) {
    const head = await ask({ range }, 'HEAD')
    t.equal(head.status, 200, 'ranges are of GET alone')
    t.equal(head.headers.get('content-length'), String(content.length))
    t.equal(head.headers.get('content-range'), null)
  }
})

t.test('a series comes as one ZIP that can be read', async t => {
  const { status, bytes, headers } = await reader.get(`/series/${first.seriesId}/download`)
  t.equal(status, 200)
  t.equal(headers.get('content-type'), 'application/zip')
  t.equal(headers.get('content-length'), String(bytes.length))
  t.match(headers.get('content-disposition'), /\.zip/)
  const path = join(t.testdir(), 'series.zip')
  writeFileSync(path, bytes)
  using file = openFile(Buffer.from(path))
  await using opened = await openZip(file, defaultLimits)
  t.same(
    opened.entries.map(entry => entry.name),
    ['Größe №1.cbz', 'Größe №2.cbz'],
  )
  t.ok(Buffer.from(await opened.read(opened.entries[0]!, 1e7)).equals(content))
  const head = await reader.ask('HEAD', `/series/${first.seriesId}/download`)
  t.equal(head.headers.get('content-length'), String(bytes.length))
})

t.test('what is gone, unknown or hidden is 404', async t => {
  const empty = books.find(b => b.series === 'Empty')!
  shelf.remove('Empty/1.cbz')
  t.equal((await reader.get(`/books/${empty.id}/file`)).status, 404)
  t.equal((await reader.get(`/series/${empty.seriesId}/download`)).status, 404)
  t.equal((await reader.get(`/books/${newId()}/file`)).status, 404)
  t.equal((await reader.get(`/series/${newId()}/download`)).status, 404)
  const other = await all.as('reader')
  await hide(all.sql, other.id, [first.seriesId])
  t.equal((await other.get(`/books/${second.id}/file`)).status, 404)
  t.equal((await other.get(`/series/${first.seriesId}/download`)).status, 404)
  t.equal((await all.anyone.get(`/books/${first.id}/file`)).status, 401)
})
