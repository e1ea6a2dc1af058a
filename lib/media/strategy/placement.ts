// Placement of a book in a series: the result of series strategies.
import { memoizeLast } from '../../base/lazy.ts'
import { stemOf } from '../format/formats.ts'
import { parseFilename } from '../name/filename.ts'
import { matchKey, searchKey } from '../name/text.ts'

export type Placement = {
  /** Identifies a series within a library: `d:` folder, `f:` file, `n:` name. */
  key: string
  name: string
  /** The folder of the series, relative to the library; null if it has none. */
  folder: string | null
  /** A series of a single book. */
  isOneShot: boolean
  publisher: string | null
  imprint: string | null
  year: number | null
  /** A number if the folder or pattern contains one, otherwise the folder name. */
  volume: string | number | null
  author: string | null
  /** The title of the book if it is part of the path. */
  title: string | null
}

/** The series named by the embedded metadata or a sidecar. */
export type SeriesFacts = { series?: string | null }

export type BookPath = { path: string; folders: string[]; stem: string }

/** Splits a library-relative path with `/` separators. */
export function readPath(path: string): BookPath {
  const parts = path.split('/').filter(part => part !== '')
  return { path, folders: parts.slice(0, -1), stem: stemOf(parts.at(-1) ?? path) }
}

/** Key of a series that is a folder. */
export const folderKey = (folder: string): string => `d:${folder}`

/** Placement in a series that is a folder. */
export function folderPlacement(folders: string[], more: Partial<Placement> = {}): Placement {
  const folder = folders.join('/')
  const name = folders.at(-1) ?? ''
  return createPlacement(folderKey(folder), { name, folder, year: yearIn(name), ...more })
}

/** Placement in a series that is identified by its name. */
export function namedPlacement(name: string, more: Partial<Placement> = {}): Placement {
  return createPlacement(`n:${matchKey(name) || searchKey(name)}`, { name, ...more })
}

/** Placement of a file in the root of the library: a series of its own. */
export function oneShotPlacement({ path, stem }: BookPath): Placement {
  return createPlacement(`f:${path}`, { name: stem, isOneShot: true, year: yearIn(stem) })
}

function createPlacement(key: string, more: Partial<Placement> & { name: string }): Placement {
  return {
    key,
    folder: null,
    isOneShot: false,
    publisher: null,
    imprint: null,
    year: null,
    volume: null,
    author: null,
    title: null,
    ...more,
  }
}

/** `Season 1`, `Volume 05 (2005)`: the number of a folder with no other name. */
export function volumeOfFolder(name: string): number | null {
  const { series, number, chapter, volume } = parsedFolder(name)
  return series === null && number === null && chapter === null ? volume : null
}

const yearIn = (name: string) => (/\d{4}/.test(name) ? parsedFolder(name).year : null)

// Parsing a name takes 20 µs, and books of the same folder come in succession.
const parsedFolder = memoizeLast(name => parseFilename(name))
