import { crc32, deflateRawSync } from 'node:zlib'
import t from 'tap'
import { defaultLimits } from '../../../../lib/media/archive/limits.ts'
import { openZip } from '../../../../lib/media/archive/zip/zip.ts'
import { openBytes, openPath, png, zip } from '../../../kit/files/archives.ts'
import { corpusBook, goldenPath, skipWithoutCorpus } from '../../../kit/files/corpus.ts'
import { use } from '../../../kit/use.ts'

const page = png(41)
const two = [
  { name: '1.png', bytes: page },
  { name: '2.png', bytes: png(42), deflate: true },
]

t.test('stored and deflated entries are read, and their heads', async t => {
  const file = use(t, openBytes(t.testdir(), zip(two)))
  const archive = use(t, await openZip(file, defaultLimits))
  t.same(
    archive.entries.map(({ name, sizeBytes: bytes }) => [name, bytes]),
    [
      ['1.png', page.length],
      ['2.png', png(42).length],
    ],
  )
  const [first, second] = archive.entries
  t.same(Buffer.from(await archive.read(first!, 1000)), page)
  t.same(Buffer.from(await archive.read(second!, 1000)), png(42))
  t.same(Buffer.from(await archive.head(first!, 16)).subarray(0, 16), page.subarray(0, 16))
  t.same(Buffer.from(await archive.head(second!, 16)).subarray(0, 16), page.subarray(0, 16))
})

t.test('a prefix, a comment and trailing junk are skipped', async t => {
  const plain = zip(two)
  const commented = Buffer.concat([plain, Buffer.from('PK\x05\x06 in a comment')])
  commented.writeUInt16LE(commented.length - plain.length, plain.length - 2)
  for (const bytes of [
    Buffer.concat([Buffer.from('#!/bin/sh\nexit\n'), plain]),
    commented,
    Buffer.concat([plain, Buffer.alloc(3000)]),
  ]) {
    const file = use(t, openBytes(t.testdir(), bytes))
    const archive = use(t, await openZip(file, defaultLimits))
    t.same(Buffer.from(await archive.read(archive.entries[0]!, 1000)), page)
    t.same(archive.warnings, [])
  }
})

t.test('directories, links and devices are not listed', async t => {
  const bytes = zip([
    { name: 'a/', bytes: Buffer.alloc(0) },
    { name: 'link.png', bytes: Buffer.from('/etc/passwd'), external: 0o120777 },
    { name: 'null.png', bytes: Buffer.alloc(0), external: 0o020666 },
    { name: 'a\\1.png', bytes: page, external: 0o100644 },
  ])
  const file = use(t, openBytes(t.testdir(), bytes))
  const archive = use(t, await openZip(file, defaultLimits))
  t.same(
    archive.entries.map(({ name }) => name),
    ['a/1.png'],
  )
})

t.test('entries of a truncated archive are recovered', async t => {
  const whole = zip(two)
  const file = use(t, openBytes(t.testdir(), whole.subarray(0, 30 + 5 + page.length + 40)))
  const archive = use(t, await openZip(file, defaultLimits))
  t.same(
    archive.entries.map(({ name }) => name),
    ['1.png'],
  )
  t.equal(archive.warnings.length, 1)
  const short = use(t, openBytes(t.testdir(), whole.subarray(0, 50), 'short'))
  await t.rejects(openZip(short, defaultLimits), { code: 'truncated' })
})

t.test('entries with a data descriptor are recovered without a directory', async t => {
  const withDescriptor = (name: string, bytes: Buffer, signature: boolean) => {
    const packed = deflateRawSync(bytes)
    const header = Buffer.alloc(30)
    header.writeUInt32LE(0x04034b50, 0)
    header.writeUInt16LE(8, 6)
    header.writeUInt16LE(8, 8)
    header.writeUInt16LE(name.length, 26)
    const descriptor = Buffer.alloc(16)
    descriptor.writeUInt32LE(0x08074b50, 0)
    descriptor.writeUInt32LE(crc32(bytes), 4)
    descriptor.writeUInt32LE(packed.length, 8)
    descriptor.writeUInt32LE(bytes.length, 12)
    return [header, Buffer.from(name), packed, descriptor.subarray(signature ? 0 : 4)]
  }
  const local = [
    ...withDescriptor('1.png', page, true),
    ...withDescriptor('2.png', png(42), false),
    ...withDescriptor('3.png', png(43), true),
  ]
  const file = use(t, openBytes(t.testdir(), Buffer.concat(local)))
  const archive = use(t, await openZip(file, defaultLimits))
  t.same(
    archive.entries.map(({ name, sizeBytes }) => [name, sizeBytes]),
    [
      ['1.png', page.length],
      ['2.png', png(42).length],
      ['3.png', png(43).length],
    ],
  )
  for (const [i, expected] of [page, png(42), png(43)].entries())
    t.same(Buffer.from(await archive.read(archive.entries[i]!, 1000)), expected)
})

t.test('data with a wrong checksum is rejected', async t => {
  const bytes = zip(two)
  bytes[40]! ^= 1
  const file = use(t, openBytes(t.testdir(), bytes))
  const archive = use(t, await openZip(file, defaultLimits))
  await t.rejects(archive.read(archive.entries[0]!, 1000), { code: 'bad_crc' })
})

t.test('an archive with only encrypted entries is rejected', async t => {
  const file = use(t, openBytes(t.testdir(), zip([{ name: '1.png', bytes: page, flags: 1 }])))
  await t.rejects(openZip(file, defaultLimits), { code: 'encrypted' })
})

t.test('sizes are limited, also when declared wrong', async t => {
  const content = Buffer.alloc(1_000_000)
  const bytes = zip([{ name: '1.png', bytes: content, deflate: true }])
  const file = use(t, openBytes(t.testdir(), bytes))
  const archive = use(t, await openZip(file, defaultLimits))
  await t.rejects(archive.read(archive.entries[0]!, 999_999), { code: 'too_large' })
  const lie = Buffer.from(bytes)
  lie.writeUInt32LE(10, lie.indexOf('PK\x01\x02') + 24)
  const liar = use(t, openBytes(t.testdir(), lie, 'lie'))
  const lying = use(t, await openZip(liar, defaultLimits))
  await t.rejects(lying.read(lying.entries[0]!, 1000), { code: 'too_large' })
  const many = use(t, openBytes(t.testdir(), zip(two), 'many'))
  await t.rejects(openZip(many, { ...defaultLimits, entries: 1 }), { code: 'too_large' })
})

t.test('overlapping entries are listed once', async t => {
  const file = use(t, openPath(goldenPath('bombs/overlap-2000x64MiB.cbz')))
  const archive = use(t, await openZip(file, defaultLimits))
  t.equal(archive.entries.length, 1)
  t.match(archive.warnings, [/overlap/])
})

t.test('split archives are reported as multi-volume', { skip: skipWithoutCorpus(2) }, async t => {
  const paths = [
    'apache__commons-compress/split_zip_created_by_zip_zip64.cbz',
    'dvyukov__go-fuzz-corpus/17.z01.cbz',
  ]
  for (const path of paths) {
    const file = use(t, openPath(corpusBook(path)))
    await t.rejects(openZip(file, defaultLimits), { code: 'multi_volume' }, path)
  }
})

t.test('LZMA and PPMd are unpacked', async t => {
  for (const name of ['method-lzma', 'method-ppmd']) {
    const file = use(t, openPath(goldenPath(`zip/${name}.cbz`)))
    const archive = use(t, await openZip(file, defaultLimits))
    for (const entry of archive.entries)
      t.equal((await archive.read(entry, 1e6)).length, entry.sizeBytes, name)
  }
})

t.test(
  'rare compression methods are supported or reported',
  { skip: skipWithoutCorpus(13) },
  async t => {
    const cases: [string, string | RegExp][] = [
      ['adamhathcock__sharpcompress/Zip.lzma.dd.cbz', 'jpg/test.jpg'],
      ['adamhathcock__sharpcompress/Zip.ppmd.dd.cbz', 'jpg/test.jpg'],
      ['adamhathcock__sharpcompress/WinZip27_ZSTD.cbz', 'jpg/test.jpg'],
      ['apache__commons-compress/COMPRESS-380.cbz', 'input2'],
      ['apache__commons-compress/test-method-xz.cbz', 'LICENSE.txt'],
      ['nika-begiashvili__libarchivejs/bzip2.cbz', 'addon/addon.py'],
    ]
    for (const [path, name] of cases) {
      const file = use(t, openPath(corpusBook(path)))
      const archive = use(t, await openZip(file, defaultLimits))
      const entry = archive.entries.find(entry => entry.name === name) ?? archive.entries[0]!
      t.equal((await archive.read(entry, 1e6)).length, entry.sizeBytes, path)
      t.ok((await archive.head(entry, 64)).length >= Math.min(64, entry.sizeBytes))
    }
    const file = use(t, openPath(corpusBook('adamhathcock__sharpcompress/Zip.reduce4.cbz')))
    const archive = use(t, await openZip(file, defaultLimits))
    await t.rejects(archive.read(archive.entries.at(-1)!, 1e6), { code: 'unsupported_method' })
  },
)

t.test('ZIP64 fields are read', async t => {
  for (const name of ['zip64-entries', 'zip64-eocd']) {
    const file = use(t, openPath(goldenPath(`zip/${name}.cbz`)))
    const archive = use(t, await openZip(file, defaultLimits))
    t.equal(archive.entries.filter(entry => entry.name.endsWith('.jpg')).length, 3)
    for (const entry of archive.entries)
      t.equal((await archive.read(entry, 1e6)).length, entry.sizeBytes)
  }
})

t.test('the head of a deflated entry needs only a small read', async t => {
  const noise = Buffer.from(
    Array.from({ length: 600_000 }, (_, i) => (i * i * 7 + (i >> 3)) & 0xff),
  )
  const entries = Array.from({ length: 3 }, (_, i) => ({
    name: `${i}.png`,
    bytes: noise,
    deflate: i > 0,
  }))
  const bytes = zip(entries)
  const file = use(t, openBytes(t.testdir(), bytes))
  const archive = use(t, await openZip(file, defaultLimits))
  for (const entry of archive.entries)
    t.same(Buffer.from(await archive.head(entry, 4096)).subarray(0, 4096), noise.subarray(0, 4096))
  t.ok(file.bytesRead < 3 * 4400 + 10_000, `${file.bytesRead} bytes`)
})

t.test('entry names in legacy encodings are decoded', async t => {
  for (const name of ['gbk', 'cp1251']) {
    const file = use(t, openPath(goldenPath(`names/${name}-no-flag.cbz`)))
    const archive = use(t, await openZip(file, defaultLimits))
    const records = archive.entries.map(({ name }) => name)
    t.match(records[0], name === 'gbk' ? '第一页 1.jpg' : 'страница 1.jpg')
  }
})

t.test('other files are rejected', async t => {
  const file = use(t, openBytes(t.testdir(), Buffer.from('<html></html>')))
  await t.rejects(openZip(file, defaultLimits), { code: 'not_an_archive' })
})

t.test('a wrong size of the directory is corrected', { skip: skipWithoutCorpus(1) }, async t => {
  const file = use(t, openPath(corpusBook('klauspost__compress/test-baddirsz.cbz')))
  const archive = use(t, await openZip(file, defaultLimits))
  t.same(
    archive.entries.map(({ name }) => name),
    ['test.txt', 'gophercolor16x16.png'],
  )
  for (const entry of archive.entries)
    t.equal((await archive.read(entry, 1e6)).length, entry.sizeBytes)
  t.match(archive.warnings, [/directory/])
})
