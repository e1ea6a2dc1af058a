// Fixture of OPDS tests: every format and page type, hostile titles and names, lists longer than a page,
// reading progress, and books that are hidden from some accounts.
import type { Test } from 'tap'
import { goldenFile } from '../files/corpus.ts'
import { createTestLibrary } from '../library.ts'
import { startApi, type TestApi } from '../server.ts'
import { comicOf, epubOf, reportPdf, tarOf } from './books.ts'
import { hostileNames, hostileTitles } from './hostile.ts'

export type OpdsFixture = Awaited<ReturnType<typeof createOpdsFixture>>

/** Words in all metadata and file names of books that are hidden from some accounts. */
export const secretWords = {
  otherLibrary: 'Zelsewhere',
  adult: 'Zgrown',
  partlyAdult: 'Zpart',
  tagged: 'Ztagged',
}

type Size = { books: number; series: number; titles: number }
/** More than a page of books and of series. */
const twoPages: Size = { books: 52, series: 42, titles: 99 }

/** `size`: number of books of the longest series, of additional series, of hostile titles and names. */
export async function createOpdsFixture(
  t: Test,
  { settings = {}, size = twoPages }: { settings?: Record<string, unknown>; size?: Size } = {},
) {
  const all = await startApi(t, settings)
  const { sql } = all
  const main = await createTestLibrary(t, all, await mainFiles(size))
  for (const [i, name] of hostileNames.slice(0, size.titles).entries())
    main.write(name, await comicOf(['png'], { Series: 'Hostile', Number: i + 1 }))
  const second = await createTestLibrary(t, all, {
    'Elsewhere/Zelsewhere 1.cbz': await secretBook('otherLibrary', 1),
    'Elsewhere/Zelsewhere 2.cbz': await secretBook('otherLibrary', 2),
    'Open/1.cbz': await comicOf(['png', 'png']),
  })
  await main.scan()
  await second.scan()
  await sql`update library set name = 'Main & <first> "library"' where id = ${main.id}`
  await sql`update library set name = 'Second library' where id = ${second.id}`
  await storeUnusualMetadata(all)
  const admin = await all.createUser('admin')
  const tags = await createSharingTags(all, admin)
  await createGroupings(all, admin)
  return { ...all, admin, main, second, tags, ...(await createReader(all, admin)) }
}

async function mainFiles({ books, series, titles }: Size) {
  const files: Record<string, Buffer> = {}
  for (let i = 1; i <= books; i++)
    files[`Long run/Long run ${String(i).padStart(3, '0')}.cbz`] = await comicOf(['png', 'png'], {
      Number: i,
      Tags: `every, tag ${i % 22}`,
      Year: 1990 + (i % 30),
    })
  for (let i = 0; i < series; i++)
    files[`Filler ${i}/1.cbz`] = await comicOf(['png'], {
      Publisher: `Publisher ${i % 4} & Söhne`,
      Genre: `Genre ${i % 3}, 100% "pure" #${i % 2}`,
      Writer: `Writer ${i % 5}`,
    })
  for (const [i, Title] of hostileTitles.slice(0, titles).entries())
    files[`Titles/${i}.cbz`] = await comicOf(['png'], {
      Series: `R&B <i>"loud"</i> 'n' 100% #1?`,
      Title,
      Summary: `${Title}\n<p>& more</p>`,
      Writer: Title.slice(0, 100),
    })
  return {
    ...files,
    'Formats/webp.cbz': await comicOf(['webp', 'webp', 'webp']),
    'Formats/mixed.cbz': await comicOf(['jpeg', 'png', 'webp']),
    'Formats/jpeg.cbz': await comicOf(['jpeg', 'jpeg'], completeInfo),
    'Formats/gif.cbz': await comicOf(['gif', 'gif']),
    'Formats/tar.cbt': await tarOf(['png', 'jpeg']),
    'Formats/seven.cb7': goldenFile('7z/lzma.cb7'),
    'Formats/rar.cbr': goldenFile('rar/rar5-unicode.cbr'),
    'Formats/report.pdf': reportPdf(),
    'Formats/broken.cbz': Buffer.from('this is no archive'),
    'Formats/words.epub': await epubOf({ title: 'Words & <pictures>', fixed: false }),
    'Formats/fixed.epub': await epubOf({ title: 'Fixed "layout"', fixed: true }),
    'Formats/plain.epub': goldenFile('epub/plain3.epub'),
    'Formats/locked.epub': goldenFile('epub/drm-adept.epub'),
    'Partly/1.cbz': await comicOf(['png', 'png', 'png'], { Series: 'Partly', Number: 1 }),
    'Partly/2.cbz': await comicOf(['png', 'png', 'png'], { Series: 'Partly', Number: 2 }),
    'Partly/Zpart 3.cbz': await secretBook('partlyAdult', 3, partlyInfo),
    'Grown/Zgrown 1.cbz': await secretBook('adult', 1, { AgeRating: 'Adults Only 18+' }),
    'Grown/Zgrown 2.cbz': await secretBook('adult', 2, { AgeRating: 'Adults Only 18+' }),
    'Tagged/Ztagged 1.cbz': await secretBook('tagged', 1),
    'Tagged/Ztagged 2.cbz': await secretBook('tagged', 2),
  }
}

// Series metadata is taken from this book.
const partlyInfo = {
  Series: 'Partly',
  AgeRating: 'Adults Only 18+',
  Publisher: 'Open press',
  Genre: 'Open',
  Tags: 'every',
  Writer: 'Open Writer',
}

/** Every element that is read. */
const completeInfo = {
  Series: 'Formats',
  Number: '1.5',
  Title: 'All & everything',
  Summary: 'First line.\nSecond <line> & the end.',
  Publisher: 'Big & Small',
  Imprint: 'Small',
  Year: 2020,
  Month: 6,
  Day: 31,
  Writer: 'Ana Author, Bo Writer',
  Penciller: 'Pen Ciller',
  Inker: 'Ink Er',
  Colorist: 'Col Orist',
  Letterer: 'Let Terer',
  CoverArtist: 'Cov Er',
  Editor: 'Ed Itor',
  Translator: 'Trans Lator',
  Genre: 'Action, Drama',
  Tags: 'robots, space',
  LanguageISO: 'pt-BR',
  GTIN: '9780306406157',
  Manga: 'YesAndRightToLeft',
  AgeRating: 'Everyone',
  Web: 'https://example.org/?a=1&b=2',
}

type Fields = Record<string, string | number>

function secretBook(reason: keyof typeof secretWords, number: number, more: Fields = {}) {
  const word = secretWords[reason]
  return comicOf(['png', 'png'], {
    Series: `${word} series`,
    Number: number,
    Title: `${word} title ${number}`,
    Summary: `${word} summary`,
    Publisher: `${word} press`,
    Genre: `${word} genre`,
    Tags: `${word} tag, every`,
    Writer: `${word} writer`,
    ...more,
  })
}

type Client = Awaited<ReturnType<TestApi['createUser']>>

/** Values that no file yields, but that the database may contain. */
async function storeUnusualMetadata({ sql }: TestApi) {
  const controls = 'Alert \u0007 tab \u000b escape \u001b none \ufffe end'
  await sql`
    update book set title = ${controls}, summary = ${controls}, authors = ${sql.json([
      { name: controls, role: 'writer' },
    ])}
    where name = 'tar.cbt'`
  await sql`update series set title = ${`Series ${controls}`} where name = 'Filler 0'`
  await sql`update book set title = ${'long '.repeat(60)} where name = 'gif.cbz'`
  // An editor removed the rating of the series; one book still has its own.
  await sql`update series set age_rating = null where title = 'Partly'`
}

/** `secret` is on one series, `open` on three. */
async function createSharingTags({ sql }: TestApi, admin: Client) {
  const create = async (name: string, titles: string[]) => {
    const { body } = await admin.post('/admin/sharing-tags', { name })
    const series = await sql<{ id: string }[]>`select id from series where title = any(${titles})`
    for (const { id } of series)
      await admin.post(`/series/${id}/sharing-tags`, { sharingTagId: body.id })
    return body.id as string
  }
  return {
    secret: await create('secret', [`${secretWords.tagged} series`]),
    open: await create('open', ['Long run', 'Partly', 'Filler 1']),
  }
}

/** Collections and read lists of open and hidden members, of hidden ones only, and by a condition. */
async function createGroupings({ sql }: TestApi, admin: Client) {
  const post = async (path: string, body: object) => {
    const { status } = await admin.post(path, body)
    if (status !== 201) throw new Error(`${path}: ${status}`)
  }
  const members = await sql<{ title: string; seriesId: string; bookIds: string[] }[]>`
    select s.title, s.id as "seriesId", array_agg(b.id order by b.number_sort, b.id) as "bookIds"
    from series s join book b on b.series_id = s.id
    where s.title = 'Partly' or s.title = 'Formats' or s.title like 'Z% series'
    group by s.id order by s.title`
  const groups = [
    { name: 'Mixed & <more>', of: members },
    ...Object.values(secretWords).map(word => ({
      name: `${word} only`,
      of: members.filter(({ title }) => title === `${word} series`),
    })),
  ]
  for (const { name, of } of groups.filter(({ of }) => of.length > 0)) {
    await post('/collections', { name, seriesIds: of.map(({ seriesId }) => seriesId) })
    await post('/readlists', { name, ordered: true, bookIds: of.flatMap(({ bookIds }) => bookIds) })
  }
  const condition = { tag: { operator: 'is', value: 'every' } }
  await post('/collections', { name: 'By tag', condition })
}

/** An account with a password and some reading progress. */
async function createReader({ sql, withHeaders }: TestApi, admin: Client) {
  const login = { username: 'Rita', password: 'correct horse, battery: staple' }
  const { body } = await admin.post('/users', { ...login, email: 'rita@example.org' })
  const basic = (name = login.username) => ({
    authorization: `Basic ${Buffer.from(`${name}:${login.password}`).toString('base64')}`,
  })
  const reader = withHeaders(basic())
  const setProgress = async (series: string, name: string, progress: object) => {
    const [book] = await sql<{ id: string }[]>`
      select b.id from book b join series s on s.id = b.series_id
      where s.title = ${series} and b.name = ${Buffer.from(name)}`
    const { status } = await reader.put(`/books/${book!.id}/progress`, progress)
    if (status !== 200) throw new Error(`${name}: ${status}`)
  }
  await setProgress('Partly', '1.cbz', { completed: true, currentPage: 3 })
  for (const number of ['002', '003', '004'])
    await setProgress('Long run', `Long run ${number}.cbz`, { completed: true, currentPage: 2 })
  await setProgress('Long run', 'Long run 005.cbz', { currentPage: 1 })
  await setProgress('Formats', 'mixed.cbz', { currentPage: 2 })
  return { login, basic, reader, readerId: body.id as string }
}
