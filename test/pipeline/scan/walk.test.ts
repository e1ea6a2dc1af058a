// What the walk makes of odd file systems: links that lead nowhere, long paths, entries without a type.
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createLibrary, libraryAround } from '../../../lib/catalog/library/library.ts'
import { readUntyped } from '../../../pipeline/scan/disk.ts'
import { estimateScan } from '../../../pipeline/scan/estimate.ts'
import { catalogue, checkedBy, comic, folderOf, shelve, temporary } from '../../kit/library.ts'

const all = await catalogue(t)
const { sql } = all
const check = checkedBy(t, all)
const shelf = (test: Test, files: Record<string, Buffer> = {}) => shelve(test, all, files)

check('a linked book whose disk is away is no missing book', async t => {
  const away = folderOf(t, { '2.cbz': comic(), 'metadata.opf': Buffer.from('<package/>') })
  const lib = await shelf(t, { 'A/1.cbz': comic() })
  for (const name of ['2.cbz', 'metadata.opf']) symlinkSync(join(away, name), lib.at(`A/${name}`))
  t.match(await lib.scan(), { added: 2, unreadable_directories: 0 })
  rmSync(away, { recursive: true })
  for (let i = 0; i < 2; i++) {
    const scan = await lib.scan()
    t.match(scan, { state: 'completed', missing: 0, to_index: 0, unreadable_directories: 2 })
  }
  lib.remove('A/2.cbz')
  const options = { confirmMissing: true }
  t.match(await lib.scan({ options }), { missing: 1, unreadable_directories: 1 })
})

check('entries whose type the file system does not tell are looked at', async t => {
  const root = Buffer.from(`${temporary(t)}/`)
  const path = (name: string) => Buffer.concat([root, Buffer.from(name, 'latin1')])
  try {
    mkdirSync(path('caf\xe9'))
  } catch {
    return t.comment('this file system takes only UTF-8')
  }
  symlinkSync('nowhere', path('link\xff'))
  symlinkSync('caf\xe9', path('linked'))
  const typed = readdirSync(root, { withFileTypes: true, encoding: 'latin1' })
  const kinds = (entries: Pick<(typeof typed)[number], 'name' | 'isDirectory' | 'isFile'>[]) =>
    entries.map(e => [e.name, e.isDirectory(), e.isFile()])
  t.same(kinds(readUntyped(root)), kinds(typed))
})

check('a path longer than an index takes is scanned like any other', async t => {
  const lib = await shelf(t, { 'A/1.cbz': comic() })
  const deep = Array.from({ length: 12 }, () => randomBytes(180).toString('base64url')).join('/')
  lib.write(`${deep}/1.cbz`, comic())
  t.match(await lib.scan(), { state: 'completed', added: 2, failed: {} })
  t.match(await lib.scan(), { state: 'completed', to_index: 0, missing: 0 })
})

check('a folder that is gone takes all below it along, also when only asked', async t => {
  const lib = await shelf(t, { 'A/1.cbz': comic(), 'B/1.cbz': comic(), 'B/deep/er/2.cbz': comic() })
  await lib.scan()
  lib.remove('B')
  const library = await libraryAround(sql, Buffer.from(lib.root))
  const path = Buffer.from(lib.root)
  t.match(await estimateScan(sql, { library, path, mode: 'normal' }), { missing: 2, files: 0 })
  t.match(await lib.scan({ options: { confirmMissing: true } }), { missing: 2 })
})

check('one folder of many files is one batch', async t => {
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`A/${i}.txt`, comic()]))
  const lib = await shelf(t, { ...files, 'A/it\'s \\ {"odd"}.cbz': comic(), 'A/a,b.cbz': comic() })
  t.match(await lib.scan(), { added: 2 })
  lib.remove('A/it\'s \\ {"odd"}.cbz')
  t.match(await lib.scan(), { state: 'completed', missing: 1 })
})

check('two that add one folder at once get one library', async t => {
  const root = Buffer.from(folderOf(t, { 'A/1.cbz': comic() }))
  const made = await Promise.all([createLibrary(sql, { root }), createLibrary(sql, { root })])
  t.equal(made[0].id, made[1].id)
  const inside = Buffer.concat([root, Buffer.from('/A')])
  t.match(await libraryAround(sql, inside), { id: made[0].id })
})
