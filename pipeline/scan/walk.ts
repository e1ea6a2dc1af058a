// Directory walk of a library in two threads, in batches of folder listings. A folder may come before or
// after its parent.
import { createDiskQueue, type DiskQueue } from '../../lib/async/disk-queue.ts'
import { openPiscina } from '../../lib/async/piscina.ts'
import type { Containment } from '../../lib/containment.ts'
import { childPath, joinPath, parentPath } from '../../lib/path.ts'
import { lstatOrCode } from './disk.ts'

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
  /** Calls in flight on the disk; 0 derives them from its latency. */
  ioDepth: number
}

export type WalkRequest = { options: WalkOptions; folders: string[] }

/** Listings of the first folders; `rest` was not reached. `isSlow`: calls of the thread are in flight together. */
export type WalkResult = { listings: Listing[]; rest: string[]; isSlow: boolean }

// `find` is one thread in C; two of ours keep up with it.
const maxThreads = 2
// Fewer files are listed by the first thread before the second has started.
const filesOfOneThread = 20_000
const maxFolders = 512
const stopPollMs = 100

/**
 * Yields batches of listings. At most four requests to the threads are running or unread. Leaving the loop, or `isStopped`, ends the
 * walk and its threads, without waiting for a disk that does not respond.
 */
export async function* walk(
  options: WalkOptions,
  isStopped: () => boolean,
): AsyncGenerator<Listing[]> {
  const stopped = whenTrue(isStopped)
  const pool = openPiscina(
    {
      filename: new URL('./walk-thread.ts', import.meta.url).href,
      // The second starts when a request waits: most rescans read a single folder.
      minThreads: 1,
      maxThreads,
      atomics: 'disabled',
    },
    stopped.fail,
  )
  const running = new Set<Promise<unknown>>()
  const finished: WalkResult[] = []
  try {
    const starts = await Promise.race([stopped.promise, startFolders(options)])
    if (!starts) return
    const { pending, listedAlone } = starts
    let files = 0
    let isSingle = options.ioDepth > 0
    const startRequests = () => {
      // One thread has as many calls in flight as the disk gets.
      const most = isSingle || files < filesOfOneThread ? 1 : 2 * maxThreads
      while (pending.length > 0 && running.size + finished.length < most) {
        const request: WalkRequest = { options, folders: pending.splice(-maxFolders) }
        const task = pool.run(request).then(result => {
          running.delete(task)
          finished.push(result)
        })
        // It is awaited only by races: one may have ended, and without it the failure is unhandled.
        task.catch(() => {})
        running.add(task)
      }
    }
    startRequests()
    while (running.size > 0 || finished.length > 0) {
      if (finished.length === 0) await Promise.race([...running, stopped.promise])
      if (finished.length === 0) return
      // All at once: where the consumer takes longer than the walk, it has fewer and larger batches.
      const results = finished.splice(0)
      const listings = results.flatMap(result => result.listings)
      isSingle ||= results.some(result => result.isSlow)
      for (const { rest } of results) pending.push(...rest)
      for (const listing of listings) {
        files += listing.files.length
        if (listedAlone.has(listing.path)) continue
        for (const name of listing.folders) pending.push(childPath(listing.path, name))
      }
      // The threads read on while these are compared.
      startRequests()
      yield listings
    }
  } finally {
    stopped.end()
    void pool.destroy().catch(() => {})
  }
}

/** Resolves when the condition holds, rejects by `fail`, unless it is ended before. */
function whenTrue(condition: () => boolean) {
  const { promise, resolve, reject } = Promise.withResolvers<null>()
  // It is awaited only by races.
  promise.catch(() => {})
  const timer = setInterval(() => {
    if (condition()) resolve(null)
  }, stopPollMs)
  return { promise, fail: reject, end: () => clearInterval(timer) }
}

/** The folders to start with, and which of them are listed without their subfolders. None is visited twice. */
async function startFolders(options: WalkOptions) {
  const folders = new Set<string>()
  const listedAlone = new Set<string>()
  const queue = createDiskQueue({ depth: options.ioDepth })
  await Promise.all(
    options.starts.map(async start => {
      if (await isFolder(options, start, queue)) folders.add(start)
      else listedAlone.add(await nearestFolder(options, start, queue))
    }),
  )
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

async function isFolder({ root }: WalkOptions, path: string, queue: DiskQueue) {
  if (path === '') return true
  const stat = await queue.run(() => lstatOrCode(joinPath(root, Buffer.from(path, 'latin1'))))
  return typeof stat !== 'string' && stat.isDirectory()
}

/** The nearest ancestor that exists: a file may be gone together with its folder. */
async function nearestFolder(options: WalkOptions, path: string, queue: DiskQueue) {
  let folder = parentPath(path)
  while (!(await isFolder(options, folder, queue))) folder = parentPath(folder)
  return folder
}
