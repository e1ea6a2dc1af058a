import { crc32 } from 'node:zlib'
import t from 'tap'
import { scoped } from '../../../../lib/base/async/dispose.ts'
import { Unreadable } from '../../../../lib/base/errors.ts'
import { defaultLimits } from '../../../../lib/media/archive/limits.ts'
import { openSevenZip } from '../../../../lib/media/archive/sevenzip/sevenzip.ts'
import { openBytes, openPath } from '../../../kit/files/archives.ts'
import { corpusBook, goldenFile, goldenPath, skipWithoutCorpus } from '../../../kit/files/corpus.ts'
import { storedSevenZip } from '../../../kit/files/stored-archives.ts'
import { use } from '../../../kit/use.ts'

function readAll(path: string): Promise<number> {
  return scoped(async use => {
    const archive = use(await openSevenZip(use(openPath(path)), defaultLimits))
    for (const entry of archive.entries) {
      const bytes = await archive.read(entry, 1e9)
      if (bytes.length !== entry.sizeBytes) throw new Error(entry.name)
    }
    return archive.entries.length
  })
}

t.test('LZMA and Deflate are unpacked', async t => {
  for (const name of ['lzma', 'deflate'])
    t.ok((await readAll(goldenPath(`7z/${name}.cb7`))) > 1, name)
})

t.test(
  'every method and filter that 7-Zip writes is unpacked, by checksum',
  { skip: skipWithoutCorpus(15) },
  async t => {
    const sharp = ['ARM64', 'BCJ2', 'LZMA', 'PPC', 'PPMd']
    for (const name of sharp)
      t.ok((await readAll(corpusBook(`adamhathcock__sharpcompress/7Zip.${name}.cb7`))) > 1, name)
    const others = [
      'bodgit__sevenzip/arm',
      'bodgit__sevenzip/sparc',
      'bodgit__sevenzip/delta',
      'bodgit__sevenzip/t1',
      'apache__commons-compress/LZMA2',
      'libarchive__libarchive/test_read_format_7zip_bcj2_copy_1',
      'libarchive__libarchive/test_read_format_7zip_deflate_powerpc',
      'libarchive__libarchive/test_read_format_7zip_lzma2_arm64',
      'libarchive__libarchive/test_read_format_7zip_zstd_nobcj',
      'libarchive__libarchive/test_read_format_7zip_extract_second',
    ]
    for (const name of others) t.ok((await readAll(corpusBook(`${name}.cb7`))) > 0, name)
  },
)

t.test('folders, links and devices are no entries', async t => {
  const unix = (mode: number) => ((mode << 16) | 0x8000) >>> 0
  const kinds: [name: string, attributes: number][] = [
    ['archived.jpg', 0x20],
    ['file.jpg', unix(0o100644)],
    ['folder', 0x10],
    ['junction', 0x400],
    ['symlink.jpg', unix(0o120777)],
    ['device.jpg', unix(0o020666)],
    ['last.jpg', unix(0o100755)],
  ]
  const files = kinds.map(([name, attributes]) => ({ name, attributes, bytes: Buffer.from(name) }))
  const archive = use(
    t,
    await openSevenZip(use(t, openBytes(t.testdir(), storedSevenZip(files))), defaultLimits),
  )
  const found = archive.entries.map(entry => entry.name)
  t.same(found, ['archived.jpg', 'file.jpg', 'last.jpg'])
  for (const entry of archive.entries)
    t.equal(Buffer.from(await archive.read(entry, 100)).toString(), entry.name, 'its own bytes')
})

t.test('a solid archive is read in any order', async t => {
  const file = use(t, openPath(goldenPath('7z/lzma.cb7')))
  const archive = use(t, await openSevenZip(file, defaultLimits))
  const forwards = []
  for (const entry of archive.entries) forwards.push(Buffer.from(await archive.read(entry, 1e6)))
  for (const index of [2, 0, 1]) {
    const entry = archive.entries[index]!
    t.same(Buffer.from(await archive.head(entry, 50)), forwards[index]!.subarray(0, 50))
    t.same(Buffer.from(await archive.read(entry, 1e6)), forwards[index])
  }
})

t.test('a truncated archive is named', async t => {
  const file = use(t, openPath(goldenPath('7z/truncated.cb7')))
  await t.rejects(openSevenZip(file, defaultLimits), { code: 'truncated' })
})

t.test('what cannot be read is named', { skip: skipWithoutCorpus(5) }, async t => {
  const refused: [string, string][] = [
    ['adamhathcock__sharpcompress/7Zip.LZMA.Aes.cb7', 'encrypted'],
    ['bodgit__sevenzip/t2.cb7', 'encrypted'],
    ['bodgit__sevenzip/multi.7z.001.cb7', 'truncated'],
    ['libarchive__libarchive/test_read_format_7zip_folders_oom.cb7', 'bad_crc'],
  ]
  for (const [path, code] of refused) {
    const file = use(t, openPath(corpusBook(path)))
    await t.rejects(openSevenZip(file, defaultLimits), { code }, path)
  }
  const lz4 = use(t, openPath(corpusBook('bodgit__sevenzip/lz4.cb7')))
  const archive = use(t, await openSevenZip(lz4, defaultLimits))
  await t.rejects(archive.read(archive.entries[0]!, 1e6), { code: 'unsupported_method' })
})

t.test(
  'files that are not encrypted are read beside those that are',
  { skip: skipWithoutCorpus(2) },
  async t => {
    const file = use(
      t,
      openPath(corpusBook('libarchive__libarchive/test_read_format_7zip_encryption_partially.cb7')),
    )
    const archive = use(t, await openSevenZip(file, defaultLimits))
    const [open, secret] = archive.entries
    t.equal((await archive.read(open!, 100)).length, 4)
    await t.rejects(archive.read(secret!, 100), { code: 'encrypted' })
  },
)

t.test('a header with wrong bytes and the right checksum is read or refused', async t => {
  const files = ['1.jpg', '2.jpg'].map(name => ({ name, bytes: Buffer.from(name) }))
  const archive = storedSevenZip(files)
  const at = 32 + archive.readUInt32LE(12)
  const folder = t.testdir()
  const codes = new Set<string>()
  const withHeader = (header: Buffer) => {
    const start = Buffer.from(archive.subarray(12, 32))
    start.writeUInt32LE(header.length, 8)
    start.writeUInt32LE(crc32(header), 16)
    const checksum = Buffer.alloc(4)
    checksum.writeUInt32LE(crc32(start))
    return Buffer.concat([
      archive.subarray(0, 8),
      checksum,
      start,
      archive.subarray(32, at),
      header,
    ])
  }
  const header = archive.subarray(at)
  const changed = [...header].flatMap((byte, i) =>
    [0, byte ^ 1, byte + 1, 0x7f, 0xff].map(value => {
      const bytes = Buffer.from(header)
      bytes[i] = value
      return bytes
    }),
  )
  const cut = [...header.keys()].map(i => header.subarray(0, i))
  for (const bytes of [...changed, ...cut]) {
    const file = openBytes(folder, withHeader(bytes))
    try {
      const { entries, read } = await openSevenZip(file, defaultLimits)
      t.ok(entries.length <= 2)
      for (const entry of entries) await read(entry, 1_000)
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      codes.add(error.code)
    } finally {
      file[Symbol.dispose]()
    }
  }
  t.same([...codes].sort(), ['bad_crc', 'too_large', 'truncated', 'unsupported_method'])
})

t.test('damaged data is found by its checksum', async t => {
  const bytes = goldenFile('7z/deflate.cb7')
  bytes[33]! ^= 1
  const file = use(t, openBytes(t.testdir(), bytes))
  const archive = use(t, await openSevenZip(file, defaultLimits))
  await t.rejects(archive.read(archive.entries[0]!, 1e6), { code: 'bad_crc' })
})
