import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { scoped } from '../../../../lib/base/async/dispose.ts'
import { Unreadable } from '../../../../lib/base/errors.ts'
import { defaultLimits } from '../../../../lib/media/archive/limits.ts'
import { openRar } from '../../../../lib/media/archive/rar/rar.ts'
import { openBytes, openPath } from '../../../kit/files/archives.ts'
import { corpusBook, corpusPath, goldenPath, skipWithoutCorpus } from '../../../kit/files/corpus.ts'
import { storedRar } from '../../../kit/files/stored-archives.ts'
import { use } from '../../../kit/use.ts'

const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex').slice(0, 8)
const contents = (path: string) =>
  scoped(async use => {
    const archive = use(await openRar(use(openPath(path)), defaultLimits))
    const found: [string, string][] = []
    for (const entry of archive.entries)
      found.push([entry.name, sha(await archive.read(entry, 1e9))])
    return found
  })

t.test('all RAR versions unpack to the same files', { skip: skipWithoutCorpus(5) }, async t => {
  for (const name of ['Rar2', 'Rar.none', 'Rar5', 'Rar5.comment', 'Rar5.solid'])
    t.same(
      new Map(await contents(corpusBook(`adamhathcock__sharpcompress/${name}.cbr`))),
      new Map([
        ['exe/test.exe', '85579288'],
        ['jpg/test.jpg', 'b251c750'],
        ['тест.txt', '4d581d93'],
      ]),
      name,
    )
})

t.test(
  'entries of solid RAR 4 archives are read in any order',
  { skip: skipWithoutCorpus(10) },
  async t => {
    const file = use(t, openPath(corpusBook('gotson__komga/rar4-solid.cbr')))
    const archive = use(t, await openRar(file, defaultLimits))
    for (const index of [2, 0, 1, 1, 2]) {
      const entry = archive.entries[index]!
      t.equal((await archive.head(entry, 100)).length, 100)
      t.equal(sha(await archive.read(entry, 1e6)), '514f3866')
    }
  },
)

t.test(
  'PPMd blocks and long matches of RAR 4 are unpacked',
  { skip: skipWithoutCorpus(3) },
  async t => {
    const path = corpusBook('libarchive__libarchive/test_read_format_rar_ppmd_lzss_conversion.cbr')
    t.equal((await contents(path)).length, 1)
    t.same((await contents(corpusBook('ssokolow__rar-test-files/testfile.rar3.rr.cbr')))[0], [
      'testfile.jpg',
      'e5142325',
    ])
    t.equal(
      (
        await contents(
          corpusBook('libarchive__libarchive/test_read_format_rar_multi_lzss_blocks.cbr'),
        )
      ).length,
      1,
    )
  },
)

t.test('a block with wrong bytes and the right checksum is read or refused', async t => {
  const archive = storedRar(['1.jpg', '2.jpg'].map(name => ({ name, bytes: Buffer.from(name) })))
  const folder = t.testdir()
  const codes = new Set<string>()
  // The headers of the archive, of the first file with its data, and of the second file.
  for (let block = 8, count = 0; count < 3; count += 1) {
    const [from, end] = [block + 5, block + 5 + archive[block + 4]!]
    for (let at = from; at < end; at += 1)
      for (const value of [0, archive[at]! ^ 1, archive[at]! + 1, 0x7f, 0xff]) {
        const bytes = Buffer.from(archive)
        bytes[at] = value
        bytes.writeUInt32LE(crc32(bytes.subarray(block + 4, end)), block)
        const file = openBytes(folder, bytes)
        try {
          const { entries, read } = await openRar(file, defaultLimits)
          t.ok(entries.length <= 2)
          for (const entry of entries) await read(entry, 1_000)
        } catch (error) {
          if (!(error instanceof Unreadable)) throw error
          codes.add(error.code)
        } finally {
          file[Symbol.dispose]()
        }
      }
    block = count === 0 ? end : end + 5
  }
  t.same([...codes].sort(), ['bad_crc', 'multi_volume', 'truncated'])
})

t.test('names are decoded', async t => {
  const rar5 = await contents(goldenPath('rar/rar5-unicode.cbr'))
  t.equal(rar5[0]![0], '日本語/ページ1.jpg')
  const path = corpusPath('library/libarchive__libarchive/test_read_format_rar_unicode.cbr')
  if (path === null) return
  const rar4 = await contents(path)
  t.match(
    rar4.map(([name]) => name),
    ['表だよ/新しいフォルダ/新規テキスト ドキュメント.txt'],
  )
})

t.test(
  'stored files are read without reading the whole archive',
  { skip: skipWithoutCorpus(1) },
  async t => {
    const file = use(t, openPath(corpusBook('generated-wrapped/small/jpeg-rar5.cbr')))
    const archive = use(t, await openRar(file, defaultLimits))
    for (const entry of archive.entries) await archive.head(entry, 4096)
    t.ok(file.bytesRead < 20_000, `${file.bytesRead} bytes`)
  },
)

t.test('self-extracting archives are read', { skip: skipWithoutCorpus(4) }, async t => {
  const names = [
    'libarchive__libarchive/test_read_format_rar5_sfx',
    'ssokolow__rar-test-files/testfile.rar3.dos_sfx',
    'ssokolow__rar-test-files/testfile.rar5.wincon.sfx',
  ]
  for (const name of names) {
    const files = await contents(corpusBook(`${name}.cbr`))
    t.ok(files.length > 0, `${name}: ${files.length} files`)
  }
})

t.test('unreadable archives are reported with a code', { skip: skipWithoutCorpus(6) }, async t => {
  const refused: [string, string][] = [
    ['gotson__komga/rar5-encrypted.cbr', 'encrypted'],
    ['markokr__rarfile/rar5-psw-blake.cbr', 'encrypted'],
    ['markokr__rarfile/rar3-comment-hpsw.cbr', 'encrypted'],
    ['markokr__rarfile/rar3-old.cbr', 'multi_volume'],
    ['markokr__rarfile/rar5-vols.part2.cbr', 'multi_volume'],
    ['libarchive__libarchive/test_read_format_rar5_leftshift1.cbr', 'bad_crc'],
  ]
  for (const [path, code] of refused) {
    const file = use(t, openPath(corpusBook(path)))
    await t.rejects(openRar(file, defaultLimits), { code }, path)
  }
})

t.test(
  'a solid archive above the size limit is not unpacked',
  { skip: skipWithoutCorpus(1) },
  async t => {
    const file = use(t, openPath(corpusBook('adamhathcock__sharpcompress/Rar5.solid.cbr')))
    const archive = use(t, await openRar(file, { ...defaultLimits, solidBytes: 50_000 }))
    await t.rejects(archive.head(archive.entries[0]!, 10), { code: 'too_large' })
  },
)
