// Scan throughput with large books: index, covers and hashes of one scan compared with bare loops over the
// same files in the same run. node bench/heavy.ts --library DIR [--rounds 3]
// Make the library with the generator's preset `heavy` (200 books of 30 pages 1600x2400, 4.6 GB).
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import sharp from 'sharp'
import { scoped } from '../lib/base/async/dispose.ts'
import { type File, openFile } from '../lib/base/file.ts'
import { extensionOf } from '../lib/base/path.ts'
import { type DetectedBook, openBook } from '../lib/media/format/formats.ts'
import { print, stackroom } from './kit/stackroom.ts'

const { values } = parseArgs({
  options: { library: { type: 'string' }, rounds: { type: 'string', default: '3' } },
})
const library = values.library!
const files = readdirSync(library, { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile())
  .map(entry => join(entry.parentPath, entry.name))
const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0)

type Summary = { bytesRead: number; seconds: Record<string, number>; peakRssBytes: number }

sharp.concurrency(1)
sharp.cache(false)
const covers = await firstPages()
const ratios = { hash: [] as number[], covers: [] as number[] }
for (let round = 0; round < Number(values.rounds); round++) {
  const data = mkdtempSync(join(tmpdir(), 'stackroom-heavy-'))
  const { first } = await stackroom(['scan', library, '--data', data, '--json'])
  const summary = first as unknown as Summary
  rmSync(data, { recursive: true })
  const openssl = seconds(() =>
    execFileSync('sh', [
      '-c',
      `find '${library}' -type f -print0 | xargs -0 -P2 -n8 openssl dgst -sha256 > /dev/null`,
    ]),
  )
  const bare = await bareCovers()
  ratios.hash.push(openssl / summary.seconds.hash!)
  ratios.covers.push(bare / summary.seconds.thumbnail!)
  print({ ...summary.seconds, openssl, bareSharp: bare, peakRssMb: summary.peakRssBytes / 1e6 })
}
print({
  books: files.length,
  bytes,
  hashAgainstOpenssl: median(ratios.hash),
  coversAgainstSharp: median(ratios.covers),
  indexShareOfBytes: await indexShare(),
})

function seconds(work: () => unknown) {
  const started = performance.now()
  work()
  return (performance.now() - started) / 1000
}

async function firstPages() {
  const pages: Uint8Array[] = []
  for (const path of files) {
    await withBook(path, async book => {
      pages.push(Uint8Array.from((await book.page(0)).bytes))
    })
  }
  return pages
}

/** Two at a time, from memory: what sharp alone can do here. */
async function bareCovers() {
  const started = performance.now()
  let next = 0
  const loop = async () => {
    while (next < covers.length) {
      const resized = sharp(covers[next++]!)
        .autoOrient()
        .resize(400, 400, { fit: 'inside', withoutEnlargement: true })
      await resized.jpeg({ quality: 85 }).toBuffer()
    }
  }
  await Promise.all([loop(), loop()])
  return (performance.now() - started) / 1000
}

/** Bytes read to open, measure and describe every book, against the bytes there are. */
async function indexShare() {
  let read = 0
  for (const path of files) {
    await withBook(path, async (book, file) => {
      await book.metadata()
      read += book.pages.length > 0 ? file.bytesRead : 0
    })
  }
  return read / bytes
}

function withBook(path: string, work: (book: DetectedBook, file: File) => Promise<void>) {
  return scoped(async use => {
    const file = use(openFile(Buffer.from(path)))
    await work(use(await openBook(file, extensionOf(path))), file)
  })
}

function median(numbers: number[]) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
}
