// Pages read at the offsets that the scan has stored, also of files that were replaced since.
import { chmodSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { tarEnd, tarEntry, zip, zipWithDirectory } from '../kit/files/archives.ts'
import {
  bookAt,
  bookOf,
  bytesOf,
  countedSince,
  engine,
  picture,
  snapshotCounters,
} from './books.ts'

const [wide, tall, third] = await Promise.all([
  picture(300, 200),
  picture(200, 300, 'png'),
  picture(120, 180, 'webp'),
])

t.test('checksums of a ZIP are those of its central directory', async t => {
  const pages = engine(t)
  for (const descriptor of [undefined, 'signed', 'plain'] as const)
    for (const deflate of [false, true]) {
      const name = `${descriptor} ${deflate}.cbz`
      const bytes = zip([
        { name: '1.jpg', bytes: wide, deflate, ...(descriptor && { descriptor }) },
      ])
      const before = snapshotCounters()
      t.ok((await bytesOf(await pages.image(await bookOf(t, name, bytes), 0))).equals(wide), name)
      t.match(countedSince(before), { opens: 1, tasks: 0 }, name)
      // A stored byte in the middle, or a deflated one.
      bytes[1000]! ^= 1
      const damaged = await bookOf(t, `damaged ${name}`, bytes)
      for (let i = 0; i < 2; i++)
        await t.rejects(pages.image(damaged, 0), { code: 'bad_crc' }, `damaged ${name}`)
    }
  const { bytes: wrong, directoryAt } = zipWithDirectory(
    ['1.jpg', '2.jpg'].map(name => ({ name, bytes: wide })),
  )
  wrong.fill(7, directoryAt + 16, directoryAt + 20)
  const inconsistent = await bookOf(t, 'wrong.cbz', wrong)
  for (let i = 0; i < 2; i++) {
    await t.rejects(pages.image(inconsistent, 0), { code: 'bad_crc' })
    t.ok((await bytesOf(await pages.image(inconsistent, 1))).equals(wide))
  }
  const withoutCrc = zip([{ name: '1.jpg', bytes: wide }])
  withoutCrc.fill(0, 14, 18)
  const book = await bookOf(t, 'without.cbz', withoutCrc)
  for (let i = 0; i < 3; i++) t.ok((await bytesOf(await pages.image(book, 0))).equals(wide))
  const before = snapshotCounters()
  await bytesOf(await pages.image(book, 0))
  t.same(countedSince(before), { opens: 1, reads: 1, directories: 0, tasks: 0 })
})

t.test('pages of a replaced file with the same size and time are found by their names', async t => {
  const ofSize = (bytes: Buffer) => Buffer.concat([bytes, Buffer.alloc(200_000 - bytes.length)])
  const pictures = [wide, tall, third]
  const equal = pictures.map((bytes, i) => ({ name: `${i}.jpg`, bytes: ofSize(bytes) }))
  // Larger pages are streamed.
  const large = equal.map(({ name, bytes }) => ({
    name,
    bytes: Buffer.concat([bytes, Buffer.alloc(5_000_000)]),
  }))
  const different = pictures.map((bytes, i) => ({ name: `${i}.jpg`, bytes }))
  const tar = (entries: typeof equal) =>
    Buffer.concat([...entries.map(({ name, bytes }) => tarEntry(name, bytes)), tarEnd])
  const files = {
    'equal.cbz': equal,
    'different.cbz': different,
    'large.cbz': large,
    'a.cbt': equal,
  }
  for (const [name, entries] of Object.entries(files)) {
    const make = name.endsWith('cbt') ? tar : zip
    const book = await bookOf(t, name, make(entries))
    const path = book.path.toString()
    writeFileSync(path, make(entries.toReversed()))
    utimesSync(path, book.modifiedMs / 1000, book.modifiedMs / 1000)
    const pages = engine(t)
    for (let round = 0; round < 2; round++)
      for (const [index, { bytes }] of entries.entries())
        t.ok((await bytesOf(await pages.image(book, index))).equals(bytes), `${name} ${index}`)
    const before = snapshotCounters()
    await bytesOf(await pages.image(book, 0))
    t.match(countedSince(before), { opens: 1, reads: 1, directories: 0 })
  }
})

t.test('pages with names in another encoding are read directly', async t => {
  const shiftJis = (last: number) => Buffer.from([0x83, 0x79, 0x81, 0x5b, 0x83, 0x57, last])
  const jpg = Buffer.from('.jpg')
  const entries = [0x31, 0x32].map(last => ({
    name: Buffer.concat([shiftJis(last), jpg]),
    bytes: wide,
  }))
  const pages = engine(t)
  const book = await bookOf(t, 'a.cbz', zip(entries))
  const before = snapshotCounters()
  t.ok((await bytesOf(await pages.image(book, 1))).equals(wide))
  t.same(countedSince(before), { opens: 1, reads: 1, directories: 1, tasks: 0 })
})

/** Puts a file with the same time in the place of a book. */
function replace({ path, modifiedMs }: { path: Buffer; modifiedMs: number }, bytes: Uint8Array) {
  const place = path.toString()
  writeFileSync(`${place}.new`, bytes)
  utimesSync(`${place}.new`, modifiedMs / 1000, modifiedMs / 1000)
  renameSync(`${place}.new`, place)
}

const paddedTo = (length: number, bytes: Buffer) =>
  Buffer.concat([bytes, Buffer.alloc(length - bytes.length)])

t.test('a file is replaced after a thread has located its pages', async t => {
  for (const size of [200_000, 5_000_000]) {
    const page = { name: 'b.png', bytes: paddedTo(size, tall) }
    const other = { name: 'a.key', bytes: paddedTo(size, third) }
    const before = Buffer.concat([
      tarEntry(page.name, page.bytes),
      tarEntry(other.name, other.bytes),
      tarEnd,
    ])
    const after = Buffer.concat([
      tarEntry(other.name, other.bytes),
      tarEntry(page.name, page.bytes),
      tarEnd,
    ])
    const book = await bookOf(t, 'a.cbt', before)
    // The offsets of the scan are not used then.
    chmodSync(book.path.toString(), 0o640)
    const pages = engine(t)
    await bytesOf(await pages.image(book, 0))
    await bytesOf(await pages.image(book, 0, { width: 10, format: 'png' }))
    replace(book, after)
    for (let i = 0; i < 3; i++)
      t.ok((await bytesOf(await pages.image(book, 0))).equals(page.bytes), `${size} ${i}`)
  }
})

t.test('of entries with the same name and size the one that is an image is the page', async t => {
  const text = Buffer.alloc(wide.length, 'N')
  const entries = [
    { name: 'a.jpg', bytes: text },
    { name: 'a.jpg', bytes: wide },
    { name: 'b.jpg', bytes: tall },
  ]
  const book = await bookOf(t, 'same.cbz', zip(entries))
  t.equal(book.count, 2)
  const pages = engine(t)
  t.ok((await bytesOf(await pages.image(book, 0))).equals(wide))
  chmodSync(book.path.toString(), 0o640)
  for (let i = 0; i < 3; i++) t.ok((await bytesOf(await pages.image(book, 0))).equals(wide), `${i}`)
})

t.test(
  'a deep scan that finds another file of the same size and time renews what was cached',
  async t => {
    const entries = [wide, third].map((bytes, i) => ({
      name: `${i}.jpg`,
      bytes: paddedTo(200_000, bytes),
    }))
    const book = await bookOf(t, 'a.cbz', zip(entries))
    const pages = engine(t)
    const options = { width: 100, format: 'png' } as const
    const imageOf = async (of: typeof book) => {
      const image = await pages.image(of, 0, options)
      return { etag: image.etag, bytes: await bytesOf(image) }
    }
    const first = await imageOf(book)
    const exchanged = entries.map(({ name }, i) => ({ name, bytes: entries[1 - i]!.bytes }))
    replace(book, zip(exchanged))
    const second = await imageOf(await bookAt(book.path.toString()))
    t.not(second.etag, first.etag)
    t.notOk(second.bytes.equals(first.bytes))
    t.same((await imageOf(book)).etag, first.etag, 'the same as long as the list is')
  },
)

t.test('a large page whose size the file declares wrong is sent whole', async t => {
  const page = paddedTo(4_800_000, tall)
  for (const difference of [-1, 1, 500]) {
    const { bytes, directoryAt } = zipWithDirectory([
      { name: 'a.png', bytes: page, deflate: true },
      { name: 'b.png', bytes: tall },
    ])
    bytes.writeUInt32LE(page.length + difference, directoryAt + 24)
    const book = await bookOf(t, `wrong${difference}.cbz`, bytes)
    const pages = engine(t)
    for (let i = 0; i < 2; i++)
      t.ok((await bytesOf(await pages.image(book, 0))).equals(page), `${difference}`)
  }
})

t.test('a page is found while its file is replaced again and again', async t => {
  const versions = [wide, third].map(bytes => paddedTo(200_000, bytes))
  const archives = versions.map(bytes => zip([{ name: 'a.jpg', bytes }]))
  const book = await bookOf(t, 'a.cbz', archives[0]!)
  const pages = engine(t)
  for (let i = 0; i < 50; i++) {
    const reading = pages.image(book, 0)
    for (let passes = i % 7; passes > 0; passes--) await new Promise(setImmediate)
    replace(book, archives[i % 2]!)
    const bytes = await bytesOf(await reading)
    if (!versions.some(version => version.equals(bytes))) t.fail(`other bytes in round ${i}`)
  }
})
