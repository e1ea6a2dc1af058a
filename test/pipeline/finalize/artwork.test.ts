// Local artwork: images beside the books are the covers of books and series, and scans follow them.
import { utimesSync } from 'node:fs'
import sharp from 'sharp'
import t from 'tap'
import { png } from '../../kit/files/archives.ts'
import { comic, createTestLibrary, type TestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

const all = await startApi(t)
const { sql } = all
const admin = await all.createUser('admin')

/** Width of a cover in pixels: pages are 30 or 31 pixels wide, each image beside the book has another width. */
async function width(path: string) {
  const { bytes } = await admin.get(`${path}/thumbnail`)
  return (await sharp(bytes).metadata()).width
}
const bookWidth = async (lib: TestLibrary, name: string) =>
  width(`/books/${(await lib.book(name)).id}`)
const seriesWidth = async (lib: TestLibrary, name: string) =>
  width(`/series/${(await lib.book(name)).seriesId}`)
const opens = async (lib: TestLibrary) => (await lib.scan()).to_index

t.test(
  'an image of the name of a book is its cover, that of a folder the cover of its series',
  async t => {
    const lib = await createTestLibrary(t, all, {
      'Row/1.cbz': comic(),
      'Row/2.cbz': comic(),
      'Row/2.jpg': png(40),
      'Row/other.jpg': png(41),
      'Deep/Volume 1/3.cbz': comic(),
      'Deep/Volume 1/folder.png': png(42),
    })
    await lib.scan()
    t.equal(await bookWidth(lib, '1.cbz'), 30)
    t.equal(await bookWidth(lib, '2.cbz'), 40)
    t.equal(
      await bookWidth(lib, '3.cbz'),
      42,
      'a book alone in its folder has the cover of the folder',
    )
    t.equal(await seriesWidth(lib, '1.cbz'), 30)

    lib.write('Row/Poster.PNG', png(43))
    lib.write('Row/cover.jpg', png(44))
    t.equal(await opens(lib), 0, 'no book is read again')
    t.equal(await seriesWidth(lib, '1.cbz'), 44)
    t.equal(await bookWidth(lib, '1.cbz'), 30, 'which is not that of each of its books')

    lib.remove('Row/cover.jpg')
    lib.write('Row/2.jpg', png(45))
    utimesSync(lib.pathOf('Row/2.jpg'), 1_000_000_000, 1_000_000_000)
    await lib.scan()
    t.equal(await seriesWidth(lib, '1.cbz'), 43)
    t.equal(await bookWidth(lib, '2.cbz'), 45)

    for (const name of ['Poster.PNG', '2.jpg']) lib.remove(`Row/${name}`)
    await lib.scan()
    t.equal(await seriesWidth(lib, '1.cbz'), 30)
    t.equal(await bookWidth(lib, '2.cbz'), 30)
    t.match(await lib.scan(), { to_cover: 0 }, 'nothing is left to do')
  },
)

t.test('covers follow books that move, and folders that get a second book', async t => {
  const lib = await createTestLibrary(t, all, {
    'One/1.cbz': comic(),
    'One/cover.png': png(50),
    'Two/2.cbz': comic(),
  })
  await lib.scan()
  t.equal(await bookWidth(lib, '1.cbz'), 50)
  lib.move('Two/2.cbz', 'One/2.cbz')
  await lib.scan()
  t.equal(await bookWidth(lib, '1.cbz'), 30)
  t.equal(await seriesWidth(lib, '1.cbz'), 50)
  lib.move('One/1.cbz', 'Three/1.cbz')
  await lib.scan()
  t.equal(await bookWidth(lib, '2.cbz'), 50)
  t.equal(await bookWidth(lib, '1.cbz'), 30)
})

t.test('what a user selects is displayed instead, and what is no image is not', async t => {
  const lib = await createTestLibrary(t, all, { 'Row/1.cbz': comic(), 'Row/2.cbz': comic() })
  lib.write('Row/1.jpg', Buffer.from('no image'))
  lib.write('Row/folder.jpg', Buffer.from('none either'))
  await lib.scan()
  t.equal(await bookWidth(lib, '1.cbz'), 30)
  t.equal(await seriesWidth(lib, '1.cbz'), 30)
  lib.write('Row/1.jpg', png(60))
  lib.write('Row/folder.jpg', png(61))
  await lib.scan()
  const { id, seriesId } = await lib.book('1.cbz')
  t.same([await bookWidth(lib, '1.cbz'), await seriesWidth(lib, '1.cbz')], [60, 61])
  await admin.put(`/series/${seriesId}/covers/from-book`, { bookId: id })
  t.equal(await seriesWidth(lib, '1.cbz'), 60)
  const raw = new FormData()
  raw.set('file', new Blob([png(62)]))
  await admin.post(`/books/${id}/cover`, undefined, { raw })
  t.equal(await bookWidth(lib, '1.cbz'), 62)
  await admin.delete(`/series/${seriesId}/covers/selected`)
  await admin.delete(`/books/${id}/covers/selected`)
  t.same([await bookWidth(lib, '1.cbz'), await seriesWidth(lib, '1.cbz')], [60, 61])
})

t.test('an excluded pattern disables it', async t => {
  const lib = await createTestLibrary(t, all, {
    'Row/1.cbz': comic(),
    'Row/2.cbz': comic(),
    'Row/1.jpg': png(70),
    'Row/cover.jpg': png(71),
  })
  await lib.scan()
  t.same([await bookWidth(lib, '1.cbz'), await seriesWidth(lib, '1.cbz')], [70, 71])
  await sql`update library set excluded_patterns = '*.jpg' where id = ${lib.id}`
  await lib.scan()
  t.same([await bookWidth(lib, '1.cbz'), await seriesWidth(lib, '1.cbz')], [30, 30])
})

t.test('changed artwork is an event, and lost thumbnails are made again', async t => {
  const lib = await createTestLibrary(t, all, { 'Row/1.cbz': comic(), 'Row/2.cbz': comic() })
  await lib.scan()
  const [last] = await sql`select coalesce(max(id), 0) as id from event`
  lib.write('Row/cover.jpg', png(80))
  await lib.scan()
  const { seriesId } = await lib.book('1.cbz')
  const rows = await sql`
    select type, series_ids as series from event
    where id > ${last!.id} and type = 'cover_updated'`
  t.same([...rows], [{ type: 'cover_updated', series: [seriesId] }])
})
