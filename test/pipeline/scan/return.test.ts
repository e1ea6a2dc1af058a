// Folders and files that leave their path and return.
import { renameSync } from 'node:fs'
import { dirname } from 'node:path'
import t, { type Test } from 'tap'
import { openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { comic, createTestLibrary, type TestLibrary } from '../../kit/library.ts'

const all = await openCatalog(t)
const check = testWithDoctor(t, all)
const shelf = (test: Test, files: Record<string, Buffer> = {}) =>
  createTestLibrary(test, all, files)
const series = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      [`S${i + 1}/1.cbz`, comic()],
      [`S${i + 1}/2.cbz`, comic()],
    ]).flat(),
  )

/** Ids of the present books by their paths. */
async function places(lib: TestLibrary) {
  const present = (await lib.books()).filter(book => book.missingAt === null)
  return Object.fromEntries(present.map(book => [`${book.folder}/${book.name}`, book.id]))
}

check('a renamed folder that gets its old name back keeps its books', async t => {
  const lib = await shelf(t, series(5))
  await lib.scan()
  const before = await places(lib)
  lib.move('S3', 'S3 (2012)')
  t.match(await lib.scan(), { state: 'completed', moved: 2 })
  lib.move('S3 (2012)', 'S3')
  t.match(await lib.scan(), { state: 'completed', moved: 2, missing: 0, message: null })
  t.same(await places(lib), before)
})

check('all series go into a folder and come back', async t => {
  const lib = await shelf(t, series(4))
  await lib.scan()
  const before = await places(lib)
  for (const name of ['S1', 'S2', 'S3', 'S4']) lib.move(name, `All/${name}`)
  t.match(await lib.scan(), { state: 'completed', moved: 8 })
  for (const name of ['S1', 'S2', 'S3', 'S4']) lib.move(`All/${name}`, name)
  t.match(await lib.scan(), { state: 'completed', moved: 8, missing: 0, message: null })
  t.same(await places(lib), before)
})

check('the root of a library is corrected twice', async t => {
  const lib = await shelf(t, series(4))
  const setRoot = (path: string) =>
    all.sql`update library set root = ${Buffer.from(path)}, device = null where id = ${lib.id}`
  await lib.scan()
  const before = await places(lib)
  await setRoot(dirname(lib.root))
  t.match(await lib.scan(), { state: 'completed', moved: 8 })
  await setRoot(lib.root)
  t.match(await lib.scan(), { state: 'completed', moved: 8, missing: 0, message: null })
  t.same(await places(lib), before)
})

check('a file comes back to a folder that no scan looked at meanwhile', async t => {
  const lib = await shelf(t, series(4))
  await lib.scan()
  const before = await places(lib)
  lib.move('S1/1.cbz', 'S2/9.cbz')
  t.match(await lib.scan({ paths: ['S2'] }), { moved: 1 })
  lib.move('S2/9.cbz', 'S1/1.cbz')
  t.match(await lib.scan(), { state: 'completed', moved: 1, missing: 0 })
  t.same(await places(lib), before)
})

check('a file comes back from another library before its own is scanned', async t => {
  const lib = await shelf(t, series(4))
  const other = await shelf(t, { 'T1/1.cbz': comic() })
  await lib.scan()
  await other.scan()
  const before = await places(lib)
  renameSync(lib.pathOf('S1/1.cbz'), other.pathOf('T1/2.cbz'))
  t.match(await other.scan(), { moved: 1 })
  renameSync(other.pathOf('T1/2.cbz'), lib.pathOf('S1/1.cbz'))
  t.match(await lib.scan(), { state: 'completed', moved: 1, missing: 0 })
  t.same(await places(lib), before)
  t.match(await other.scan(), { state: 'completed', missing: 0 })
})

check('a copy in another library is a new book while a corrected root is not scanned', async t => {
  const bytes = comic()
  const lib = await shelf(t, { 'S1/1.cbz': bytes, 'S1/2.cbz': comic() })
  const other = await shelf(t, { 'T1/1.cbz': comic() })
  for (const { scan } of [lib, other]) await scan()
  const before = await places(lib)
  await all.sql`
    update library set root = ${Buffer.from(dirname(lib.root))}, device = null where id = ${lib.id}`
  other.write('T1/2.cbz', bytes)
  t.match(await other.scan(), { added: 1, moved: 0 })
  t.match(await lib.scan(), { state: 'completed', moved: 2 })
  t.same(Object.values(await places(lib)), Object.values(before))
})
