// A library that tries catalogues: every format, every sort of page, hostile titles and names, lists of
// more than a page, readers under way, and things that some accounts must never hear of.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { library as corpus } from '../../archive/archive-files.ts'
import { shelve } from '../library.ts'
import { serve } from '../server.ts'
import { comicOf, epubOf, report, tarOf } from './books.ts'
import { hostileNames, hostileTitles } from './hostile.ts'

export type OpdsWorld = Awaited<ReturnType<typeof opdsWorld>>

/** Words that stand in all that is said of what some accounts must not see, in its file names too. */
export const secrets = {
  elsewhere: 'Zelsewhere',
  grown: 'Zgrown',
  part: 'Zpart',
  tagged: 'Ztagged',
}

const given = (path: string) => readFileSync(join(corpus, path))

type Size = { books: number; series: number; titles: number }
/** More of both than a page holds. */
const long: Size = { books: 52, series: 42, titles: 99 }

/** `size`: books of the longest series, series beside those that are looked at, hostile titles and names. */
export async function opdsWorld(
  t: Test,
  { settings = {}, size = long }: { settings?: Record<string, unknown>; size?: Size } = {},
) {
  const all = await serve(t, settings)
  const { sql } = all
  const main = await shelve(t, all, await mainFiles(size))
  for (const [i, name] of hostileNames.slice(0, size.titles).entries())
    main.write(name, await comicOf(['png'], { Series: 'Hostile', Number: i + 1 }))
  const second = await shelve(t, all, {
    'Elsewhere/Zelsewhere 1.cbz': await secretBook('elsewhere', 1),
    'Elsewhere/Zelsewhere 2.cbz': await secretBook('elsewhere', 2),
    'Open/1.cbz': await comicOf(['png', 'png']),
  })
  await main.scan()
  await second.scan()
  await sql`update library set name = 'Main & <first> "library"' where id = ${main.id}`
  await sql`update library set name = 'Second library' where id = ${second.id}`
  await breakTitles(all)
  const admin = await all.as('admin')
  const tags = await share(all, admin)
  return { ...all, admin, main, second, tags, ...(await readers(all, admin)) }
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
    'Formats/jpeg.cbz': await comicOf(['jpeg', 'jpeg'], full),
    'Formats/gif.cbz': await comicOf(['gif', 'gif']),
    'Formats/tar.cbt': await tarOf(['png', 'jpeg']),
    'Formats/seven.cb7': given('generated-hostile/7z/lzma.cb7'),
    'Formats/rar.cbr': given('generated-hostile/rar/rar5-unicode.cbr'),
    'Formats/report.pdf': report(),
    'Formats/broken.cbz': Buffer.from('this is no archive'),
    'Formats/words.epub': await epubOf({ title: 'Words & <pictures>', fixed: false }),
    'Formats/fixed.epub': await epubOf({ title: 'Fixed "layout"', fixed: true }),
    'Formats/plain.epub': given('generated-hostile/epub/plain3.epub'),
    'Formats/locked.epub': given('generated-hostile/epub/drm-adept.epub'),
    'Partly/1.cbz': await comicOf(['png', 'png', 'png'], { Series: 'Partly', Number: 1 }),
    'Partly/2.cbz': await comicOf(['png', 'png', 'png'], { Series: 'Partly', Number: 2 }),
    'Partly/Zpart 3.cbz': await secretBook('part', 3, partly),
    'Grown/Zgrown 1.cbz': await secretBook('grown', 1, { AgeRating: 'Adults Only 18+' }),
    'Grown/Zgrown 2.cbz': await secretBook('grown', 2, { AgeRating: 'Adults Only 18+' }),
    'Tagged/Ztagged 1.cbz': await secretBook('tagged', 1),
    'Tagged/Ztagged 2.cbz': await secretBook('tagged', 2),
  }
}

// What a book says of its series is the series' own then.
const partly = {
  Series: 'Partly',
  AgeRating: 'Adults Only 18+',
  Publisher: 'Open press',
  Genre: 'Open',
  Tags: 'every',
  Writer: 'Open Writer',
}

/** Whatever a file can say. */
const full = {
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

function secretBook(what: keyof typeof secrets, number: number, more: Fields = {}) {
  const word = secrets[what]
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

type Served = Awaited<ReturnType<typeof serve>>
type Client = Awaited<ReturnType<Served['as']>>

/** What no file can say, but a catalogue might hold all the same. */
async function breakTitles({ sql }: Served) {
  const controls = 'Bell \u0007 tab \u000b escape \u001b none \ufffe end'
  await sql`
    update book set title = ${controls}, summary = ${controls}, authors = ${sql.json([
      { name: controls, role: 'writer' },
    ])}
    where name = 'tar.cbt'`
  await sql`update series set title = ${`Series ${controls}`} where name = 'Filler 0'`
  await sql`update book set title = ${'long '.repeat(60)} where name = 'gif.cbz'`
  // Someone thinks that it is for everyone, but for that one book of it.
  await sql`update series set age_rating = null where title = 'Partly'`
}

/** `secret` is carried by what is tagged, `open` by three series. */
async function share({ sql }: Served, admin: Client) {
  const make = async (name: string, carriers: string[]) => {
    const { body } = await admin.post('/admin/sharing-tags', { name })
    const found = await sql<{ id: string }[]>`select id from series where title = any(${carriers})`
    for (const { id } of found)
      await admin.post(`/series/${id}/sharing-tags`, { sharingTagId: body.id })
    return body.id as string
  }
  return {
    secret: await make('secret', [`${secrets.tagged} series`]),
    open: await make('open', ['Long run', 'Partly', 'Filler 1']),
  }
}

/** An account with a password that has read this and that. */
async function readers({ sql, with: as }: Served, admin: Client) {
  const login = { username: 'Rita', password: 'correct horse, battery: staple' }
  const { body } = await admin.post('/users', { ...login, email: 'rita@example.org' })
  const basic = (name = login.username) => ({
    authorization: `Basic ${Buffer.from(`${name}:${login.password}`).toString('base64')}`,
  })
  const reader = as(basic())
  const place = async (series: string, name: string, said: object) => {
    const [book] = await sql<{ id: string }[]>`
      select b.id from book b join series s on s.id = b.series_id
      where s.title = ${series} and b.name = ${Buffer.from(name)}`
    const { status } = await reader.put(`/books/${book!.id}/progress`, said)
    if (status !== 200) throw new Error(`${name}: ${status}`)
  }
  await place('Partly', '1.cbz', { completed: true, currentPage: 3 })
  for (const number of ['002', '003', '004'])
    await place('Long run', `Long run ${number}.cbz`, { completed: true, currentPage: 2 })
  await place('Long run', 'Long run 005.cbz', { currentPage: 1 })
  await place('Formats', 'mixed.cbz', { currentPage: 2 })
  return { login, basic, reader, readerId: body.id as string }
}
