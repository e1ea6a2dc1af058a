// Mutated archives: a book or Unreadable within a time limit.
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import t from 'tap'
import { scoped } from '../../../lib/base/async/dispose.ts'
import { Unreadable } from '../../../lib/base/errors.ts'
import { openBook } from '../../../lib/media/format/formats.ts'
import { openBytes } from '../../kit/files/archives.ts'
import { corpusPath, goldenPath } from '../../kit/files/corpus.ts'
import { firstCover } from '../../kit/files/covers.ts'
import { createRandom } from '../../kit/random.ts'

const MUTATIONS = 100
const SECONDS = 90
const originals = [
  goldenPath('zip/natural-order.cbz'),
  goldenPath('zip/zip64-eocd.cbz'),
  goldenPath('zip/method-lzma.cbz'),
  goldenPath('zip/truncated-half.cbz'),
  goldenPath('rar/rar5-unicode.cbr'),
  corpusPath('library/gotson__komga/rar4-solid.cbr'),
  corpusPath('library/ssokolow__rar-test-files/testfile.rar3.rr.cbr'),
  corpusPath('library/ssokolow__rar-test-files/testfile.rar5.solid.cbr'),
  goldenPath('7z/lzma.cb7'),
  corpusPath('library/gotson__komga/7zip.cb7'),
].filter(path => path !== null)

function mutated(bytes: Buffer, next: () => number): Buffer {
  const copy = Buffer.from(bytes)
  for (let i = 1 + next() * 6; i > 0; i -= 1) {
    const at = Math.floor(next() * copy.length)
    const kind = next()
    if (kind < 0.6) copy[at] = next() * 256
    else if (kind < 0.8) copy.fill(0xff, at, Math.min(copy.length, at + 4))
    else copy.fill(0, at, Math.min(copy.length, at + 4))
  }
  return next() < 0.2 ? copy.subarray(0, next() * copy.length) : copy
}

async function readAll(bytes: Buffer, folder: string, extension: string): Promise<boolean> {
  try {
    await scoped(async use => {
      const book = use(await openBook(use(openBytes(folder, bytes)), extension))
      await book.metadata()
      await firstCover(book)
      for (const index of book.pages.keys()) await book.page(index)
    })
    return true
  } catch (error) {
    if (error instanceof Unreadable) return false
    throw error
  }
}

t.test('mutated archives yield a book or Unreadable', async t => {
  const folder = t.testdir()
  const begin = performance.now()
  const counts = { opened: 0, refused: 0 }
  for (let seed = 0; seed < MUTATIONS; seed += 1) {
    const path = originals[seed % originals.length]!
    const bytes = mutated(readFileSync(path), createRandom(seed).next)
    const isOpened = await readAll(bytes, folder, extname(path).slice(1))
    counts[isOpened ? 'opened' : 'refused'] += 1
  }
  t.ok(counts.opened > 5 && counts.refused > 5, `${counts.opened} opened`)
  t.ok(performance.now() - begin < SECONDS * 1000)
})
