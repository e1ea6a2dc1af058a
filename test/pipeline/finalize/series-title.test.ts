// Titles of series: all books vote, those that state no series for the name of the folder.
import t from 'tap'
import { openCatalog, testWithDoctor } from '../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'

const all = await openCatalog(t)
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

check(
  'the name in series.json is the title of its folder, regardless of what the books state',
  async t => {
    const named = (name: string) => Buffer.from(JSON.stringify({ metadata: { name } }))
    const library = await createTestLibrary(t, all, {
      'Batman (2016)/1.cbz': of('Dark Knight'),
      'Batman (2016)/2.cbz': comic({
        info: '<ComicInfo><Series>Dark Knight</Series><Number>2</Number></ComicInfo>',
      }),
      'Batman (2016)/series.json': named('Batman'),
      'Solo.cbz': comic({ pages: 3 }),
      'series.json': named('Everything'),
    })
    const titles = async () => {
      await library.scan()
      return (await library.books()).map(({ series }) => series).sort()
    }
    t.same(await titles(), ['Batman', 'Batman', 'Solo'])
    library.write('Batman (2016)/series.json', named('Zorro'))
    t.same(await titles(), ['Solo', 'Zorro', 'Zorro'])
    const [keys] = await sql`
    select sort_key, search_key from series where library_id = ${library.id} and title = 'Zorro'`
    t.match(keys, { sort_key: /zorro/i, search_key: /zorro/i })
    const [found] = await sql`
    select count(*) as books from book_search t join series s on s.id = t.series_id
    where s.library_id = ${library.id} and t.text ilike '%zorro%'`
    t.equal(Number(found!.books), 2, 'searches of books find it')
    await sql`update series set title = 'Mine', provenance = '{"title": "user"}'
    where library_id = ${library.id} and title = 'Zorro'`
    library.write('Batman (2016)/series.json', named('Joker'))
    t.same(await titles(), ['Mine', 'Mine', 'Solo'], 'a user outvotes it')
  },
)
