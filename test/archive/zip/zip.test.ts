import t from 'tap'
import { openZip } from '../../../lib/archive/zip/zip.ts'
import { defaultLimits } from '../../../lib/format/contract.ts'
import { onDisk, openCorpus, png, zip } from '../archive-files.ts'

const page = png(41)
const two = [
  { name: '1.png', bytes: page },
  { name: '2.png', bytes: png(42), deflate: true },
]

t.test('stored and deflated entries are read, and their heads', async t => {
  using file = onDisk(t.testdir(), zip(two))
  await using archive = await openZip(file, defaultLimits)
  t.same(
    archive.entries.map(({ name, bytes }) => [name, bytes]),
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

t.test('a prefix, a comment and junk behind the end are passed over', async t => {
  const plain = zip(two)
  const commented = Buffer.concat([plain, Buffer.from('PK\x05\x06 in a comment')])
  commented.writeUInt16LE(commented.length - plain.length, plain.length - 2)
  for (const bytes of [
    Buffer.concat([Buffer.from('#!/bin/sh\nexit\n'), plain]),
    commented,
    Buffer.concat([plain, Buffer.alloc(3000)]),
  ]) {
    using file = onDisk(t.testdir(), bytes)
    await using archive = await openZip(file, defaultLimits)
    t.same(Buffer.from(await archive.read(archive.entries[0]!, 1000)), page)
    t.same(archive.warnings, [])
  }
})

t.test('folders, links and devices are left out', async t => {
  const bytes = zip([
    { name: 'a/', bytes: Buffer.alloc(0) },
    { name: 'link.png', bytes: Buffer.from('/etc/passwd'), external: 0o120777 },
    { name: 'null.png', bytes: Buffer.alloc(0), external: 0o020666 },
    { name: 'a\\1.png', bytes: page, external: 0o100644 },
  ])
  using file = onDisk(t.testdir(), bytes)
  await using archive = await openZip(file, defaultLimits)
  t.same(
    archive.entries.map(({ name }) => name),
    ['a/1.png'],
  )
})

t.test('an archive without its end is recovered up to the cut', async t => {
  const whole = zip(two)
  using file = onDisk(t.testdir(), whole.subarray(0, 30 + 5 + page.length + 40))
  await using archive = await openZip(file, defaultLimits)
  t.same(
    archive.entries.map(({ name }) => name),
    ['1.png'],
  )
  t.equal(archive.warnings.length, 1)
  using short = onDisk(t.testdir(), whole.subarray(0, 50), 'short')
  await t.rejects(openZip(short, defaultLimits), { code: 'truncated' })
})

t.test('data that does not fit its checksum is refused', async t => {
  const bytes = zip(two)
  bytes[40]! ^= 1
  using file = onDisk(t.testdir(), bytes)
  await using archive = await openZip(file, defaultLimits)
  await t.rejects(archive.read(archive.entries[0]!, 1000), { code: 'bad_crc' })
})

t.test('an archive whose entries are all encrypted is refused', async t => {
  using file = onDisk(t.testdir(), zip([{ name: '1.png', bytes: page, flags: 1 }]))
  await t.rejects(openZip(file, defaultLimits), { code: 'encrypted' })
})

t.test('sizes are bounded, whatever is declared', async t => {
  const content = Buffer.alloc(1_000_000)
  const bytes = zip([{ name: '1.png', bytes: content, deflate: true }])
  using file = onDisk(t.testdir(), bytes)
  await using archive = await openZip(file, defaultLimits)
  await t.rejects(archive.read(archive.entries[0]!, 999_999), { code: 'too_large' })
  const lie = Buffer.from(bytes)
  lie.writeUInt32LE(10, lie.indexOf('PK\x01\x02') + 24)
  using liar = onDisk(t.testdir(), lie, 'lie')
  await using lying = await openZip(liar, defaultLimits)
  await t.rejects(lying.read(lying.entries[0]!, 1000), { code: 'too_large' })
  using many = onDisk(t.testdir(), zip(two), 'many')
  await t.rejects(openZip(many, { ...defaultLimits, entries: 1 }), { code: 'too_large' })
})

t.test('entries over one body are counted once', async t => {
  using file = openCorpus('generated-hostile/bombs/overlap-2000x64MiB.cbz')
  await using archive = await openZip(file, defaultLimits)
  t.equal(archive.entries.length, 1)
  t.match(archive.warnings, [/overlap/])
})

t.test('a split set is named as such', async t => {
  using file = openCorpus('apache__commons-compress/split_zip_created_by_zip_zip64.cbz')
  await t.rejects(openZip(file, defaultLimits), { code: 'multi_volume' })
  using part = openCorpus('dvyukov__go-fuzz-corpus/17.z01.cbz')
  await t.rejects(openZip(part, defaultLimits), { code: 'multi_volume' })
})

t.test('rarer methods are unpacked or named', async t => {
  const cases: [string, string | RegExp][] = [
    ['adamhathcock__sharpcompress/Zip.lzma.dd.cbz', 'jpg/test.jpg'],
    ['adamhathcock__sharpcompress/Zip.ppmd.dd.cbz', 'jpg/test.jpg'],
    ['adamhathcock__sharpcompress/WinZip27_ZSTD.cbz', 'jpg/test.jpg'],
    ['apache__commons-compress/COMPRESS-380.cbz', 'input2'],
    ['apache__commons-compress/test-method-xz.cbz', 'LICENSE.txt'],
    ['nika-begiashvili__libarchivejs/bzip2.cbz', 'addon/addon.py'],
  ]
  for (const [path, name] of cases) {
    using file = openCorpus(path)
    await using archive = await openZip(file, defaultLimits)
    const entry = archive.entries.find(entry => entry.name === name) ?? archive.entries[0]!
    t.equal((await archive.read(entry, 1e6)).length, entry.bytes, path)
    t.ok((await archive.head(entry, 64)).length >= Math.min(64, entry.bytes))
  }
  using file = openCorpus('adamhathcock__sharpcompress/Zip.reduce4.cbz')
  await using archive = await openZip(file, defaultLimits)
  await t.rejects(archive.read(archive.entries.at(-1)!, 1e6), { code: 'unsupported_method' })
})

t.test('64-bit fields are read', async t => {
  for (const name of ['zip64-entries', 'zip64-eocd']) {
    using file = openCorpus(`generated-hostile/zip/${name}.cbz`)
    await using archive = await openZip(file, defaultLimits)
    t.equal(archive.entries.filter(entry => entry.name.endsWith('.jpg')).length, 3)
    for (const entry of archive.entries)
      t.equal((await archive.read(entry, 1e6)).length, entry.bytes)
  }
})

t.test('the head of a deflated entry costs a small read', async t => {
  const noise = Buffer.from(
    Array.from({ length: 600_000 }, (_, i) => (i * i * 7 + (i >> 3)) & 0xff),
  )
  const entries = Array.from({ length: 3 }, (_, i) => ({
    name: `${i}.png`,
    bytes: noise,
    deflate: i > 0,
  }))
  const bytes = zip(entries)
  using file = onDisk(t.testdir(), bytes)
  await using archive = await openZip(file, defaultLimits)
  for (const entry of archive.entries)
    t.same(Buffer.from(await archive.head(entry, 4096)).subarray(0, 4096), noise.subarray(0, 4096))
  t.ok(file.bytesRead < 3 * 4400 + 10_000, `${file.bytesRead} bytes`)
})

t.test('pages whose names are in old encodings are readable', async t => {
  for (const name of ['gbk', 'cp1251']) {
    using file = openCorpus(`generated-hostile/names/${name}-no-flag.cbz`)
    await using archive = await openZip(file, defaultLimits)
    const records = archive.entries.map(({ name }) => name)
    t.match(records[0], name === 'gbk' ? '第一页 1.jpg' : 'страница 1.jpg')
  }
})

t.test('what is no ZIP is refused', async t => {
  using file = onDisk(t.testdir(), Buffer.from('<html></html>'))
  await t.rejects(openZip(file, defaultLimits), { code: 'not_an_archive' })
  using lost = openCorpus('klauspost__compress/test-baddirsz.cbz')
  await t.rejects(openZip(lost, defaultLimits), { code: 'bad_crc' })
})
