// Walks a library with two threads of its own and yields its folders in batches. A folder may come
// before or after its parent.
import { lstatSync } from 'node:fs'
import { Piscina } from 'piscina'
import { below, joinPath, parentOf } from '../../lib/path.ts'
import { statOrCode } from './disk.ts'

/** One folder as found on disk. Names and paths are latin1 strings (bytes one to one), paths relative to the root. */
export type Listing = {
  path: string
  /** MD5 over names, sizes and times of books and sidecars and the names of folders; hex. */
  digest: string
  /** Sidecar name → modified ms. */
  sidecars: Record<string, number>
  files: string[]
  sizes: number[]
  /** Whole milliseconds since 1970. */
  times: number[]
  folders: string[]
  /** Names of files and links that stand there but cannot be looked at: nothing to read, nothing gone. */
  kept: string[]
  /** Names of files that changed a moment ago and are left for later, because `quietMs` says so. */
  young: string[]
  /** errno name when the folder could not be read; nothing below it is visited. */
  error?: string
}

export type WalkOrder = {
  root: Uint8Array
  /** Folders walked to the bottom, or files whose folder is listed alone; `''` is the root. */
  starts: string[]
  extensions: string[]
  excludedPatterns: string
  /** Goes into every digest: a change of rules makes every folder look changed. */
  seed: string
  /** Leaves out files that changed less than so long ago; 0 takes all. */
  quietMs: number
}

/** Listings of the first folders; `rest` was not reached. */
export type Listed = { listings: Listing[]; rest: string[] }

// `find` is one thread in C; two of ours keep up with it, and a slow mount answers two at once.
const threads = 2
const foldersAtOnce = 128

/** Batches of listings. At most four are under way or unread; leaving the loop ends the threads. */
export async function* walk(order: WalkOrder): AsyncGenerator<Listing[]> {
  const pool = new Piscina({
    filename: new URL('./walk-thread.ts', import.meta.url).href,
    minThreads: threads,
    maxThreads: threads,
    atomics: 'disabled',
  })
  const { waiting, alone } = begin(order)
  const underWay = new Set<Promise<Listed>>()
  const done: Listed[] = []
  const list = () => {
    const task: Promise<Listed> = pool.run({ order, folders: waiting.splice(-foldersAtOnce) })
    const kept = task.then(listed => {
      underWay.delete(kept)
      done.push(listed)
      return listed
    })
    underWay.add(kept)
  }
  try {
    while (waiting.length > 0 || underWay.size > 0 || done.length > 0) {
      while (waiting.length > 0 && underWay.size + done.length < 2 * threads) list()
      if (done.length === 0) await Promise.race(underWay)
      const { listings, rest } = done.shift()!
      waiting.push(...rest)
      for (const listing of listings) {
        if (alone.has(listing.path)) continue
        for (const name of listing.folders) waiting.push(below(listing.path, name))
      }
      yield listings
    }
  } finally {
    await Promise.allSettled(underWay)
    await pool.destroy()
  }
}

/** Where to begin, and which of these folders are listed alone. None is met twice, whatever was asked for. */
function begin(order: WalkOrder) {
  const folders = new Set<string>()
  const alone = new Set<string>()
  for (const start of order.starts) {
    if (isFolder(order, start)) folders.add(start)
    else alone.add(folderAround(order, start))
  }
  for (const path of alone) if (folders.has(path) || liesWithin(path, folders)) alone.delete(path)
  const outermost = [...folders].filter(path => !liesWithin(path, folders))
  return { waiting: [...outermost, ...alone], alone }
}

function liesWithin(path: string, folders: Set<string>) {
  for (let at = path; at !== ''; ) {
    at = parentOf(at)
    if (folders.has(at)) return true
  }
  return false
}

function isFolder({ root }: WalkOrder, path: string) {
  if (path === '') return true
  const stat = statOrCode(lstatSync, joinPath(root, Buffer.from(path, 'latin1')))
  return typeof stat !== 'string' && stat.isDirectory()
}

/** The nearest one that is there: with a file its folder may have gone, and more. */
function folderAround(order: WalkOrder, path: string) {
  for (let at = path; ; ) {
    at = parentOf(at)
    if (isFolder(order, at)) return at
  }
}
