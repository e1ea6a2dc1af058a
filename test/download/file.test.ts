import { readdirSync, readlinkSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { parse } from 'content-disposition'
import t, { type Test } from 'tap'
import type { FileAccess } from '../../lib/base/containment.ts'
import { NotFound, Unreadable } from '../../lib/base/errors.ts'
import type { BookFile } from '../../lib/catalog/book/book-file.ts'
import { fileResponse as respond } from '../../lib/download/file.ts'
import { waitUntil } from '../kit/processes.ts'

const content = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251))
content.write('PK\x03\x04', 'latin1')
const access: FileAccess = { dataDir: '/nowhere', linkFolders: [] }

function createBook(t: Test, name = 'a.cbz'): BookFile {
  const root = t.testdir()
  const path = join(root, 'book')
  writeFileSync(path, content)
  utimesSync(path, 1_700_000_000, 1_700_000_000)
  return {
    id: 'one',
    root: Buffer.from(root),
    path: Buffer.from(path),
    followLinks: false,
    name,
    size: content.length,
    modifiedMs: 1_700_000_000_000,
    format: 'cbz',
    pageCount: 1,
    isMissing: false,
    errorCode: null,
    errorMessage: null,
  }
}
type Request = Parameters<typeof respond>[2]
const fileResponse = (book: BookFile, request: Request) => respond(book, access, request)
const get = (headers = {}) => ({ method: 'GET', headers })
/** How many files of the test this process has open. */
const countOpenFiles = (book: BookFile) =>
  readdirSync('/proc/self/fd').filter(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(book.root.toString())
    } catch {
      return false
    }
  }).length

t.test('the whole file, with the headers needed to resume', async t => {
  const book = createBook(t)
  const { status, headers, body } = await fileResponse(book, get())
  t.equal(status, 200)
  t.match(headers, {
    'Content-Length': '100000',
    'Content-Type': 'application/zip',
    'Accept-Ranges': 'bytes',
    'Last-Modified': 'Tue, 14 Nov 2023 22:13:20 GMT',
    ETag: /^"[\w-]+"$/,
  })
  t.ok((await buffer(body!)).equals(content))
  await waitUntil(() => countOpenFiles(book) === 0)
})

t.test('a range, and the rest by the ETag of the first response', async t => {
  const book = createBook(t)
  const first = await fileResponse(book, get({ range: 'bytes=0-999' }))
  t.equal(first.status, 206)
  t.equal(first.headers['Content-Range'], 'bytes 0-999/100000')
  const start = await buffer(first.body!)
  const { ETag } = first.headers
  const second = await fileResponse(book, get({ range: 'bytes=1000-', 'if-range': ETag }))
  t.ok(Buffer.concat([start, await buffer(second.body!)]).equals(content))
  writeFileSync(book.path, content.subarray(0, 5000))
  const third = await fileResponse(book, get({ range: 'bytes=1000-', 'if-range': ETag }))
  t.equal(third.status, 200, 'the file has changed')
  await buffer(third.body!)
})

t.test('responses without a body leave no file open', async t => {
  const book = createBook(t)
  const head = await fileResponse(book, { method: 'HEAD', headers: {} })
  t.equal(head.headers['Content-Length'], '100000')
  const fresh = await fileResponse(book, get({ 'if-none-match': head.headers.ETag }))
  const beyond = await fileResponse(book, get({ range: 'bytes=100000-' }))
  t.same(
    [head, fresh, beyond].map(({ status, body }) => [status, body]),
    [
      [200, null],
      [304, null],
      [416, null],
    ],
  )
  t.equal(beyond.headers['Content-Range'], 'bytes */100000')
  await waitUntil(() => countOpenFiles(book) === 0)
})

t.test('the file is closed when the client disconnects', async t => {
  const book = createBook(t)
  const { body } = await fileResponse(book, get())
  body!.once('error', () => {})
  body!.destroy()
  await waitUntil(() => countOpenFiles(book) === 0)
})

t.test('any file name makes a valid header', async t => {
  for (const name of [
    'ワンピース 1.cbz',
    'a"b\\c.cbz',
    'é;filename=x.cbz',
    'a\r\nSet-Cookie: x.cbz',
    '100%.cbz',
  ]) {
    const { headers, body } = await fileResponse(createBook(t, name), get())
    body!.destroy()
    const disposition = headers['Content-Disposition']!
    t.notMatch(disposition, /[^\x20-\x7e]/)
    t.equal(parse(disposition).type, 'attachment')
    t.equal(parse(disposition).parameters.filename, name)
  }
})

t.test('what is no book is not handed out, although its name and its record say so', async t => {
  const book = createBook(t)
  for (const text of ['', 'root:x:0:0:root:/root:/bin/bash\n', 'x'.repeat(200_000)]) {
    writeFileSync(book.path, text)
    utimesSync(book.path, 1_700_000_000, 1_700_000_000)
    const same = { ...book, size: text.length }
    await t.rejects(fileResponse(same, get()), { code: 'not_an_archive', constructor: Unreadable })
  }
  writeFileSync(book.path, '')
  const empty = { ...book, size: 0, errorCode: 'truncated', errorMessage: 'Empty' } as const
  await t.rejects(fileResponse(empty, get()), { code: 'truncated' }, 'as for its pages')
  const stub = Buffer.alloc(100_000, 'MZ')
  const starts = [
    `${'MZ'.repeat(9_000)}Rar!\x1a\x07\x01`,
    '%PDF-1.7',
    'Rar!\x1a\x07\x00',
    '7z\xbc\xaf\x27\x1c',
    'PK\x05\x06',
  ]
  for (const bytes of [...starts.map(text => Buffer.from(text, 'latin1')), tarFile(), sfx(stub)]) {
    writeFileSync(book.path, bytes)
    const { status, body } = await fileResponse(book, get())
    t.equal(status, 200)
    t.ok((await buffer(body!)).equals(bytes))
  }
})

t.test('a file outside the library is refused, and a link also inside', async t => {
  const book = createBook(t)
  await t.rejects(fileResponse({ ...book, root: Buffer.from('/usr') }, get()), Unreadable)
  await t.rejects(fileResponse({ ...book, root: book.root.subarray(0, -1) }, get()), Unreadable)
  const link = Buffer.from(join(book.root.toString(), 'link'))
  symlinkSync(book.path, link)
  await t.rejects(fileResponse({ ...book, path: link }, get()), { message: 'The file is a link' })
  const { body } = await fileResponse({ ...book, path: link, followLinks: true }, get())
  t.ok((await buffer(body!)).equals(content))
  await t.rejects(fileResponse({ ...book, path: Buffer.from(`${link}s`) }, get()), NotFound)
  await t.rejects(
    respond(book, { ...access, dataDir: book.root.toString() }, get()),
    Unreadable,
    'a library in the data directory',
  )
})

/** A program with a ZIP at its end. */
function sfx(stub: Buffer): Buffer {
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  return Buffer.concat([stub, end])
}

/** The header of a tar. */
function tarFile(): Buffer {
  const header = Buffer.alloc(512)
  header.write('a.png')
  header.fill(' ', 148, 156)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(sum.toString(8).padStart(6, '0'), 148)
  return header
}
