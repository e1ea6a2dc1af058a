// Entries from the end of a ZIP alone: those of the whole archive, or none.
import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { defaultLimits } from '../../../lib/archive/limits.ts'
import { entriesOfTail, openZip } from '../../../lib/archive/zip/zip.ts'
import { openBytes, zip, zipWithDirectory } from '../../kit/files/archives.ts'
import { createRandom } from '../../kit/random.ts'

const limits = defaultLimits
const tailOf = (bytes: Buffer, length: number) => bytes.subarray(Math.max(0, bytes.length - length))
const fromTail = (bytes: Buffer, length = 32 * 1024) =>
  entriesOfTail(tailOf(bytes, length), bytes.length, limits)

async function fromWhole(t: Test, bytes: Buffer) {
  using file = openBytes(t.testdir(), bytes)
  await using archive = await openZip(file, limits)
  return { entries: archive.entries, isDamaged: archive.warnings.length > 0 }
}

const sources = ['a.jpg', 'ページ.jpg', 'sub/b.png', 'c.webp'].map((name, i) => ({
  name,
  bytes: randomBytes(20_000 + i),
  deflate: i % 2 === 0,
}))

t.test('an archive without defects has the entries of the whole archive', async t => {
  for (const options of [{}, { zip64: true }, { descriptor: 'signed' as const }]) {
    const bytes = Buffer.from(zip(sources.map(source => ({ ...source, ...options }))))
    t.same(fromTail(bytes), (await fromWhole(t, bytes)).entries)
  }
})

t.test('what needs more of the file is left to a reader of all of it', async t => {
  const { bytes, directoryAt } = zipWithDirectory(sources)
  t.equal(fromTail(bytes, bytes.length - directoryAt - 1), null, 'the directory begins earlier')
  t.equal(fromTail(Buffer.concat([randomBytes(500), bytes])), null, 'a prefix')
  t.equal(fromTail(bytes.subarray(0, bytes.length - 40)), null, 'no end')
  const encrypted = zip(sources.map(source => ({ ...source, flags: 1 })))
  t.equal(fromTail(Buffer.from(encrypted)), null, 'encrypted')
})

t.test(
  'with any bytes changed in the directory, the entries are those of the whole archive or none',
  async t => {
    const random = createRandom(20261123)
    const { bytes, directoryAt } = zipWithDirectory(sources)
    let found = 0
    for (let round = 0; round < 300; round++) {
      const mutant = Buffer.from(bytes)
      for (let i = random.below(3); i >= 0; i--)
        mutant[directoryAt + random.below(bytes.length - directoryAt)] = random.below(256)
      const entries = fromTail(mutant)
      if (entries === null) continue
      found++
      const whole = await fromWhole(t, mutant)
      t.same(entries, whole.entries, `round ${round}`)
      t.equal(whole.isDamaged, false)
    }
    t.ok(found > 30, `${found} were found`)
  },
)
