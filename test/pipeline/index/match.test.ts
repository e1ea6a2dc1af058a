// Matching by content: books keep their ids when files are moved, swapped and copied.
import { copyFileSync, utimesSync } from 'node:fs'
import t, { type Test } from 'tap'
import { openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'

const all = await openCatalog(t)
const { sql } = all
const check = testWithDoctor(t, all)
const shelf = (test: Test, files: Record<string, Buffer> = {}) =>
  createTestLibrary(test, all, files)

check('renumbered files keep their ids', async t => {
  const files = Object.fromEntries(
    Array.from({ length: 8 }, (_, i) => [`A/${i + 1}.cbz`, comic({ padding: i * 10 })]),
  )
  const lib = await shelf(t, files)
  await lib.scan()
  const idOf = new Map((await lib.books()).map(b => [b.name, b.id]))
  for (let i = 8; i >= 1; i--) lib.move(`A/${i}.cbz`, `A/${i + 1}.cbz`)
  t.match(await lib.scan(), { moved: 8, added: 0, missing: 0, changed: 0 })
  for (let i = 1; i <= 8; i++) {
    t.equal((await lib.book(`${i + 1}.cbz`)).id, idOf.get(`${i}.cbz`), `${i} is now ${i + 1}`)
  }
})

check('two files that swap their names keep their ids', async t => {
  const lib = await shelf(t, {
    'A/1.cbz': comic(),
    'A/2.cbz': comic({ padding: 99 }),
    'A/3.cbz': comic(),
  })
  await lib.scan()
  const one = (await lib.book('1.cbz')).id
  const two = (await lib.book('2.cbz')).id
  lib.move('A/1.cbz', 'A/x.cbz')
  lib.move('A/2.cbz', 'A/1.cbz')
  lib.move('A/x.cbz', 'A/2.cbz')
  t.match(await lib.scan(), { moved: 2, added: 0, missing: 0 })
  t.equal((await lib.book('2.cbz')).id, one)
  t.equal((await lib.book('1.cbz')).id, two)
})

check('a file restored together with a copy: one is the old book, one is new', async t => {
  const lib = await shelf(t, { 'A/x.cbz': comic(), 'A/1.cbz': comic(), 'A/2.cbz': comic() })
  await lib.scan()
  const { id } = await lib.book('x.cbz')
  lib.move('A/x.cbz', '../backup.cbz')
  t.match(await lib.scan(), { missing: 1 })
  lib.move('../backup.cbz', 'A/x.cbz')
  copyFileSync(lib.pathOf('A/x.cbz'), lib.pathOf('A/x-copy.cbz'))
  t.match(await lib.scan(), { restored: 1, added: 1 })
  t.equal((await lib.book('x.cbz')).id, id)
  t.match(await lib.counters(), { books: 4, missing: 0 })
})

check('new content at the place of a missing book, whose content is elsewhere', async t => {
  const lib = await shelf(t, { 'A/k.cbz': comic(), 'A/1.cbz': comic(), 'A/2.cbz': comic() })
  await lib.scan()
  const { id } = await lib.book('k.cbz')
  lib.move('A/k.cbz', '../backup.cbz')
  await lib.scan()
  lib.write('A/k.cbz', comic({ padding: 500 }))
  lib.move('../backup.cbz', 'A/k2.cbz')
  t.match(await lib.scan(), { moved: 1, added: 1 })
  t.equal((await lib.book('k2.cbz')).id, id)
})

check('equal books of two libraries keep their ids when both are moved', async t => {
  const bytes = comic()
  const first = await shelf(t, { 'A/x.cbz': bytes, 'A/1.cbz': comic() })
  const second = await shelf(t, { 'A/x.cbz': bytes, 'A/1.cbz': comic() })
  for (const lib of [first, second]) await lib.scan()
  const { id } = await first.book('x.cbz')
  const other = (await second.book('x.cbz')).id
  for (const lib of [first, second]) lib.move('A/x.cbz', 'B/x.cbz')
  for (const lib of [second, first]) t.match(await lib.scan(), { moved: 1, added: 0, missing: 0 })
  t.equal((await first.book('x.cbz')).id, id)
  t.equal((await second.book('x.cbz')).id, other)
})

check('folders swapped in a large scan keep their ids while copies move elsewhere', async t => {
  // More files than a batch takes: books of one folder are displaced before their own files are matched.
  const files = Object.fromEntries(
    ['A', 'Z'].flatMap((folder, f) =>
      Array.from({ length: 66 }, (_, i) => [
        `${folder}/${String(i).padStart(2, '0')}.cbz`,
        comic({ padding: 10 * i + f }),
      ]),
    ),
  )
  const [first, second] = [await shelf(t, files), await shelf(t, files)]
  for (const lib of [first, second]) await lib.scan()
  const idsOf = async (folder: string) =>
    (await first.books()).filter(book => book.folder === folder).map(({ id }) => id)
  const before = [await idsOf('A'), await idsOf('Z')]
  first.move('A', 'swap')
  first.move('Z', 'A')
  first.move('swap', 'Z')
  for (const folder of ['A', 'Z']) second.move(folder, `B/${folder}`)
  t.match(await first.scan(), { moved: 132, added: 0, missing: 0 })
  t.same([await idsOf('Z'), await idsOf('A')], before)
})

check('a moved book keeps its id although an equal one is missing since long ago', async t => {
  const bytes = comic()
  const lib = await shelf(t, { 'A/x.cbz': bytes, 'B/x.cbz': bytes, 'A/1.cbz': comic() })
  await lib.scan()
  const { id } = (await lib.books()).find(book => book.folder === 'B')!
  lib.remove('A/x.cbz')
  t.match(await lib.scan({ options: { confirmMissing: true } }), { missing: 1 })
  lib.move('B/x.cbz', 'C/x.cbz')
  t.match(await lib.scan(), { moved: 1, missing: 0 })
  t.equal((await lib.books()).find(book => book.folder === 'C')!.id, id)
})

check('a book restored with other content is hashed again', async t => {
  const lib = await shelf(t, { 'A/r.cbz': comic(), 'A/1.cbz': comic(), 'A/2.cbz': comic() })
  await lib.scan()
  lib.remove('A/r.cbz')
  await lib.scan()
  lib.write('A/r.cbz', comic({ padding: 700 }))
  t.match(await lib.scan(), { restored: 1 })
  const [row] = await sql`
    select a.sha256 from book_artifact a join book b on b.id = a.book_id
    where b.library_id = ${lib.id} and b.name = 'r.cbz'`
  t.ok(row!.sha256)
})

check('a damaged book that is only touched stays damaged', async t => {
  const lib = await shelf(t, { 'A/b.cbz': comic().subarray(0, 60), 'A/1.cbz': comic() })
  await lib.scan()
  utimesSync(lib.pathOf('A/b.cbz'), 1e9, 1e9)
  await lib.scan()
  const [row] =
    await sql`select error_code from book where library_id = ${lib.id} and name = 'b.cbz'`
  t.ok(row!.error_code)
})

check('values set by a user are retained, with their provenance', async t => {
  const info =
    '<ComicInfo><Series>S</Series><Number>3</Number><AgeRating>Teen</AgeRating></ComicInfo>'
  const lib = await shelf(t, { 'A/u.cbz': comic({ info }), 'A/v.cbz': comic() })
  await lib.scan()
  const { id } = await lib.book('u.cbz')
  const bare = (await lib.book('v.cbz')).id
  const [first] = await sql`select age_rating, provenance from book where id = ${id}`
  t.match(first, { age_rating: 13, provenance: { age_rating: 'comicinfo', number: 'comicinfo' } })
  await sql`
    update book
    set age_rating = 18, locks = '{age_rating}', provenance = provenance || '{"age_rating": "user"}'
    where id = ${id}`
  // Not locked: a file without the field does not remove it.
  await sql`
    update book set age_rating = 10, provenance = provenance || '{"age_rating": "user"}'
    where id = ${bare}`
  await lib.scan({ mode: 'deep' })
  const after = await sql`
    select age_rating, provenance->>'age_rating' as source from book
    where id = any(${[id, bare]}) order by age_rating`
  t.same(
    [...after],
    [
      { age_rating: 10, source: 'user' },
      { age_rating: 18, source: 'user' },
    ],
  )
})
