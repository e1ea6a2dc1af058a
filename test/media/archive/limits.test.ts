// Limits of archives: numbers of entries and coders beyond those of old formats.
import t from 'tap'
import { defaultLimits } from '../../../lib/media/archive/limits.ts'
import { openSevenZip } from '../../../lib/media/archive/sevenzip/sevenzip.ts'
import { openZip } from '../../../lib/media/archive/zip/zip.ts'
import { openBytes, zip } from '../../kit/files/archives.ts'
import { filteredSevenZip } from '../../kit/files/stored-archives.ts'
import { use } from '../../kit/use.ts'

t.test('more entries than 16 bits count are listed in bounded memory', async t => {
  const count = 70_000
  const bytes = zip(
    Array.from({ length: count }, (_, i) => ({ name: `${i}.png`, bytes: Buffer.from([i & 255]) })),
  )
  const file = use(t, openBytes(t.testdir(), bytes))
  const archive = use(t, await openZip(file, defaultLimits))
  t.equal(archive.entries.length, count)
  t.same([...(await archive.read(archive.entries.at(-1)!, 10))], [(count - 1) & 255])
  await t.rejects(openZip(file, { ...defaultLimits, entries: count - 1 }), { code: 'too_large' })
})

t.test('chains of up to 32 coders are decoded', async t => {
  const content = Buffer.from(Array.from({ length: 2000 }, (_, i) => (i * 7) & 255))
  for (const filters of [1, 7, 8, 20, 31]) {
    const file = use(t, openBytes(t.testdir(), filteredSevenZip('1.png', content, filters)))
    const archive = use(t, await openSevenZip(file, defaultLimits))
    t.same(Buffer.from(await archive.read(archive.entries[0]!, 5000)), content, `${filters}`)
  }
  const file = use(t, openBytes(t.testdir(), filteredSevenZip('1.png', content, 32)))
  await t.rejects(openSevenZip(file, defaultLimits), { code: 'bad_crc' })
})
