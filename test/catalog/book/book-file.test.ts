import { readFileSync } from 'node:fs'
import t from 'tap'
import type { Viewer } from '../../../lib/auth/viewer.ts'
import { bookFile, packedPages, seriesFiles } from '../../../lib/catalog/book/book-file.ts'
import { NotFound } from '../../../lib/errors.ts'
import { newId } from '../../../lib/id.ts'
import { unpackPages } from '../../../lib/page/page-list.ts'
import { catalogue, comic, shelve } from '../../kit/library.ts'

const all = await catalogue(t)
const odd = Buffer.from('S/\xff.cbz', 'latin1')
const lib = await shelve(t, all, { 'S/2.cbz': comic(), 'S/10.cbz': comic() })
lib.write(odd, comic({ pages: 3 }))
await lib.scan()
const { sql } = all

const viewer: Viewer = {
  accountId: newId(),
  libraries: null,
  allowedTags: [],
  deniedTags: [],
  ageLimit: null,
  showsUnrated: true,
}
const { seriesId } = (await lib.books())[0]!

t.test('the file of a book is where the catalogue says, whatever its name is made of', async t => {
  const files = await seriesFiles(sql, viewer, seriesId)
  t.same(
    files.map(file => file.name),
    ['2.cbz', '10.cbz', 'ÿ.cbz'],
    'what has no number comes last',
  )
  for (const file of files) {
    t.equal(readFileSync(file.path).length, file.size)
    t.ok(file.root.equals(Buffer.from(lib.root)))
    t.match(file, { format: 'cbz', isMissing: false, errorCode: null })
  }
  t.same(await bookFile(sql, viewer, files[2]!.id), files[2])
  t.equal(unpackPages((await packedPages(sql, files[2]!.id))!).length, 3)
})

t.test('what is not there, or not to be seen, is not found', async t => {
  await t.rejects(bookFile(sql, viewer, newId()), NotFound)
  t.same(await seriesFiles(sql, viewer, newId()), [])
  const [file] = await seriesFiles(sql, viewer, seriesId)
  const elsewhere = { ...viewer, libraries: [newId()] }
  await t.rejects(bookFile(sql, elsewhere, file!.id), NotFound)
  t.same(await seriesFiles(sql, elsewhere, seriesId), [])
  t.equal(await packedPages(sql, newId()), null)
})
