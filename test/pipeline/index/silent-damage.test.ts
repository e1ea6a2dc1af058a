// Files whose bytes change without a new time: damage on disk, which a deep scan finds, or edits.
import { readFileSync, utimesSync } from 'node:fs'
import t from 'tap'
import { openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { png, tarEnd, tarEntry, zip } from '../../kit/files/archives.ts'
import { pdfOf, stream } from '../../kit/files/pdf.ts'
import { storedRar, storedSevenZip } from '../../kit/files/stored-archives.ts'
import { createTestLibrary, type TestLibrary } from '../../kit/library.ts'

const all = await openCatalog(t)
const { sql } = all
const check = testWithDoctor(t, all)

const files = (bytes: number, filler = 65) => [
  { name: '1.png', bytes: png(30) },
  { name: 'filler.bin', bytes: Buffer.alloc(bytes, filler) },
]
const archives: Record<string, (bytes: number, filler?: number) => Buffer> = {
  cbz: (bytes, filler) => zip(files(bytes, filler)),
  cbr: (bytes, filler) => storedRar(files(bytes, filler)),
  cb7: (bytes, filler) => storedSevenZip(files(bytes, filler)),
}
/** The fingerprint has samples at 16 and 64 KiB. */
const places = { sampled: 16 * 1024 + 100, notSampled: 50_000 }

function damage(lib: TestLibrary, path: string, at: number) {
  const bytes = readFileSync(lib.pathOf(path))
  bytes[at]! ^= 1
  lib.replaceSilently(path, bytes)
}

/** Archives of each format, damaged where the fingerprint has a sample and elsewhere; none has the content of another. */
const damaged = Object.entries(archives).flatMap(([format, make], i) =>
  Object.entries({ small: 40_000, large: 100_000 }).flatMap(([size, bytes], j) =>
    Object.entries(places)
      .filter(([, at]) => at <= bytes)
      .map(([place, at], k) => ({
        ...{ name: `${size} ${place}.${format}`, at },
        content: make(bytes, 10 + 4 * i + 2 * j + k),
      })),
  ),
)

check('archives that are damaged silently keep their hashes', async t => {
  const lib = await createTestLibrary(
    t,
    all,
    Object.fromEntries(damaged.map(({ name, content }) => [`A/${name}`, content])),
  )
  await lib.scan()
  const before = await lib.books()
  t.equal(before.length, 9)
  const rows = async () =>
    await sql<Row[]>`
    select id, convert_from(name, 'utf8') as name, encode(fingerprint, 'hex') as fingerprint,
      page_count, error_code, error_message, scan_id
    from book where library_id = ${lib.id} order by name`
  const known = new Map((await rows()).map(row => [row.id, row]))
  for (const { name, at } of damaged) damage(lib, `A/${name}`, at)
  t.match(await lib.scan(), { opens: 0 })
  for (const round of ['first', 'second']) {
    const scan = await lib.scan({ mode: 'deep' })
    t.match(scan, { state: 'completed', changed: 0, failed: { bad_crc: 9 } }, round)
    t.same(
      (await lib.books()).map(({ id, sha256 }) => [id, sha256]),
      before.map(({ id, sha256 }) => [id, sha256]),
      round,
    )
    for (const row of await rows())
      t.match(
        row,
        {
          fingerprint: known.get(row.id)!.fingerprint,
          page_count: 1,
          error_code: 'bad_crc',
          error_message: /^Damaged since it was last read, with an unchanged modification time: /,
          scan_id: scan.id,
        },
        `${row.name}, ${round}`,
      )
  }
  for (const { name, content } of damaged) lib.write(`A/${name}`, content)
  t.match(await lib.scan(), { changed: 0, failed: {} })
  const facts = ({ id, sha256, error, cover }: (typeof before)[number]) => [
    id,
    sha256,
    error,
    cover,
  ]
  t.same((await lib.books()).map(facts), before.map(facts))
})

type Row = Record<
  'id' | 'name' | 'fingerprint' | 'error_code' | 'error_message' | 'scan_id',
  string
> & {
  page_count: number
}

check('damage that is copied back with a new time is found again', async t => {
  const lib = await createTestLibrary(t, all, { 'A/1.cbz': archives.cbz!(100_000) })
  await lib.scan()
  const before = await lib.book('1.cbz')
  damage(lib, 'A/1.cbz', places.notSampled)
  t.match(await lib.scan({ mode: 'deep' }), { failed: { bad_crc: 1 } })
  utimesSync(lib.pathOf('A/1.cbz'), 1_000, 1_000)
  t.match(await lib.scan(), { failed: { bad_crc: 1 } })
  t.match(await lib.book('1.cbz'), { error: 'bad_crc', sha256: before.sha256 })
})

check('a sound file with other bytes is an edit, also without a new time', async t => {
  const lib = await createTestLibrary(t, all, { 'A/1.cbz': archives.cbz!(100_000) })
  await lib.scan()
  const before = await lib.book('1.cbz')
  // The time of a file in the central directory, at 12 of its header.
  const bytes = readFileSync(lib.pathOf('A/1.cbz'))
  bytes[bytes.indexOf('PK\x01\x02') + 12]! ^= 1
  lib.replaceSilently('A/1.cbz', bytes)
  t.match(await lib.scan({ mode: 'deep' }), { state: 'completed', changed: 1, failed: {} })
  const after = await lib.book('1.cbz')
  t.match(after, { id: before.id, error: null })
  t.not(after.sha256, before.sha256)
})

check('a file without checksums that changes silently has a warning', async t => {
  const pdf = pdfOf([
    '<</Type/Catalog/Pages 2 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 300]/Contents 5 0 R>>',
    stream('', Buffer.alloc(100_000, 65)),
    stream('', '0 0 100 100 re f'),
  ])
  const tar = Buffer.concat([...files(40_000).map(f => tarEntry(f.name, f.bytes)), tarEnd])
  const lib = await createTestLibrary(t, all, { 'A/large.pdf': pdf, 'A/small.cbt': tar })
  await lib.scan()
  const before = await lib.books()
  damage(lib, 'A/large.pdf', places.notSampled)
  damage(lib, 'A/small.cbt', 20_000)
  t.match(await lib.scan({ mode: 'deep' }), { changed: 2, failed: {} })
  const rows = await sql<{ warnings: string[] }[]>`
    select warnings from book where library_id = ${lib.id}`
  const warning = 'The content changed but its modification time did not; it may be damaged'
  t.same(
    rows.map(row => row.warnings),
    [[warning], [warning]],
  )
  for (const [i, book] of (await lib.books()).entries()) t.not(book.sha256, before[i]!.sha256)
})
