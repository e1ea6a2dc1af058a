// Directory walk of a library in two threads, in batches of folder listings. A folder may come before or
// after its parent.
import { lstatSync } from 'node:fs'
import { Piscina } from 'piscina'
import type { Containment } from '../../lib/containment.ts'
import { childPath, joinPath, parentPath } from '../../lib/path.ts'
import { statOrCode } from './disk.ts'

/** One folder on disk. Names and paths are latin1 strings (one character per byte), paths relative to the root. */
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
  /** Names of files and links that exist but whose stat fails: neither read nor missing. */
  unreadable: string[]
  /** Names of recently modified files, which are left to a later scan because of `quietMs`. */
  recent: string[]
  /** errno name when the folder could not be read; nothing below it is visited. */
  error?: string
}

export type WalkOptions = {
  root: Uint8Array
  containment: Containment
  /** Folders walked recursively, or files whose folder is listed alone; `''` is the root. */
  starts: string[]
  extensions: string[]
  excludedPatterns: string
  /** Part of every digest: a change of the rules makes every folder look changed. */
  seed: string
  /** Leaves out files modified less than this long ago; 0 includes all. */
  quietMs: number
}

export type WalkRequest = { options: WalkOptions; folders: string[] }

/** Listings of the first folders; `rest` was not reached. */
export type WalkResult = { listings: Listing[]; rest: string[] }

// `find` is one thread in C; two of ours keep up with it, and a slow mount serves two at once.
const threads = 2
const foldersPerRequest = 128

/** Yields batches of listings. At most four are running or unread; leaving the loop ends the threads. */
export async function* walk(options: WalkOptions): AsyncGenerator<Listing[]> {
  const pool = new Piscina({
    filename: new URL('./walk-thread.ts', import.meta.url).href,
    // The second starts when there is work for it: most rescans read a single folder.
    minThreads: 1,
    maxThreads: threads,
    atomics: 'disabled',
  })
  const { pending, listedAlone } = startFolders(options)
  const running = new Set<Promise<WalkResult>>()
  const finished: WalkResult[] = []
  const startRequest = () => {
    const request: WalkRequest = { options, folders: pending.splice(-foldersPerRequest) }
    const task: Promise<WalkResult> = pool.run(request).then(result => {
      running.delete(task)
      finished.push(result)
      return result
    })
    running.add(task)
  }
  try {
    while (pending.length > 0 || running.size > 0 || finished.length > 0) {
      while (pending.length > 0 && running.size + finished.length < 2 * threads) startRequest()
      if (finished.length === 0) await Promise.race(running)
      const { listings, rest } = finished.shift()!
      pending.push(...rest)
      for (const listing of listings) {
        if (listedAlone.has(listing.path)) continue
        for (const name of listing.folders) pending.push(childPath(listing.path, name))
      }
      yield listings
    }
  } finally {
    await Promise.all([...running].map(task => task.catch(() => {})))
    await pool.destroy()
  }
}

/** The folders to start with, and which of them are listed without their subfolders. None is visited twice. */
function startFolders(options: WalkOptions) {
  const folders = new Set<string>()
  const listedAlone = new Set<string>()
  for (const start of options.starts) {
    if (isFolder(options, start)) folders.add(start)
    else listedAlone.add(nearestFolder(options, start))
  }
  for (const path of listedAlone)
    if (folders.has(path) || isBelow(path, folders)) listedAlone.delete(path)
  const outermost = [...folders].filter(path => !isBelow(path, folders))
  return { pending: [...outermost, ...listedAlone], listedAlone }
}

function isBelow(path: string, folders: Set<string>) {
  let ancestor = path
  while (ancestor !== '') {
    ancestor = parentPath(ancestor)
    if (folders.has(ancestor)) return true
  }
  return false
}

function isFolder({ root }: WalkOptions, path: string) {
  if (path === '') return true
  const stat = statOrCode(lstatSync, joinPath(root, Buffer.from(path, 'latin1')))
  return typeof stat !== 'string' && stat.isDirectory()
}

/** The nearest ancestor that exists: a file may be gone together with its folder. */
function nearestFolder(options: WalkOptions, path: string) {
  let folder = parentPath(path)
  while (!isFolder(options, folder)) folder = parentPath(folder)
  return folder
}
