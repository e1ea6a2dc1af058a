// Downloads of books and series over HTTP.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openFile } from '../../../../lib/base/file.ts'
import { newId } from '../../../../lib/base/id.ts'
import { defaultLimits } from '../../../../lib/media/archive/limits.ts'
import { openZip } from '../../../../lib/media/archive/zip/zip.ts'
import { hideSeries } from '../../../kit/accounts.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'
import { use } from '../../../kit/use.ts'

const all = await startApi(t)
const shelf = await createTestLibrary(t, all, {
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
const reader = await all.createUser('reader')
const content = readFileSync(shelf.pathOf('Ærø/Größe №1.cbz'))

t.test('the whole file is sent with its original name', async t => {
  const full = await reader.get(`/books/${first.id}/file`)
  t.equal(full.status, 200)
  t.ok(full.bytes.equals(content))
  t.equal(full.headers.get('content-type'), 'application/zip')
  t.equal(full.headers.get('accept-ranges'), 'bytes')
  t.equal(full.headers.get('content-encoding'), null)
  t.match(full.headers.get('cache-control'), /private/)
  t.match(
    full.headers.get('content-disposition'),
    /^attachment; filename=".*"; filename\*=UTF-8''Gr%C3%B6%C3%9Fe%20%E2%84%961\.cbz$/,
  )
  const head = await reader.request('HEAD', `/books/${first.id}/file`)
  for (const name of ['content-length', 'content-type', 'etag', 'last-modified'])
    t.equal(head.headers.get(name), full.headers.get(name), name)
  t.equal(head.headers.get('content-length'), String(content.length))
})

t.test('range and conditional requests', async t => {
  const path = `/books/${first.id}/file`
  const ask = (headers: Record<string, string>, method = 'GET') =>
    reader.request(method, path, { headers })
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
    t.equal(head.status, 200, 'Range applies to GET only')
    t.equal(head.headers.get('content-length'), String(content.length))
    t.equal(head.headers.get('content-range'), null)
  }
})

t.test('a series is sent as a readable ZIP archive', async t => {
  const { status, bytes, headers } = await reader.get(`/series/${first.seriesId}/download`)
  t.equal(status, 200)
  t.equal(headers.get('content-type'), 'application/zip')
  t.equal(headers.get('content-length'), String(bytes.length))
  t.match(headers.get('content-disposition'), /\.zip/)
  const path = join(t.testdir(), 'series.zip')
  writeFileSync(path, bytes)
  const file = use(t, openFile(Buffer.from(path)))
  const opened = use(t, await openZip(file, defaultLimits))
  t.same(
    opened.entries.map(entry => entry.name),
    ['Größe №1.cbz', 'Größe №2.cbz'],
  )
  t.ok(Buffer.from(await opened.read(opened.entries[0]!, 1e7)).equals(content))
  const head = await reader.request('HEAD', `/series/${first.seriesId}/download`)
  t.equal(head.headers.get('content-length'), String(bytes.length))
})

t.test('missing, unknown and hidden files are 404', async t => {
  const empty = books.find(b => b.series === 'Empty')!
  shelf.remove('Empty/1.cbz')
  t.equal((await reader.get(`/books/${empty.id}/file`)).status, 404)
  t.equal((await reader.get(`/series/${empty.seriesId}/download`)).status, 404)
  t.equal((await reader.get(`/books/${newId()}/file`)).status, 404)
  t.equal((await reader.get(`/series/${newId()}/download`)).status, 404)
  const other = await all.createUser('reader')
  await hideSeries(all.sql, other.id, [first.seriesId])
  t.equal((await other.get(`/books/${second.id}/file`)).status, 404)
  t.equal((await other.get(`/series/${first.seriesId}/download`)).status, 404)
  t.equal((await all.anonymous.get(`/books/${first.id}/file`)).status, 401)
})
