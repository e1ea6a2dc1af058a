import { readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openZip } from '../../lib/archive/zip/zip.ts'
import type { BookFile } from '../../lib/catalog/book/book-file.ts'
import { zipSeries } from '../../lib/download/series-zip.ts'
import { NotFound } from '../../lib/errors.ts'
import { defaultLimits } from '../../lib/format/contract.ts'
import { onDisk } from '../archive/archive-files.ts'

function shelf(t: { testdir(): string }, names: string[], size = 1000) {
  const root = t.testdir()
  return names.map((name, i): BookFile => {
    const path = join(root, `file-${i}`)
    writeFileSync(path, Buffer.alloc(size + i, i + 1))
    const place = { root: Buffer.from(root), path: Buffer.from(path) }
    const rest = {
      size,
      modifiedMs: 0,
      pageCount: 1,
      isMissing: false,
      errorCode: null,
      errorMessage: null,
    }
    return { id: String(i), ...place, name, format: 'cbz', ...rest }
  })
}
const openIn = (root: string) =>
  readdirSync('/proc/self/fd').filter(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(root)
    } catch {
      return false
    }
  }).length

t.test('the files in their order, under names of their own, with the exact length', async t => {
  const books = shelf(t, ['B 2.cbz', 'b 1.cbz', 'B 1.cbz', '日本.cbz', '../up.cbz', '..', 'x'])
  const { body, length } = await zipSeries(books)
  const bytes = await buffer(body)
  t.equal(bytes.length, length)
  using file = onDisk(t.testdir(), bytes)
  await using zip = await openZip(file, defaultLimits)
  t.same(zip.warnings, [])
  t.same(
    zip.entries.map(entry => entry.name),
    ['B 2.cbz', 'b 1.cbz', 'B 1 (2).cbz', '日本.cbz', '.._up.cbz', '_..', 'x'],
  )
  for (const [i, entry] of zip.entries.entries()) {
    t.equal(entry.packed, entry.bytes)
    t.ok(Buffer.from(await zip.read(entry, 10_000)).equals(Buffer.alloc(1000 + i, i + 1)))
  }
})

t.test('files that are gone are left out; none at all is 404', async t => {
  const books = shelf(t, ['a', 'b', 'c'])
  rmSync(books[1]!.path)
  const { body, length } = await zipSeries(books)
  t.equal((await buffer(body)).length, length)
  for (const { path } of books) rmSync(path, { force: true })
  await t.rejects(zipSeries(books), NotFound)
})

t.test('a file that changes while it is sent breaks the answer off', async t => {
  const books = shelf(t, ['a', 'b'], 2_000_000)
  const { body } = await zipSeries(books)
  writeFileSync(books[1]!.path, 'short')
  await t.rejects(buffer(body))
})

t.test('one file is open at a time, and none when the client has gone', async t => {
  const books = shelf(t, ['a', 'b', 'c', 'd'], 3_000_000)
  const root = books[0]!.root.toString()
  const { body } = await zipSeries(books)
  body.on('error', () => {})
  let most = 0
  let seen = 0
  for await (const chunk of body) {
    most = Math.max(most, openIn(root))
    seen += chunk.length
    if (seen > 7_000_000) break
  }
  t.equal(most, 1)
  await sleep(20)
  t.equal(openIn(root), 0)
})
