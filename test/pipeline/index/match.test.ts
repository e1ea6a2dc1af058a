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

check('renumbered files, and two that swap their names, keep their ids', async t => {
  const files = Object.fromEntries(
    Array.from({ length: 8 }, (_, i) => [`A/${i + 1}.cbz`, comic({ padding: i * 10 })]),
  )
  const lib = await shelf(t, {
    ...files,
    'B/one.cbz': comic(),
    'B/two.cbz': comic({ padding: 99 }),
    'B/three.cbz': comic(),
  })
  await lib.scan()
  const idOf = new Map((await lib.books()).map(b => [b.name, b.id]))
  for (let i = 8; i >= 1; i--) lib.move(`A/${i}.cbz`, `A/${i + 1}.cbz`)
  lib.move('B/one.cbz', 'B/x.cbz')
  lib.move('B/two.cbz', 'B/one.cbz')
  lib.move('B/x.cbz', 'B/two.cbz')
  t.match(await lib.scan(), { moved: 10, added: 0, missing: 0, changed: 0 })
  for (let i = 1; i <= 8; i++) {
    t.equal((await lib.book(`${i + 1}.cbz`)).id, idOf.get(`${i}.cbz`), `${i} is now ${i + 1}`)
  }
  t.equal((await lib.book('two.cbz')).id, idOf.get('one.cbz'))
  t.equal((await lib.book('one.cbz')).id, idOf.get('two.cbz'))
})

check('files that are missing return with a copy, elsewhere, and with other content', async t => {
  const names = ['copied', 'moved', 'changed']
  const lib = await shelf(
    t,
    Object.fromEntries(
      names.flatMap(name => [name, `${name} 1`, `${name} 2`].map(n => [`A/${n}.cbz`, comic()])),
    ),
  )
  await lib.scan()
  const [copied, moved, changed] = await Promise.all(names.map(name => lib.book(`${name}.cbz`)))
  for (const name of names) lib.move(`A/${name}.cbz`, `../${name}.cbz`)
  t.match(await lib.scan({ options: { confirmMissing: true } }), { missing: 3 })

  lib.move('../copied.cbz', 'A/copied.cbz')
  copyFileSync(lib.pathOf('A/copied.cbz'), lib.pathOf('A/copy.cbz'))
  // New content at the place of a missing book, whose content is elsewhere.
  lib.write('A/moved.cbz', comic({ padding: 500 }))
  lib.move('../moved.cbz', 'A/elsewhere.cbz')
  lib.write('A/changed.cbz', comic({ padding: 700 }))
  t.match(await lib.scan(), { restored: 2, moved: 1, added: 2, missing: 0 })
  t.equal((await lib.book('copied.cbz')).id, copied!.id, 'one of both is the old book')
  t.equal((await lib.book('elsewhere.cbz')).id, moved!.id)
  const other = await lib.book('changed.cbz')
  t.equal(other.id, changed!.id)
  t.ok(other.sha256 && other.sha256 !== changed!.sha256, 'other content is hashed again')
  t.match(await lib.counters(), { books: 11, missing: 0 })
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
