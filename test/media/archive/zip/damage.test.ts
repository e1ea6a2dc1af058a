// Damaged ZIPs: bytes missing or inserted anywhere, cut tails, prefixes, nested archives. Every file that is
// whole is found and read, and no file of a nested archive is taken for one of the archive.
import t, { type Test } from 'tap'
import { scoped } from '../../../../lib/base/async/dispose.ts'
import { Unreadable } from '../../../../lib/base/errors.ts'
import { defaultLimits } from '../../../../lib/media/archive/limits.ts'
import { openZip } from '../../../../lib/media/archive/zip/zip.ts'
import { openBytes, zip, zipWithDirectory } from '../../../kit/files/archives.ts'
import { createRandom, type Random } from '../../../kit/random.ts'
import { use } from '../../../kit/use.ts'

const seeds = 8
const noise = (random: Random, length: number) =>
  Buffer.from(Array.from({ length }, () => random.below(256)))

type Page = { name: string; bytes: Buffer; from: number; to: number }
type Sample = { bytes: Buffer; directoryAt: number; pages: Page[] }

/** An archive of random files in all notations of sizes; some contain archives of their own. */
function sampleOf(random: Random, isNested: boolean): Sample {
  const inner = () => zip([1, 2].map(n => ({ name: `inner${n}.png`, bytes: noise(random, 300) })))
  const sources = Array.from({ length: 8 }, (_, i) => ({
    name: `${i}.png`,
    bytes: isNested && i % 3 === 2 ? inner() : noise(random, 200 + random.below(1500)),
    deflate: isNested ? i % 3 === 0 : random.chance(0.5),
    ...(random.chance(0.3) ? { descriptor: random.pick(['signed', 'plain'] as const) } : {}),
    ...(random.chance(0.2) ? { zip64: true } : {}),
  })).map(source => (source.zip64 ? { ...source, descriptor: undefined } : source)) as Parameters<
    typeof zip
  >[0][number][]
  const pages: Page[] = []
  let from = 0
  for (const [i, source] of sources.entries()) {
    const to = zipWithDirectory(sources.slice(0, i + 1)).directoryAt
    pages.push({ name: source.name as string, bytes: source.bytes as Buffer, from, to })
    from = to
  }
  return { ...zipWithDirectory(sources), pages }
}

type Reading = { names: string[]; intact: Set<string>; warnings: string[] }

function read(t: Test, bytes: Buffer, pages: Page[]): Promise<Reading> {
  return scoped(async use => {
    const archive = use(await openZip(use(openBytes(t.testdir(), bytes)), defaultLimits))
    const intact = new Set<string>()
    for (const entry of archive.entries) {
      try {
        const content = await archive.read(entry, 1e6)
        const original = pages.find(({ name }) => name === entry.name)
        if (original && Buffer.compare(content, original.bytes) === 0) intact.add(entry.name)
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error
      }
    }
    return { names: archive.entries.map(({ name }) => name), intact, warnings: archive.warnings }
  })
}

/** The pages without a changed byte between `from` and `to`. */
const untouched = (pages: Page[], from: number, to: number) =>
  pages.filter(page => page.to <= from || page.from >= to).map(({ name }) => name)

const cut = (bytes: Buffer, at: number, length: number) =>
  Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)])
const insert = (bytes: Buffer, at: number, added: Buffer) =>
  Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at)])

type Mutant = { bytes: Buffer; whole: string[] }

const mutations: Record<string, (sample: Sample, random: Random) => Mutant> = {
  'bytes missing before the directory'({ bytes, directoryAt, pages }, random) {
    const length = 1 + random.below(200)
    const at = random.below(directoryAt - length)
    return { bytes: cut(bytes, at, length), whole: untouched(pages, at, at + length) }
  },
  'bytes inserted before the directory'({ bytes, directoryAt, pages }, random) {
    const at = random.below(directoryAt)
    const added = noise(random, 1 + random.below(200))
    return { bytes: insert(bytes, at, added), whole: untouched(pages, at, at + 1) }
  },
  'bytes missing and inserted'({ bytes, pages }, random) {
    const [first, last] = [pages[1]!, pages[6]!]
    const added = insert(bytes, last.from + 60, noise(random, 1 + random.below(100)))
    const both = cut(added, first.from + 60, 1 + random.below(100))
    return { bytes: both, whole: pages.filter(p => p !== first && p !== last).map(p => p.name) }
  },
  'bytes missing in the directory'({ bytes, directoryAt, pages }, random) {
    const at = directoryAt + random.below(bytes.length - directoryAt - 22)
    const length = 1 + random.below(Math.min(100, bytes.length - 22 - at))
    return { bytes: cut(bytes, at, length), whole: pages.map(({ name }) => name) }
  },
  'bytes inserted in the directory'({ bytes, directoryAt, pages }, random) {
    const at = directoryAt + 1 + random.below(bytes.length - directoryAt - 23)
    const whole = pages.map(({ name }) => name)
    return { bytes: insert(bytes, at, noise(random, 1 + random.below(100))), whole }
  },
  'a cut tail'({ bytes, directoryAt, pages }, random) {
    const length = pages[1]!.to + random.below(bytes.length - pages[1]!.to - 1)
    const whole = length < directoryAt ? untouched(pages, length, bytes.length) : undefined
    return { bytes: bytes.subarray(0, length), whole: whole ?? pages.map(({ name }) => name) }
  },
}

for (const isNested of [false, true]) {
  for (const [what, mutate] of Object.entries(mutations)) {
    t.test(`${what}${isNested ? ', with nested archives' : ''}`, async t => {
      const problems: string[] = []
      for (let seed = 0; seed < seeds; seed += 1) {
        const random = createRandom(seed)
        const sample = sampleOf(random, isNested)
        const { bytes, whole } = mutate(sample, random)
        const { names, intact, warnings } = await read(t, bytes, sample.pages)
        const lost = whole.filter(name => !intact.has(name))
        if (lost.length > 0) problems.push(`${seed}: ${lost} of ${names} were lost`)
        if (names.some(name => name.startsWith('inner'))) problems.push(`${seed}: ${names}`)
        if (warnings.length === 0 && intact.size < 8) problems.push(`${seed}: no warning`)
      }
      t.same(problems, [])
    })
  }
}

t.test('a prefix is no damage, also one that is an archive', async t => {
  const random = createRandom(7)
  const { bytes, pages } = sampleOf(random, true)
  const program = Buffer.concat([Buffer.from('MZ'), noise(random, 100_000)])
  for (const prefix of [program, zip([{ name: 'other.png', bytes: noise(random, 50) }])]) {
    const reading = await read(t, Buffer.concat([prefix, bytes]), pages)
    t.equal(reading.intact.size, 8)
    t.same([reading.names.length, reading.warnings], [8, []])
  }
})

t.test('the end record of a nested archive is not used', async t => {
  const random = createRandom(8)
  const inner = zip([{ name: 'inner.png', bytes: noise(random, 500) }])
  const outer = [1, 2].map(n => ({ name: `${n}.png`, bytes: noise(random, 500) }))
  for (const descriptor of [undefined, 'signed', 'plain'] as const) {
    const nested = { name: 'extra.zip', bytes: inner, ...(descriptor && { descriptor }) }
    const { bytes, directoryAt } = zipWithDirectory([...outer, nested])
    const innerEnd = directoryAt - { signed: 16, plain: 12, none: 0 }[descriptor ?? 'none']
    for (const length of [
      innerEnd,
      innerEnd + 1,
      directoryAt,
      directoryAt + 30,
      bytes.length - 4,
    ]) {
      const file = use(t, openBytes(t.testdir(), bytes.subarray(0, length)))
      const archive = use(t, await openZip(file, defaultLimits))
      const names = archive.entries.map(({ name }) => name)
      t.ok(names.includes('1.png') && names.includes('2.png'), `${descriptor} ${length}: ${names}`)
      t.notOk(names.includes('inner.png'))
      t.equal(archive.damage?.code, 'truncated')
    }
  }
})

t.test('a changed disk number does not make a volume', async t => {
  const { bytes, pages } = sampleOf(createRandom(9), false)
  bytes[bytes.length - 18] = 3
  t.equal((await read(t, bytes, pages)).intact.size, 8)
})

t.test('a file of signatures costs a small multiple of its size', async t => {
  const header = Buffer.alloc(31)
  header.write('PK\x03\x04\x14', 'latin1')
  header[6] = 8
  header[26] = 1
  header.write('a', 30)
  const end = zip([]).subarray(-22)
  for (const unit of [header, Buffer.from('PK\x03\x04'), Buffer.from('PK')]) {
    const file = use(
      t,
      openBytes(t.testdir(), Buffer.concat([header, Buffer.alloc(3_000_000, unit), end])),
    )
    await openZip(file, { ...defaultLimits, entries: 1000 }).catch(() => null)
    t.ok(file.bytesRead < 64 * 1024 * 1024 * 2 + file.size * 8, `${file.bytesRead} bytes`)
  }
})
