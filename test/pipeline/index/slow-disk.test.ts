// Books on a slow disk: read in advance, with the same results as on a fast one.
import { createHash, hash, randomBytes } from 'node:crypto'
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { extname, join } from 'node:path'
import t, { type Test } from 'tap'
import { createDiskQueue } from '../../../lib/base/async/disk-queue.ts'
import { scoped } from '../../../lib/base/async/dispose.ts'
import { type DiskAccess, interleave } from '../../../lib/base/async/interleave.ts'
import { type File, openLibraryFile } from '../../../lib/base/file.ts'
import { defaultLimits } from '../../../lib/media/archive/limits.ts'
import { readBook } from '../../../pipeline/index/extract.ts'
import { hashFile } from '../../../pipeline/index/hash-file.ts'
import { makeThumbnail } from '../../../pipeline/index/thumbnail.ts'
import { tarEnd, tarEntry, zip } from '../../kit/files/archives.ts'
import { goldenPath } from '../../kit/files/corpus.ts'
import { epubBytes, item } from '../../kit/files/epub.ts'
import { temporaryFolder } from '../../kit/files/folders.ts'
import { pdfOf, stream } from '../../kit/files/pdf.ts'
import { storedRar, storedSevenZip } from '../../kit/files/stored-archives.ts'
import { createRandom } from '../../kit/random.ts'
import { picture } from '../../page/books.ts'

type Speed = 'fast' | 'slow'
const containmentIn = (root: string) => ({
  ...{ root, followLinks: false, dataDir: '/nowhere', linkFolders: [] },
})
const random = createRandom(12)

/** Results of a task as in a pool thread, and the number of synchronous calls. */
async function runAll<I, O>(
  items: I[],
  speed: Speed,
  task: (item: I, disk: DiskAccess) => Promise<O>,
) {
  let synchronous = 0
  const queue = createDiskQueue({ depth: speed === 'slow' ? 8 : 1 })
  const options = { queue, slots: 1, maxBytes: 4e6, onProgress() {}, hasTime: () => true }
  const results = await interleave(items, options, (item, disk) => {
    const record = () => {
      synchronous += 1
    }
    return task(item, { ...disk, record })
  })
  return { results, synchronous }
}

/** The outcome of a task with a file, or the error. */
async function onDisk<O>(speed: Speed, path: string, work: (file: File) => Promise<O>) {
  const containment = containmentIn(join(path, '..'))
  const { results } = await runAll([path], speed, async (_, disk) => {
    try {
      return await scoped(async use =>
        work(use(await openLibraryFile(Buffer.from(path), containment, disk))),
      )
    } catch (error) {
      const { code, message, cause } = error as Error & { code: string }
      return { code, message, cause: (cause as NodeJS.ErrnoException)?.code }
    }
  })
  return results[0]!
}

t.before(() => {
  process.env.UV_THREADPOOL_SIZE = '128'
})

t.test('what is read in advance equals what is read when needed', async t => {
  const folder = temporaryFolder(t)
  for (const size of [0, 1, 4095, 65_536, 65_537, 131_073, 3_000_000]) {
    const path = join(folder, `${size}.bin`)
    const content = randomBytes(size)
    writeFileSync(path, content)
    const range = () => {
      const position = random.below(size + 5000) - 100
      return { position, length: random.below(random.chance(0.5) ? 100 : size + 1000) }
    }
    const outcome = await onDisk('slow', path, async file => {
      for (let round = 0; round < 40; round++) {
        const ranges = Array.from({ length: random.below(5) }, range)
        await file.preload!(ranges)
        for (const { position, length } of [...ranges, range(), range()]) {
          const expected = content.subarray(Math.max(0, position), Math.max(0, position) + length)
          const bytes = file.read(position, length)
          const target = Buffer.alloc(length)
          const count = position < 0 ? 0 : file.readInto(target, position)
          if (!bytes.equals(expected)) t.fail(`${length} bytes from ${position} of ${size}`)
          if (position >= 0 && !target.subarray(0, count).equals(expected))
            t.fail(`${length} bytes from ${position} of ${size} into a buffer`)
        }
      }
      const hashed = createHash('md5')
      for await (const block of file.blocks!(100_000)) hashed.update(block)
      return hashed.digest('hex')
    })
    t.equal(outcome, hash('md5', content, 'hex'))
  }
})

t.test('a file that cannot be opened or read causes the same error', async t => {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'folder'))
  writeFileSync(join(folder, 'target'), 'content')
  symlinkSync(join(folder, 'target'), join(folder, 'link'))
  for (const name of ['folder', 'missing', 'link', 'target/below']) {
    const read = async (file: File) => {
      await file.preload?.([{ position: 0, length: 10 }])
      return file.read(0, 10).toString()
    }
    const fast = await onDisk('fast', join(folder, name), read)
    const slow = await onDisk('slow', join(folder, name), read)
    t.same(slow, fast, JSON.stringify(fast))
    t.match(fast, { code: 'io' })
  }
})

t.test('blocks of a file that is read alone are read at the same time', async t => {
  const path = join(temporaryFolder(t), 'book.cbz')
  writeFileSync(path, randomBytes(6_000_000))
  const file = { id: '1', path, containment: containmentIn(join(path, '..')), size: 6_000_000 }
  let running = 0
  let most = 0
  await runAll([file], 'slow', (item, disk) => {
    const call: DiskAccess['call'] = async work => {
      most = Math.max(most, ++running)
      return await disk.call(work).finally(() => running--)
    }
    return hashFile(
      { ...item, modifiedMs: 0, sha256: null },
      { limits: defaultLimits },
      { disk: { ...disk, call }, tick() {} },
    )
  })
  t.equal(most, 3, 'as many as there is memory for')
})

t.test('a file that changes while it is read has no hash of mixed content', async t => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'book.cbz')
  // More blocks than are read in advance.
  const size = 12_000_000
  const hashWhile = async (change: () => void) => {
    writeFileSync(path, randomBytes(size))
    const file = {
      id: '1',
      path,
      containment: containmentIn(folder),
      size,
      modifiedMs: 0,
      sha256: null,
    }
    const { results } = await runAll([file], 'slow', async (file, disk) => {
      let isChanged = false
      const tick = () => {
        if (!isChanged) change()
        isChanged = true
      }
      return hashFile(file, { limits: defaultLimits }, { disk, tick })
    })
    return results[0]!
  }
  t.match(await hashWhile(() => {}), { sha256: /^[0-9a-f]{64}$/, error: null })
  t.match(await hashWhile(() => truncateSync(path, 4_500_000)), { sha256: null, error: null })
  // The version of the catalog is complete, and the next scan finds another one.
  t.match(await hashWhile(() => appendFileSync(path, 'x')), { sha256: /^[0-9a-f]{64}$/ })
  appendFileSync(path, 'x')
  const item = {
    id: '1',
    path,
    containment: containmentIn(folder),
    size,
    modifiedMs: 0,
    sha256: null,
  }
  const { results } = await runAll([item], 'slow', (item, disk) =>
    hashFile(item, { limits: defaultLimits }, { disk, tick() {} }),
  )
  t.match(results[0], { sha256: null, error: null })
})

/** Large books of each format, so that nothing is read whole because it is small. */
async function writeBooks(folder: string) {
  const images = []
  for (let i = 1; i <= 12; i++) {
    const bytes = Buffer.concat([await picture(60 + i, 90), randomBytes(100_000)])
    images.push({ name: `${String(i).padStart(3, '0')}.jpg`, bytes })
  }
  const manifest = images.map(({ name }, i) => item(`i${i}`, name, 'image/jpeg')).join('')
  const files = Object.fromEntries(images.map(({ name, bytes }) => [`OPS/${name}`, bytes]))
  const info = Buffer.from('<ComicInfo><Series>Slow</Series><Number>4</Number></ComicInfo>')
  const books: Record<string, Uint8Array> = {
    'a.cbz': zip([...images, { name: 'ComicInfo.xml', bytes: info }]),
    'b.cbt': Buffer.concat([...images.map(({ name, bytes }) => tarEntry(name, bytes)), tarEnd]),
    'c.cbr': storedRar(images),
    'd.cb7': storedSevenZip(images),
    'e.epub': epubBytes({ manifest, files }),
    'f.pdf': pdfOf([
      '<</Type/Catalog/Pages 2 0 R>>',
      `<</Type/Pages/Count ${images.length}/Kids[${images.map((_, i) => `${3 + 3 * i} 0 R`).join(' ')}]>>`,
      ...images.flatMap(({ bytes }, i) => [
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 ${61 + i} 90]/Contents ${4 + 3 * i} 0 R` +
          `/Resources<</XObject<</I ${5 + 3 * i} 0 R>>>>>>`,
        stream('', `q ${61 + i} 0 0 90 0 0 cm /I Do Q`),
        stream(
          `/Type/XObject/Subtype/Image/Width ${61 + i}/Height 90/BitsPerComponent 8` +
            '/ColorSpace/DeviceRGB/Filter/DCTDecode',
          bytes,
        ),
      ]),
    ]),
  }
  for (const [name, bytes] of Object.entries(books)) writeFileSync(join(folder, name), bytes)
  return Object.keys(books)
}

const rules = {
  ...{
    seriesStrategy: 'series_volume',
    seriesConfig: {},
    bookStrategy: 'filename',
    bookConfig: {},
  },
  ...{ numberStrategy: 'smart', titleRules: [], pageHash: true, limits: defaultLimits },
}

async function readAll(t: Test, folder: string, names: string[], speed: Speed) {
  const items = names.map((relative, i) => ({
    ...{ id: String(i), path: join(folder, relative), relative, known: null },
    ...{ forced: false, sidecars: [], isAlone: false },
  }))
  const containment = containmentIn(folder)
  const readings = await runAll(items, speed, (item, disk) =>
    readBook(item, { ...rules, containment } as never, { disk, tick() {} }),
  )
  const options = {
    ...{ folder: join(temporaryFolder(t), 'thumbnails'), maxSide: 300, format: 'webp' as const },
    ...{ quality: 70, limits: defaultLimits },
  }
  const covers = await runAll(items, speed, ({ id, path }, disk) =>
    makeThumbnail({ id, path, containment, artwork: null }, options, { disk }),
  )
  const withoutBytes = <O extends object>(results: O[]) =>
    results.map(result => ({ ...result, bytesRead: 0 }))
  return {
    readings: withoutBytes(readings.results),
    covers: withoutBytes(covers.results),
    synchronous: readings.synchronous + covers.synchronous,
  }
}

t.test('books of every format are read in advance, with the same result', async t => {
  const folder = temporaryFolder(t)
  const names = await writeBooks(folder)
  const fast = await readAll(t, folder, names, 'fast')
  const slow = await readAll(t, folder, names, 'slow')
  t.same(slow.readings, fast.readings)
  t.same(slow.covers, fast.covers)
  t.notOk(fast.covers.some(({ cover }) => cover === null))
  t.equal(fast.synchronous, 2 * 2 * names.length, 'opening and one read of each are measured')
  t.equal(slow.synchronous, 0)
})

t.test('unusual and damaged books have the same result', async t => {
  const folder = temporaryFolder(t)
  const names: string[] = []
  const files = readdirSync(goldenPath(''), { recursive: true, encoding: 'utf8' })
  // A part of them: each is tested by itself elsewhere.
  const books = files.filter(path => /\.(?:cb[z7rt]|epub|pdf)$/.test(path)).sort()
  for (const [i, path] of books.filter((_, i) => i % 4 === 0).entries()) {
    names.push(`${i}${extname(path)}`)
    copyFileSync(goldenPath(path), join(folder, names[i]!))
  }
  const fast = await readAll(t, folder, names, 'fast')
  const slow = await readAll(t, folder, names, 'slow')
  t.ok(names.length > 20)
  for (const [i, name] of names.entries()) {
    t.same(slow.readings[i], fast.readings[i], name)
    t.same(slow.covers[i], fast.covers[i], name)
  }
})
