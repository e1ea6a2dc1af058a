// Pages read at the offsets that the scan has stored, also of files that were replaced since.
import { utimesSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { tarEnd, tarEntry, zip, zipWithDirectory } from '../kit/files/archives.ts'
import { bookOf, bytesOf, countedSince, engine, picture, snapshotCounters } from './books.ts'

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
