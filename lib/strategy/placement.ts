// Where a book belongs: the answer of every series strategy.
import { parseFilename } from '../name/filename.ts'
import { matchKey, searchKey } from '../name/normalise.ts'
import { stemOf } from '../name/stem.ts'

export type Placement = {
  /** Tells series apart within a library: `d:` a folder, `f:` a file, `n:` a name. */
  key: string
  name: string
  /** The series' folder, relative to the library; null when it has none. */
  folder: string | null
  /** A series that is one book. */
  oneShot: boolean
  publisher: string | null
  imprint: string | null
  year: number | null
  /** A number when the folder or pattern tells one, else the folder's own words. */
  volume: string | number | null
  author: string | null
  /** The book's title when the place tells it. */
  title: string | null
}

/** What was read elsewhere: the series named by the file or its sidecar. */
export type Facts = { series?: string | null }

export type BookPath = { path: string; folders: string[]; stem: string }

/** Parts a library-relative path with `/` separators. */
export function readPath(path: string): BookPath {
  const parts = path.split('/').filter(part => part !== '')
  return { path, folders: parts.slice(0, -1), stem: stemOf(parts.at(-1) ?? path) }
}

/** A series that is a folder. */
export function inFolder(folders: string[], more: Partial<Placement> = {}): Placement {
  const folder = folders.join('/')
  const name = folders.at(-1) ?? ''
  return place(`d:${folder}`, { name, folder, year: yearIn(name), ...more })
}

/** A series known by its name only. */
export function byName(name: string, more: Partial<Placement> = {}): Placement {
  return place(`n:${matchKey(name) || searchKey(name)}`, { name, ...more })
}

/** A file in the library's root: a series of its own. */
export function oneShot({ path, stem }: BookPath): Placement {
  return place(`f:${path}`, { name: stem, oneShot: true, year: yearIn(stem) })
}

function place(key: string, more: Partial<Placement> & { name: string }): Placement {
  return {
    key,
    folder: null,
    oneShot: false,
    publisher: null,
    imprint: null,
    year: null,
    volume: null,
    author: null,
    title: null,
    ...more,
  }
}

// Reading a name costs 20 µs, looking for four digits next to nothing.
function yearIn(name: string): number | null {
  return /\d{4}/.test(name) ? parseFilename(name).year : null
}
