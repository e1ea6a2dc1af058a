import { createHash } from 'node:crypto'
import t from 'tap'
import { openRar } from '../../../lib/archive/rar/rar.ts'
import { defaultLimits } from '../../../lib/format/contract.ts'
import { openCorpus } from '../archive-files.ts'

const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex').slice(0, 8)
const contents = async (path: string) => {
  using file = openCorpus(path)
  await using archive = await openRar(file, defaultLimits)
  const found: [string, string][] = []
  for (const entry of archive.entries) found.push([entry.name, sha(await archive.read(entry, 1e9))])
  return found
}

t.test('all generations unpack to the same files', async t => {
  for (const name of ['Rar2', 'Rar.none', 'Rar5', 'Rar5.comment', 'Rar5.solid'])
    t.same(
      new Map(await contents(`adamhathcock__sharpcompress/${name}.cbr`)),
      new Map([
        ['exe/test.exe', '85579288'],
        ['jpg/test.jpg', 'b251c750'],
        ['тест.txt', '4d581d93'],
      ]),
      name,
    )
})

t.test('solid archives of RAR 4 are unpacked in any order', async t => {
  using file = openCorpus('gotson__komga/rar4-solid.cbr')
  await using archive = await openRar(file, defaultLimits)
  for (const index of [2, 0, 1, 1, 2]) {
    const entry = archive.entries[index]!
    t.equal((await archive.head(entry, 100)).length, 100)
    t.equal(sha(await archive.read(entry, 1e6)), '514f3866')
  }
})

t.test('text blocks and long runs of RAR 4 are unpacked', async t => {
  const path = 'libarchive__libarchive/test_read_format_rar_ppmd_lzss_conversion.cbr'
  t.equal((await contents(path)).length, 1)
  t.same((await contents('ssokolow__rar-test-files/testfile.rar3.rr.cbr'))[0], [
    'testfile.jpg',
    'e5142325',
  ])
  t.equal(
    (await contents('libarchive__libarchive/test_read_format_rar_multi_lzss_blocks.cbr')).length,
    1,
  )
})

t.test('names are decoded', async t => {
  const rar4 = await contents('libarchive__libarchive/test_read_format_rar_unicode.cbr')
  t.match(
    rar4.map(([name]) => name),
    ['表だよ/新しいフォルダ/新規テキスト ドキュメント.txt'],
  )
  const rar5 = await contents('generated-hostile/rar/rar5-unicode.cbr')
  t.equal(rar5[0]![0], '日本語/ページ1.jpg')
})

t.test('stored files are read in place', async t => {
  using file = openCorpus('generated-wrapped/small/jpeg-rar5.cbr')
  await using archive = await openRar(file, defaultLimits)
  for (const entry of archive.entries) await archive.head(entry, 4096)
  t.ok(file.bytesRead < 20_000, `${file.bytesRead} bytes`)
})

t.test('what cannot be read is named', async t => {
  const refused: [string, string][] = [
    ['gotson__komga/rar5-encrypted.cbr', 'encrypted'],
    ['markokr__rarfile/rar5-psw-blake.cbr', 'encrypted'],
    ['markokr__rarfile/rar3-comment-hpsw.cbr', 'encrypted'],
    ['markokr__rarfile/rar3-old.cbr', 'multi_volume'],
    ['markokr__rarfile/rar5-vols.part2.cbr', 'multi_volume'],
    ['libarchive__libarchive/test_read_format_rar5_sfx.cbr', 'not_an_archive'],
    ['libarchive__libarchive/test_read_format_rar5_leftshift1.cbr', 'bad_crc'],
  ]
  for (const [path, code] of refused) {
    using file = openCorpus(path)
    await t.rejects(openRar(file, defaultLimits), { code }, path)
  }
})

t.test('a solid archive beyond the limit is not unpacked', async t => {
  using file = openCorpus('adamhathcock__sharpcompress/Rar5.solid.cbr')
  await using archive = await openRar(file, { ...defaultLimits, solidBytes: 50_000 })
  await t.rejects(archive.head(archive.entries[0]!, 10), { code: 'too_large' })
})
