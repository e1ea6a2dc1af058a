// Directory walk of a library in two threads, producing batches of folder listings. A folder may come before
// or after its parent.
import { availableParallelism } from 'node:os'
import type { Piscina } from 'piscina'
import { createDiskQueue, type DiskQueue } from '../../lib/base/async/disk-queue.ts'
import { openPiscina } from '../../lib/base/async/thread-pool.ts'
import type { Containment } from '../../lib/base/containment.ts'
import { programFile } from '../../lib/base/package.ts'
import { childPath, joinPath, parentPath } from '../../lib/base/path.ts'
import { lstatOrCode } from './disk.ts'

/** One folder on disk. Names and paths are latin1 strings (one character per byte), paths relative to the root. */
export type Listing = {
  path: string
  /** MD5 of the names, sizes and times of books and sidecars and the names of folders; hex. */
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
  /** Names of recently modified files, which `quietMs` leaves to a later scan. */
  recent: string[]
  /** errno name if the folder could not be read; nothing below it is visited. */
  error?: string
}

export type WalkOptions = {
  root: Uint8Array
  containment: Containment
  /** Folders to walk recursively, or files whose folder is listed without subfolders; `''` is the root. */
  starts: string[]
  extensions: string[]
  excludedPatterns: string
  /** Part of every digest: a change of the rules makes every folder look changed. */
  seed: string
  /** Omits files modified less than this long ago; 0 includes all. */
  quietMs: number
  /** Calls in flight on the disk; 0 derives their number from its latency. */
  ioDepth: number
}

export type WalkRequest = { options: WalkOptions; folders: string[] }

/**
 * Listings of the first folders; `rest` was not reached. `isSlow`: the thread has several calls in flight.
 */
export type WalkResult = { listings: Listing[]; rest: string[]; isSlow: boolean }

// `find` is one thread in C; two of ours match it.
const maxThreads = Math.min(2, availableParallelism())
// A second thread costs 60 ms of CPU time (loading, compiling); it only pays off if there is that much to
// read.
const filesOfOneThread = 10_000
// This many calls show whether the disk is slow: then one thread has all calls in flight.
const firstFolders = 8
// A request costs as much as reading a few folders.
const minFolders = 64
const maxFolders = 512
const stopPollMs = 100

/**
 * Its threads load immediately; they end when it is disposed of, without waiting for an unresponsive disk.
 */
export type Walk = Disposable & {
  /** Starts reading folders before the batches are awaited. */
  start(): void
  /**
   * Batches of listings. At most four requests to the threads are running or unread. Ends when `isStopped`.
   */
  batches(isStopped: () => boolean): AsyncGenerator<Listing[]>
}

/** `expectedFiles`: roughly how many there are, if known. */
export function openWalk(options: WalkOptions, expectedFiles = 0): Walk {
  const isLarge = expectedFiles > filesOfOneThread
  const { pool, failure } = takeThreads(isLarge)
  const running = new Set<Promise<unknown>>()
  const finished: WalkResult[] = []
  const pending: string[] = []
  let listedAlone = new Set<string>()
  let files = 0
  let folders = 0
  let isSingle = options.ioDepth > 0
  let starting: Promise<void> | null = null
  let isDisposed = false

  function startRequests() {
    const isKnown = folders >= firstFolders
    const isParallel = isKnown && !isSingle && (isLarge || files >= filesOfOneThread)
    const most = isParallel ? 2 * maxThreads : 1
    while (pending.length > 0 && running.size + finished.length < most) {
      // Shares, so that no thread is idle while another has all folders.
      const share = isParallel ? Math.max(minFolders, Math.ceil(pending.length / most)) : maxFolders
      const count = isKnown ? Math.min(share, maxFolders) : firstFolders
      const request: WalkRequest = { options, folders: pending.splice(-count) }
      const task = pool.run(request).then(result => {
        running.delete(task)
        finished.push(result)
      })
      // Only awaited in races: a race may have ended, which would leave the rejection unhandled.
      task.catch(() => {})
      running.add(task)
    }
  }
  function start() {
    starting ??= startFolders(options).then(starts => {
      pending.push(...starts.pending)
      listedAlone = starts.listedAlone
      startRequests()
    })
    starting.catch(() => {})
    return starting
  }
  /** Takes all finished results: a consumer slower than the walk gets fewer and larger batches. */
  function takeListings(): Listing[] {
    const results = finished.splice(0)
    const listings = results.flatMap(result => result.listings)
    isSingle ||= results.some(result => result.isSlow)
    for (const { rest } of results) pending.push(...rest)
    folders += listings.length
    for (const listing of listings) {
      files += listing.files.length
      if (listedAlone.has(listing.path)) continue
      for (const name of listing.folders) pending.push(childPath(listing.path, name))
    }
    return listings
  }
  return {
    start,
    async *batches(isStopped) {
      const stopped = whenTrue(isStopped)
      const ends = [stopped.promise, failure]
      try {
        if ((await Promise.race([...ends, start()])) === null) return
        while (running.size > 0 || finished.length > 0) {
          if (finished.length === 0) await Promise.race([...running, ...ends])
          if (finished.length === 0) return
          const listings = takeListings()
          // The threads continue to read while these are compared.
          startRequests()
          yield listings
        }
      } finally {
        stopped.end()
      }
    },
    [Symbol.dispose]() {
      if (!isDisposed) void pool.destroy().catch(() => {})
      isDisposed = true
    },
  }
}

type Threads = { pool: Piscina; failure: Promise<never> }

// Not shared between walks: a hung disk holds the threads of its walk.
let spare: Threads | null = null

/** Starts the threads of the next walk, for a process that will scan after startup. */
export function prepareWalk() {
  spare ??= openThreads(maxThreads)
}

/** Ends the threads that no walk has taken. */
export function discardPreparedWalk() {
  void spare?.pool.destroy().catch(() => {})
  spare = null
}

function takeThreads(isLarge: boolean): Threads {
  const prepared = spare
  spare = null
  // Most rescans read a single folder: there the second thread starts once a request waits.
  return prepared ?? openThreads(isLarge ? maxThreads : 1)
}

function openThreads(minThreads: number): Threads {
  const { promise, reject } = Promise.withResolvers<never>()
  // Only awaited in races.
  promise.catch(() => {})
  const filename = programFile('pipeline/scan/walk-thread')
  const pool = openPiscina({ filename, minThreads, maxThreads, atomics: 'disabled' }, reject)
  return { pool, failure: promise }
}

/** Resolves when the condition holds, unless it is ended first. */
function whenTrue(condition: () => boolean) {
  const { promise, resolve } = Promise.withResolvers<null>()
  const timer = setInterval(() => {
    if (condition()) resolve(null)
  }, stopPollMs)
  return { promise, end: () => clearInterval(timer) }
}

/** The start folders, and which of them are listed without their subfolders. None is visited twice. */
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

/** The nearest existing ancestor: a file may be gone together with its folder. */
async function nearestFolder(options: WalkOptions, path: string, queue: DiskQueue) {
  let folder = parentPath(path)
  while (!(await isFolder(options, folder, queue))) folder = parentPath(folder)
  return folder
}
