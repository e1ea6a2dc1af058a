// Titles of series: all books vote, those that state no series for the name of the folder.
import t from 'tap'
import { openCatalogue, testWithDoctor } from '../../kit/catalogue.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'

const all = await openCatalogue(t)
const { sql } = all
const check = testWithDoctor(t, all)

const of = (series: string) => comic({ info: `<ComicInfo><Series>${series}</Series></ComicInfo>` })
const novels = ['Guards', 'Hogfather', 'Jingo', 'Maskerade', 'Mort', 'Small Gods', 'Sourcery']

check('one novel that states a series does not name the folder', async t => {
  const files = novels.map(name => [`Novels/${name}.cbz`, comic()])
  const library = await createTestLibrary(t, all, {
    ...Object.fromEntries(files),
    'Novels/Equal Rites.cbz': of('Discworld'),
  })
  const title = async () => {
    await library.scan()
    const [book] = await library.books()
    return book!.series
  }
  t.equal(await title(), 'Novels')
  const [own] =
    await sql`select embedded_series from book where name = ${Buffer.from('Equal Rites.cbz')}`
  t.equal(own!.embedded_series, 'Discworld', 'the book keeps its own')
  for (const name of novels.slice(0, 3)) library.write(`Novels/${name}.cbz`, of('Discworld'))
  t.equal(await title(), 'Novels', 'half of them are no majority')
  library.write(`Novels/${novels[3]}.cbz`, of('Discworld'))
  t.equal(await title(), 'Discworld')
  library.write(`Novels/${novels[4]}.cbz`, of('Disc World'))
  t.equal(await title(), 'Discworld', 'another spelling is outvoted')
  for (const name of ['Equal Rites', novels[0]]) library.remove(`Novels/${name}.cbz`)
  t.equal(await title(), 'Novels', 'without a majority it has the name of its folder again')
  await sql`update series set title = 'Mine', provenance = '{"title": "user"}' where library_id = ${library.id}`
  for (const name of novels.slice(4)) library.write(`Novels/${name}.cbz`, of('Discworld'))
  t.equal(await title(), 'Mine', 'a user outvotes all')
})
