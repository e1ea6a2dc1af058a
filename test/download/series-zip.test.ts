import { readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { NotFound } from '../../lib/base/errors.ts'
import type { BookFile } from '../../lib/catalog/book/book-file.ts'
import { zipSeries as zip } from '../../lib/download/series-zip.ts'
import { defaultLimits } from '../../lib/media/archive/limits.ts'
import { openZip } from '../../lib/media/archive/zip/zip.ts'
import { openBytes } from '../kit/files/archives.ts'
import { waitUntil } from '../kit/processes.ts'
import { use } from '../kit/use.ts'

function contentOf(size: number, fill: number): Buffer {
  const bytes = Buffer.alloc(size, fill + 1)
  bytes.write('PK\x03\x04', 'latin1')
  return bytes
}

function createBooks(t: { testdir(): string }, names: string[], size = 1000) {
  const root = t.testdir()
  return names.map((name, i): BookFile => {
    const path = join(root, `file-${i}`)
    writeFileSync(path, contentOf(size + i, i))
    const paths = { root: Buffer.from(root), path: Buffer.from(path), followLinks: false }
    const rest = {
      size,
      modifiedMs: 0,
      pageCount: 1,
      isMissing: false,
      errorCode: null,
      errorMessage: null,
    }
    return { id: String(i), ...paths, name, format: 'cbz', ...rest }
  })
}
const zipSeries = (books: BookFile[]) => zip(books, { dataDir: '/nowhere', linkFolders: [] })
const countOpenFiles = (root: string) =>
  readdirSync('/proc/self/fd').filter(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(root)
    } catch {
      return false
    }
  }).length

t.test('the files in order, with unique names and the exact length', async t => {
  const books = createBooks(t, [
    'B 2.cbz',
    'b 1.cbz',
    'B 1.cbz',
    '日本.cbz',
    '../up.cbz',
    '..',
    'x',
  ])
  const { body, length } = await zipSeries(books)
  const bytes = await buffer(body)
  t.equal(bytes.length, length)
  const file = use(t, openBytes(t.testdir(), bytes))
  const zip = use(t, await openZip(file, defaultLimits))
  t.same(zip.warnings, [])
  t.same(
    zip.entries.map(entry => entry.name),
    ['B 2.cbz', 'b 1.cbz', 'B 1 (2).cbz', '日本.cbz', '.._up.cbz', '_..', 'x'],
  )
  for (const [i, entry] of zip.entries.entries()) {
    t.equal(entry.packedBytes, entry.sizeBytes)
    t.ok(Buffer.from(await zip.read(entry, 10_000)).equals(contentOf(1000 + i, i)))
  }
})

t.test('deleted files are left out; NotFound when none is left', async t => {
  const books = createBooks(t, ['a', 'b', 'c'])
  rmSync(books[1]!.path)
  const { body, length } = await zipSeries(books)
  t.equal((await buffer(body)).length, length)
  // An empty folder would look like an unmounted library.
  writeFileSync(join(dirname(books[0]!.path.toString()), 'other'), '')
  for (const { path } of books) rmSync(path, { force: true })
  await t.rejects(zipSeries(books), NotFound)
})

t.test('a file that changes while it is sent aborts the response', async t => {
  const books = createBooks(t, ['a', 'b'], 2_000_000)
  const { body } = await zipSeries(books)
  writeFileSync(books[1]!.path, 'short')
  await t.rejects(buffer(body))
})

t.test('one file is open at a time, and none after the client disconnects', async t => {
  const books = createBooks(t, ['a', 'b', 'c', 'd'], 3_000_000)
  const root = books[0]!.root.toString()
  const { body } = await zipSeries(books)
  body.on('error', () => {})
  let maxOpen = 0
  let received = 0
  for await (const chunk of body) {
    maxOpen = Math.max(maxOpen, countOpenFiles(root))
    received += chunk.length
    if (received > 7_000_000) break
  }
  t.equal(maxOpen, 1)
  await waitUntil(() => countOpenFiles(root) === 0)
})
