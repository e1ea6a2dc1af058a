// Libraries of the picture, scanned by the command line.
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { stackroom } from '../kit/stackroom.ts'
import { comicBytes, novelBytes } from './books.ts'
import { range } from './drawing.ts'
import { comics } from './shelf/comics.ts'
import { manga } from './shelf/manga.ts'
import { novels } from './shelf/novels.ts'
import type { Title } from './shelf/title.ts'

type Library = 'Comics' | 'Manga' | 'Novels'
type Book = { library: Library; title: Title; index: number }

const libraries: Record<Library, Title[]> = { Comics: comics, Manga: manga, Novels: novels }

/** Titles that arrive after all others, one pair after the other, so that shelves of new series mix the libraries. */
const arrivals = [
  ['The Cloud Cartel', 'The Long Afternoon'],
  ['Koi & Sons', 'Small Engines'],
  ['Crown of Nettles', 'Notes from the Orchard'],
  ['Moss Kingdom', 'The Mapmaker of Aldermere'],
]

/** Creates the files below `folder`, and the catalog in `data`. */
export async function createLibraries(folder: string, data: string): Promise<void> {
  const roots = Object.keys(libraries).map(name => join(folder, name))
  for (const root of roots) mkdirSync(root)
  for (const wave of waves()) {
    for (const book of wave) {
      const path = join(folder, pathOf(book))
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, await bytesOf(book))
    }
    const options = ['--data', data, '--json', '--watch', 'off']
    const { code } = await stackroom(['scan', ...roots, ...options])
    if (code !== 0) throw new Error(`scan: exit code ${code}`)
  }
}

/** Books by scan: most of them, the arrivals, the last book of each long series. */
function waves(): Book[][] {
  const books = Object.entries(libraries).flatMap(([library, titles]) =>
    titles.flatMap(title =>
      title.books.map((_, index) => ({ library: library as Library, title, index })),
    ),
  )
  const waveOf = ({ title, index }: Book) => {
    if (index >= 4 && index === title.books.length - 1) return arrivals.length + 1
    return arrivals.findIndex(names => names.includes(title.series)) + 1
  }
  return range(arrivals.length + 2).map(wave => books.filter(book => waveOf(book) === wave))
}

function pathOf({ library, title: { series }, index }: Book): string {
  if (library === 'Novels') return join(library, `${series}.epub`)
  return join(library, series, `${series} ${String(index + 1).padStart(3, '0')}.cbz`)
}

const bytesOf = ({ library, title, index }: Book) =>
  library === 'Novels' ? novelBytes(title) : comicBytes(title, index, library === 'Manga')
