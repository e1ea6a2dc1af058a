// Locations of book files.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { unrestrictedViewer } from '../../../lib/accounts/viewer.ts'
import { NotFound } from '../../../lib/base/errors.ts'
import { newId } from '../../../lib/base/id.ts'
import { bookFile, packedPages, seriesFiles } from '../../../lib/catalog/book/book-file.ts'
import { unpackPages } from '../../../lib/page/page-list.ts'
import { openCatalog } from '../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'

const all = await openCatalog(t)
const invalidUtf8 = Buffer.from('S/\xff.cbz', 'latin1')
const lib = await createTestLibrary(t, all, { 'S/2.cbz': comic(), 'S/10.cbz': comic() })
lib.write(invalidUtf8, comic({ pages: 3 }))
await lib.scan()
const { sql } = all

const viewer = unrestrictedViewer(newId())
const { seriesId } = (await lib.books())[0]!

t.test('book files are found, including names that are not valid UTF-8', async t => {
  const files = await seriesFiles(sql, viewer, seriesId)
  t.same(
    files.map(file => file.name),
    ['2.cbz', '10.cbz', 'ÿ.cbz'],
    'books without a number come last',
  )
  for (const file of files) {
    t.equal(readFileSync(file.path).length, file.size)
    t.ok(file.root.equals(Buffer.from(lib.root)))
    t.match(file, { format: 'cbz', isMissing: false, errorCode: null })
  }
  t.same(await bookFile(sql, viewer, files[2]!.id), files[2])
  t.equal(unpackPages((await packedPages(sql, files[2]!.id))!).length, 3)
})

t.test('missing ids and hidden books are not found', async t => {
  await t.rejects(bookFile(sql, viewer, newId()), NotFound)
  t.same(await seriesFiles(sql, viewer, newId()), [])
  const [file] = await seriesFiles(sql, viewer, seriesId)
  const otherLibrary = { ...viewer, libraries: [newId()] }
  await t.rejects(bookFile(sql, otherLibrary, file!.id), NotFound)
  t.same(await seriesFiles(sql, otherLibrary, seriesId), [])
  t.equal(await packedPages(sql, newId()), null)
})
