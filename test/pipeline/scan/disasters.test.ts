// Faults of disks, folders and files, and the expected state of books.
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { libraryFamilies } from '../../../lib/store/metrics/libraries.ts'
import { createServices } from '../../../lib/store/services.ts'
import { openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'

const all = await openCatalog(t)
const { sql } = all
const check = testWithDoctor(t, all)
const shelf = (test: Test, files: Record<string, Buffer> = {}) =>
  createTestLibrary(test, all, files)
const four = () => ({
  'A/1.cbz': comic(),
  'A/2.cbz': comic(),
  'B/1.cbz': comic(),
  'B/2.cbz': comic(),
})
const present = (books: { missingAt: Date | null }[]) =>
  books.filter(b => b.missingAt === null).length

check('an unmounted root is unavailable, and no book of it is missing', async t => {
  const lib = await shelf(t, four())
  await lib.scan()
  renameSync(lib.root, `${lib.root} elsewhere`)
  const { state, message } = await lib.scan()
  t.equal(state, 'unavailable')
  t.match(message, /cannot be read \(ENOENT\); mount its disk, or correct the path/)
  t.equal(present(await lib.books()), 4)
  renameSync(`${lib.root} elsewhere`, lib.root)
  const again = await lib.scan()
  t.match(again, { state: 'completed', opens: 0, added: 0, missing: 0 })
})

check('an empty root is unavailable while the catalog holds its books', async t => {
  const lib = await shelf(t, four())
  await lib.scan()
  lib.remove('A')
  lib.remove('B')
  const scan = await lib.scan()
  t.equal(scan.state, 'unavailable')
  t.match(scan.message, /is empty.+ mount its disk and scan again$/)
  t.equal(present(await lib.books()), 4)
})

check('an empty folder of a new library is an empty library', async t => {
  const lib = await shelf(t)
  t.match(await lib.scan(), { state: 'completed', found: 0 })
})

check('a root on another disk without the books is unavailable', async t => {
  const shared = '/dev/shm'
  if (!existsSync(shared) || statSync(shared).dev === statSync(tmpdir()).dev) {
    t.comment('no second disk here: the stored device number is changed instead')
  }
  const lib = await shelf(t, four())
  await lib.scan()
  const other = mkdtempSync(join(existsSync(shared) ? shared : tmpdir(), 'stackroom-'))
  t.teardown(() => rmSync(other, { recursive: true }))
  writeFileSync(join(other, 'something else.cbz'), comic())
  if (statSync(other).dev === statSync(lib.root).dev) {
    await sql`update library set device = 'another' where id = ${lib.id}`
  }
  renameSync(lib.root, `${lib.root} elsewhere`)
  symlinkSync(other, lib.root)
  t.equal((await lib.scan()).state, 'unavailable')
  t.equal(present(await lib.books()), 4)
})

check('books below an unreadable folder are not missing', async t => {
  const lib = await shelf(t, { ...four(), 'A/deep/3.cbz': comic() })
  await lib.scan()
  chmodSync(lib.pathOf('A'), 0)
  const scan = await withoutPrivileges(t, () => lib.scan())
  chmodSync(lib.pathOf('A'), 0o755)
  if (!scan) return
  t.match(scan, { state: 'completed', missing: 0, unreadable_directories: 1 })
  t.match(scan.message, /^A folder or file could not be read; .+: A$/, 'in the status of the scan')
  const metric = (await libraryFamilies(createServices(sql))).find(
    m => m.name === 'library_unreadable_folders',
  )
  t.equal(metric!.values.find(({ labels }) => labels!.library === lib.id)?.value, 1)
  t.equal(present(await lib.books()), 5)
})

check('when many books are gone at once, none is missing until confirmed', async t => {
  const lib = await shelf(t, four())
  await lib.scan()
  lib.remove('B')
  const scan = await lib.scan()
  t.equal(scan.state, 'unconfirmed')
  t.match(scan.message, '2 of 4')
  t.equal(present(await lib.books()), 4)
  t.equal((await lib.scan()).state, 'unconfirmed', 'also the second time')
  t.match(await lib.scan({ options: { confirmMissing: true } }), { state: 'completed', missing: 2 })
  t.equal(present(await lib.books()), 2)
})

check('modification times may be in the future or before 1970', async t => {
  const lib = await shelf(t, four())
  utimesSync(lib.pathOf('A/1.cbz'), 4_102_444_800, 4_102_444_800)
  utimesSync(lib.pathOf('A/2.cbz'), 0, 0)
  const early = new Date(-1_000_000)
  utimesSync(lib.pathOf('B/1.cbz'), early, early)
  t.match(await lib.scan(), { added: 4 })
  t.match(await lib.scan(), { opens: 0, bytes_read: 0, changed: 0 })
  t.equal((await lib.books())[2]!.modified, -1_000_000)
})

check('circular links do not loop', async t => {
  const lib = await shelf(t, four())
  symlinkSync('.', lib.pathOf('A/again'))
  symlinkSync('itself.cbz', lib.pathOf('A/itself.cbz'))
  symlinkSync('1.cbz', lib.pathOf('A/link.cbz'))
  t.match(await lib.scan(), { state: 'completed', found: 4, added: 4 }, 'links are no books')
  await sql`update library set follow_links = true where id = ${lib.id}`
  t.match(await lib.scan(), { state: 'completed', found: 5, added: 1, unreadable_directories: 1 })
})

check('names that are not UTF-8 are stored as bytes', async t => {
  const folder = Buffer.from('S\xe9rie \xff', 'latin1')
  const name = Buffer.concat([folder, Buffer.from('/caf\xe9.cbz', 'latin1')])
  const lib = await shelf(t, { 'A/1.cbz': comic() })
  try {
    lib.write(name, comic())
  } catch {
    return t.comment('this file system requires UTF-8')
  }
  t.match(await lib.scan(), { added: 2, failed: {} })
  const book = (await lib.books())[1]!
  t.match(book, { folder: 'S\xe9rie \xff', name: 'caf\xe9.cbz', pages: 2, series: 'S\xe9rie \xff' })
  t.match(await lib.scan(), { opens: 0, added: 0, missing: 0 })
  const moved = Buffer.concat([folder, Buffer.from('/th\xe9.cbz', 'latin1')])
  lib.move(name, moved)
  t.match(await lib.scan(), { moved: 1, added: 0 })
  t.equal((await lib.book('th\xe9.cbz')).id, book.id)
  t.ok(readdirSync(lib.pathOf(folder)).length === 1)
})

check('an unreadable file keeps the metadata of its book, and recovers', async t => {
  const lib = await shelf(t, { 'A/1.cbz': comic({ pages: 3 }), 'A/2.cbz': comic() })
  await lib.scan()
  const before = await lib.book('1.cbz')
  chmodSync(lib.pathOf('A/1.cbz'), 0)
  utimesSync(lib.pathOf('A/1.cbz'), 1_000_000, 1_000_000)
  const scan = await withoutPrivileges(t, () => lib.scan())
  chmodSync(lib.pathOf('A/1.cbz'), 0o644)
  if (!scan) return
  t.match(scan, { state: 'completed', failed: { io: 1 } })
  t.match(await lib.book('1.cbz'), { id: before.id, error: 'io', pages: 3, title: before.title })
  await lib.scan()
  const { modified, ...facts } = before
  t.match(await lib.book('1.cbz'), { ...facts, error: null, modified: 1_000_000_000 })
})

check('a book whose file is damaged keeps its metadata and gets the new hash', async t => {
  const lib = await shelf(t, { 'A/1.cbz': comic({ pages: 3 }), 'A/2.cbz': comic() })
  await lib.scan()
  const before = await lib.book('1.cbz')
  lib.write('A/1.cbz', Buffer.from('this was a comic once'))
  lib.write('A/3.cbz', Buffer.from('this never was one'))
  t.match(await lib.scan(), { failed: { not_an_archive: 2 }, to_index: 2, to_cover: 0 })
  const after = await lib.book('1.cbz')
  t.match(after, { id: before.id, error: 'not_an_archive', pages: 3, title: before.title })
  t.ok(after.sha256 && after.sha256 !== before.sha256)
})

check('a file that is deleted before it is read becomes no book', async t => {
  const lib = await shelf(t, { 'A/1.cbz': comic(), 'A/2.cbz': comic() })
  await lib.scan()
  lib.write('A/3.cbz', comic())
  // As after a killed scan: discovered, not yet read.
  await sql`
    insert into pending_file (library_id, directory_id, name, size, modified_ms)
    select library_id, id, 'gone.cbz', 100, 0 from directory
    where library_id = ${lib.id} and path = 'A'`
  t.match(await lib.scan(), { state: 'completed', added: 1, failed: {} })
  t.same(
    (await lib.books()).map(b => b.name),
    ['1.cbz', '2.cbz', '3.cbz'],
  )
})

/** Runs `work` as an ordinary user, because root can read everything. Null if that is impossible. */
async function withoutPrivileges<T>(t: Test, work: () => Promise<T>): Promise<T | null> {
  if (process.geteuid?.() !== 0) return await work()
  process.seteuid!(65_534)
  try {
    readFileSync(join(import.meta.dirname, '..', '..', '..', 'pipeline', 'scan', 'walk-thread.ts'))
    return await work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    t.comment('only root can read this checkout')
    return null
  } finally {
    process.seteuid!(0)
  }
}
