// Library of a recording: the same files, names and times in every run, with values for every filter field.
import { utimesSync } from 'node:fs'
import { comicOf, epubOf, reportPdf, tarOf } from '../../test/kit/opds/books.ts'
import { createRandom } from '../../test/kit/random.ts'

type Info = Record<string, string | number>
export type Files = Record<string, Buffer>

const seed = 40
const titles = [
  ...['The Sandman', 'Spider-Man', 'Spiderman Noir', 'Akira', 'Bone & Friends', 'X-Men: Blue'],
  ...['Élan vital', 'One Piece', '100 Bullets', '20th Century Boys', 'A Silent Voice', 'Zot!'],
  ...['Nausicaä of the Valley', 'Tom & "Jerry" <3>', '進撃の巨人', 'The The', 'Batman/Superman'],
  ...['Long run', 'Hidden things', 'Grown-ups only'],
]
const genres = ['Action', 'Drama', 'Science Fiction', 'Slice of Life', 'R&B "live"']
const tags = ['robots', 'space', 'cats', 'time travel', '100% pure']
const writers = ['Ana Author', 'Bo Writer', 'Neil Gaiman', 'Ōtomo Katsuhiro']
const publishers = ['Big & Small', 'Vertigo', 'Kodansha', '']
const ages = ['Everyone', 'Teen', 'Mature 17+', '']

/** Paths and contents of the two libraries; the second is hidden from the restricted reader. */
export async function libraryFiles(): Promise<{ main: Files; second: Files }> {
  const random = createRandom(seed)
  const main: Files = {}
  for (const [i, title] of titles.entries()) {
    const common = seriesInfo(random, i, title)
    const folder = title.replace(/[/<>"]/g, '-')
    const count = title === 'Long run' ? 25 : 1 + random.below(4)
    for (let number = 1; number <= count; number++)
      main[`${folder}/${folder} ${String(number).padStart(2, '0')}.cbz`] = await comicOf(
        Array.from({ length: 1 + random.below(4) }, () => random.pick(['png', 'jpeg'] as const)),
        { ...common, ...bookInfo(random, number, title) },
      )
  }
  return { main: { ...main, ...(await otherFormats()) }, second: await secondFiles() }
}

function seriesInfo(random: ReturnType<typeof createRandom>, i: number, title: string): Info {
  const publisher = random.pick(publishers)
  const age = title === 'Grown-ups only' ? 'Adults Only 18+' : random.pick(ages)
  return {
    Series: title,
    Genre: random.some(genres, 2).join(', '),
    Writer: random.some(writers, 2).join(', '),
    ...(publisher === '' ? {} : { Publisher: publisher, Imprint: `${publisher} prints` }),
    ...(age === '' ? {} : { AgeRating: age }),
    LanguageISO: random.pick(['en', 'ja', 'pt-BR']),
    ...(i % 3 === 0 ? { Manga: 'YesAndRightToLeft' } : {}),
    ...(i % 4 === 0 ? { Count: 3 } : {}),
  }
}

function bookInfo(random: ReturnType<typeof createRandom>, number: number, title: string): Info {
  return {
    Number: number === 3 ? '2.5' : number,
    ...(random.chance(0.7) ? { Title: `${title}, part ${number}` } : {}),
    ...(random.chance(0.5) ? { Summary: `Part ${number} of <${title}>.\nIt has & lines.` } : {}),
    ...(random.chance(0.8) ? { Year: 1985 + random.below(30), Month: 1 + random.below(12) } : {}),
    Tags: random.some(tags, 2).join(', '),
    Penciller: random.pick(writers),
    ...(random.chance(0.2) ? { GTIN: '9780306406157', StoryArc: 'The arc' } : {}),
    ...(random.chance(0.2) ? { Web: 'https://example.org/?a=1&b=2', Translator: 'T. Lator' } : {}),
  }
}

async function otherFormats(): Promise<Files> {
  const twin = await comicOf(['png', 'png'], { Series: 'Twins' })
  return {
    'Formats/mixed.cbz': await comicOf(['jpeg', 'png', 'webp', 'gif']),
    'Formats/tar.cbt': await tarOf(['png', 'jpeg']),
    'Formats/report.pdf': reportPdf(),
    'Formats/broken.cbz': Buffer.from('this is no archive'),
    'Formats/words.epub': await epubOf({ title: 'Words & <pictures>', fixed: false }),
    'Formats/fixed.epub': await epubOf({ title: 'Fixed "layout"', fixed: true }),
    'Twins/a.cbz': twin,
    'Twins/b.cbz': twin,
    'Missing/gone.cbz': await comicOf(['png'], { Series: 'Missing' }),
    'Missing/there.cbz': await comicOf(['png'], { Series: 'Missing' }),
  }
}

async function secondFiles(): Promise<Files> {
  return {
    'Elsewhere/1.cbz': await comicOf(['png', 'png'], {
      Series: 'Elsewhere',
      Number: 1,
      Year: 2001,
    }),
    'Elsewhere/2.cbz': await comicOf(['png'], { Series: 'Elsewhere', Number: 2, Genre: 'Drama' }),
    'Akira/1.cbz': await comicOf(['png'], { Series: 'Akira', Tags: 'robots' }),
    'Single.cbz': await comicOf(['jpeg'], { Title: 'A single one', Writer: 'Ana Author' }),
  }
}

/** Sets the time of change of the file with this number, on a day of 2015. */
export function setTime(path: Buffer, number: number): void {
  const at = new Date(Date.UTC(2015, 5, 1) + number * 60_000)
  utimesSync(path, at, at)
}
