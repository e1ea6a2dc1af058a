// The walk on unusual file systems: broken links, long paths, entries without a type.
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { containmentOf } from '../../../lib/base/containment.ts'
import { findEnclosingLibrary } from '../../../lib/catalog/library/library.ts'
import { fileAccess } from '../../../lib/catalog/library/library-root.ts'
import { findOrCreateLibrary } from '../../../lib/catalog/library/library-write.ts'
import { readUntyped } from '../../../pipeline/scan/disk.ts'
import { estimateScan } from '../../../pipeline/scan/estimate.ts'
import {
  discardPreparedWalk,
  type Listing,
  openWalk,
  prepareWalk,
} from '../../../pipeline/scan/walk.ts'
import { openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { folderWithFiles, temporaryFolder } from '../../kit/files/folders.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { use } from '../../kit/use.ts'

const otherDisk = join(temporaryFolder(t), 'disk')
const all = await openCatalog(t, { 'filesystem.roots': otherDisk })
const { sql } = all
const check = testWithDoctor(t, all)
const shelf = (test: Test, files: Record<string, Buffer> = {}) =>
  createTestLibrary(test, all, files)

check('a linked book whose disk is unavailable is not missing', async t => {
  mkdirSync(otherDisk)
  writeFileSync(join(otherDisk, '2.cbz'), comic())
  writeFileSync(join(otherDisk, 'metadata.opf'), '<package/>')
  const lib = await shelf(t, { 'A/1.cbz': comic() })
  await sql`update library set follow_links = true where id = ${lib.id}`
  for (const name of ['2.cbz', 'metadata.opf'])
    symlinkSync(join(otherDisk, name), lib.pathOf(`A/${name}`))
  t.match(await lib.scan(), { added: 2, unreadable_directories: 0 })
  rmSync(otherDisk, { recursive: true })
  for (let i = 0; i < 2; i++) {
    const scan = await lib.scan()
    t.match(scan, { state: 'completed', missing: 0, to_index: 0, unreadable_directories: 2 })
  }
  lib.remove('A/2.cbz')
  const options = { confirmMissing: true }
  t.match(await lib.scan({ options }), { missing: 1, unreadable_directories: 1 })
})

check('entries without a type are looked up with stat', async t => {
  const root = Buffer.from(`${temporaryFolder(t)}/`)
  const path = (name: string) => Buffer.concat([root, Buffer.from(name, 'latin1')])
  try {
    mkdirSync(path('caf\xe9'))
  } catch {
    return t.comment('this file system requires UTF-8')
  }
  symlinkSync('nowhere', path('link\xff'))
  symlinkSync('caf\xe9', path('linked'))
  const typed = readdirSync(root, { withFileTypes: true, encoding: 'latin1' })
  const kinds = (entries: Pick<(typeof typed)[number], 'name' | 'isDirectory' | 'isFile'>[]) =>
    entries.map(e => [e.name, e.isDirectory(), e.isFile()])
  t.same(kinds(readUntyped(root)), kinds(typed))
})

check('a path that is too long for an index is scanned', async t => {
  const lib = await shelf(t, { 'A/1.cbz': comic() })
  const deep = Array.from({ length: 12 }, () => randomBytes(180).toString('base64url')).join('/')
  lib.write(`${deep}/1.cbz`, comic())
  t.match(await lib.scan(), { state: 'completed', added: 2, failed: {} })
  t.match(await lib.scan(), { state: 'completed', to_index: 0, missing: 0 })
})

check('all books below a missing folder are missing, also in an estimate', async t => {
  const lib = await shelf(t, { 'A/1.cbz': comic(), 'B/1.cbz': comic(), 'B/deep/er/2.cbz': comic() })
  await lib.scan()
  lib.remove('B')
  const library = await findEnclosingLibrary(sql, Buffer.from(lib.root))
  const path = Buffer.from(lib.root)
  t.match(
    await estimateScan(sql, {
      library,
      path,
      access: fileAccess(all.config),
      ioDepth: 0,
      mode: 'normal',
    }),
    { missing: 2, files: 0 },
  )
  t.match(await lib.scan({ options: { confirmMissing: true } }), { missing: 2 })
})

check('unusual characters in names are stored', async t => {
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`A/${i}.txt`, comic()]))
  const lib = await shelf(t, { ...files, 'A/it\'s \\ {"odd"}.cbz': comic(), 'A/a,b.cbz': comic() })
  t.match(await lib.scan(), { added: 2 })
  lib.remove('A/it\'s \\ {"odd"}.cbz')
  t.match(await lib.scan(), { state: 'completed', missing: 1 })
})

check('concurrent requests to add a folder create one library', async t => {
  const root = Buffer.from(folderWithFiles(t, { 'A/1.cbz': comic() }))
  const libraries = await Promise.all([
    findOrCreateLibrary(sql, { root }),
    findOrCreateLibrary(sql, { root }),
  ])
  t.equal(libraries[0].id, libraries[1].id)
  const inside = Buffer.concat([root, Buffer.from('/A')])
  t.match(await findEnclosingLibrary(sql, inside), { id: libraries[0].id })
})

check('calls in flight find the same as one after the other', async t => {
  const lib = await shelf(t, { '0.cbz': comic(), 'A/metadata.opf': Buffer.from('<package/>') })
  for (const folder of ['A', 'A/deep/er', 'Ä', 'B'])
    for (let i = 0; i < 30; i++) lib.write(`${folder}/ü ${i}.cbz`, Buffer.alloc(i))
  mkdirSync(lib.pathOf('A/folder.cbz'))
  symlinkSync('nowhere', lib.pathOf('A/broken.cbz'))
  symlinkSync('1.cbz', lib.pathOf('B/circular.cbz'))
  symlinkSync('circular.cbz', lib.pathOf('B/1.cbz'))
  symlinkSync('../0.cbz', lib.pathOf('B/linked.cbz'))
  symlinkSync('../A', lib.pathOf('B/linked.zip'))
  symlinkSync('/dev/null', lib.pathOf('B/device.cbz'))
  const root = Buffer.from(lib.root)
  const listings = async (ioDepth: number, followLinks: boolean, expectedFiles = 0) => {
    const containment = containmentOf(fileAccess(all.config), { root, followLinks })
    const rules = { extensions: ['cbz', 'zip'], excludedPatterns: '', seed: '', quietMs: 0 }
    const found: Listing[] = []
    const options = { ...rules, root, containment, starts: ['B/gone.cbz', 'A', ''], ioDepth }
    const walk = use(t, openWalk(options, expectedFiles))
    for await (const batch of walk.batches(() => false)) found.push(...batch)
    return found.sort((a, b) => (a.path < b.path ? -1 : 1))
  }
  for (const followLinks of [false, true]) {
    const expected = await listings(1, followLinks)
    t.equal(expected.length, 7)
    t.equal(expected.find(({ path }) => path === 'B')!.files.length, followLinks ? 31 : 30)
    for (const depth of [0, 2, 16]) t.same(await listings(depth, followLinks), expected)
    prepareWalk()
    t.same(await listings(0, followLinks, 1_000_000), expected, 'in threads that were prepared')
    t.same(await listings(0, followLinks, 1_000_000), expected, 'in all threads from the start')
    prepareWalk()
    discardPreparedWalk()
  }
})

check('a walk that is left while a thread has a result does not end the process', async t => {
  const lib = await shelf(t, { 'A/1.cbz': comic(), 'B/2.cbz': comic() })
  const root = Buffer.from(lib.root)
  const containment = containmentOf(fileAccess(all.config), { root, followLinks: false })
  const rules = { extensions: ['cbz'], excludedPatterns: '', seed: '', quietMs: 0, ioDepth: 0 }
  for (let i = 0; i < 5; i++) {
    const walk = use(t, openWalk({ ...rules, root, containment, starts: [''] }))
    for await (const batch of walk.batches(() => false)) {
      t.equal(batch.length, 1)
      // The threads read the subfolders meanwhile.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
      break
    }
  }
})
