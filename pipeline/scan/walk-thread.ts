// Thread that lists folders: synchronous readdir and stat are many times as fast as asynchronous ones, and do
// not block the process here. On a slow disk waiting matters more, so many calls are in flight there. Names
// are passed as latin1 strings, one character per byte.
import { hash } from 'node:crypto'
import { createDiskQueue, type DiskQueue } from '../../lib/base/async/disk-queue.ts'
import { threadTask } from '../../lib/base/async/thread-task.ts'
import { type Containment, linkFoldersOf } from '../../lib/base/containment.ts'
import { isShortage } from '../../lib/base/errors.ts'
import { childPath, extensionOf, foldName, isWithin, pathText } from '../../lib/base/path.ts'
import { isSpecial, specialFolders } from '../../lib/base/special-folders.ts'
import { imageStem, isImageName } from '../../lib/media/name/artwork.ts'
import {
  compileExclusions,
  type Excluded,
  isLaterVolume,
} from '../../lib/media/strategy/exclusions.ts'
import { type Entry, errorCode, isRecent, isSidecar, readFolder, readFolderQueued } from './disk.ts'
import { type FileStat, type LinkRules, realPaths, statFile, statFileAsync } from './file-stat.ts'
import type { Listing, WalkOptions, WalkRequest, WalkResult } from './walk.ts'

type CompiledOptions = LinkRules & {
  rootText: string
  /** Paths of folders that are not entered, latin1. */
  foreign: Set<string>
  seed: string
  extensions: Set<string>
  excluded: Excluded
  quietMs: number
  queue: DiskQueue
}

const nonAscii = /[^\x00-\x7f]/
// Enough for cheap hand-over, few enough to show progress.
const maxFiles = 6_000

let compiled: CompiledOptions | null = null

/** Lists folders until there are enough files. A thread serves one walk, so its options are compiled once. */
export default threadTask(list)

async function list({ options, folders }: WalkRequest): Promise<WalkResult> {
  compiled ??= compile(options)
  const { queue } = compiled
  const listings: Listing[] = []
  const running = new Set<Promise<void>>()
  let files = 0
  const add = (listing: Listing) => {
    files += listing.files.length
    listings.push(listing)
  }
  while (folders.length > 0 && files < maxFiles) {
    const listing = listFolder(folders.pop()!, compiled)
    if (!queue.isSlow()) {
      add(await listing)
      continue
    }
    const task: Promise<void> = listing.then(done => {
      running.delete(task)
      add(done)
    })
    running.add(task)
    await queue.whenFree()
  }
  await Promise.all(running)
  return { listings, rest: folders, isSlow: queue.isSlow() }
}

function compile(options: WalkOptions): CompiledOptions {
  return {
    rootText: Buffer.from(options.root).toString('latin1'),
    containment: options.containment,
    linkTargets: realPaths(linkFoldersOf(options.containment)),
    foreign: foreignFolders(Buffer.from(options.root), options.containment),
    seed: options.seed,
    extensions: new Set(options.extensions),
    excluded: compileExclusions(options.excludedPatterns),
    quietMs: options.quietMs,
    queue: createDiskQueue({ depth: options.ioDepth }),
  }
}

async function listFolder(path: string, options: CompiledOptions): Promise<Listing> {
  const listing = emptyListing(path)
  try {
    const entries = await readEntries(path, options)
    entries.sort((a, b) => (a.name < b.name ? -1 : 1))
    const digestParts = [options.seed]
    const stems = bookStems(entries, options)
    await addEntries(entries, { listing, digestParts, stems, ...pathsOf(path, options) }, options)
    listing.digest = hash('md5', digestParts.join('\n'), 'hex')
  } catch (error) {
    if (isShortage(error)) throw error
    return { ...emptyListing(path), error: errorCode(error) }
  }
  return listing
}

const emptyListing = (path: string): Listing => ({
  ...{ path, digest: '', sidecars: {}, files: [], sizes: [], times: [] },
  ...{ folders: [], unreadable: [], recent: [] },
})

/** Empty in a folder without images. */
function bookStems(entries: readonly Entry[], { extensions }: CompiledOptions): Set<string> {
  const stems = new Set<string>()
  if (!entries.some(({ name }) => isImageName(name))) return stems
  for (const { name } of entries) {
    if (!extensions.has(extensionOf(name))) continue
    const stem = name.slice(0, name.lastIndexOf('.'))
    stems.add(foldName(nonAscii.test(stem) ? pathText(Buffer.from(stem, 'latin1')) : stem))
  }
  return stems
}

type Target = {
  listing: Listing
  digestParts: string[]
  /** Path relative to the root, decoded. */
  folderText: string
  /** Names of the books without extensions, folded: an image with the same name is a cover. */
  stems: Set<string>
  /** Path on disk with a trailing slash, latin1. */
  diskFolder: string
  isAscii: boolean
}

function pathsOf(path: string, { rootText }: CompiledOptions) {
  const root = rootText === '/' ? '' : rootText
  const diskFolder = path === '' ? `${root}/` : `${root}/${path}/`
  return { folderText: decode(path), diskFolder, isAscii: !nonAscii.test(diskFolder) }
}

/** Reads synchronously until the disk proves slow, and the rest with many calls in flight. */
async function addEntries(entries: Entry[], target: Target, options: CompiledOptions) {
  const { queue } = options
  let i = 0
  for (; i < entries.length && !queue.isSlow(); i++) {
    const item = itemOf(entries[i]!, target, options)
    if (item === null) continue
    const startedAt = startCall()
    const stat = item.kind === 'folder' ? undefined : statFile(item, options)
    if (startedAt > 0 && item.kind !== 'folder') queue.record(performance.now() - startedAt)
    addItem(item, stat, target, options)
  }
  if (i === entries.length) return
  const rest = entries.slice(i).flatMap(entry => itemOf(entry, target, options) ?? [])
  const files = rest.filter(({ kind }) => kind !== 'folder')
  const stats = await queue.each(files, item => statFileAsync(item, options))
  let next = 0
  for (const item of rest)
    addItem(item, item.kind === 'folder' ? undefined : stats[next++], target, options)
}

/** An entry that is relevant to the catalog. */
type Item = {
  kind: 'folder' | 'book' | 'sidecar'
  name: string
  nameText: string
  isFile: boolean
  path: string | Buffer
}

function itemOf(entry: Entry, target: Target, options: CompiledOptions): Item | null {
  const { name } = entry
  const isAscii = !nonAscii.test(name)
  const nameText = isAscii ? name : pathText(Buffer.from(name, 'latin1'))
  const kind = kindOf(entry, nameText, target, options)
  if (kind === null) return null
  if (options.excluded(childPath(target.folderText, nameText), nameText, kind === 'folder'))
    return null
  const diskText = target.diskFolder + name
  if (kind === 'folder' && options.foreign.has(diskText)) return null
  const isFile = entry.isFile()
  if (kind !== 'folder' && !isFile && !options.containment.followLinks) return null
  const path = isAscii && target.isAscii ? diskText : Buffer.from(diskText, 'latin1')
  return { kind, name, nameText, isFile, path }
}

function kindOf(
  entry: Entry,
  nameText: string,
  { stems }: Target,
  { extensions }: CompiledOptions,
) {
  if (entry.isDirectory()) return 'folder'
  if (!extensions.has(extensionOf(nameText))) {
    const isCover = isImageName(nameText) && stems.has(imageStem(nameText))
    return isCover || isSidecar(nameText) ? 'sidecar' : null
  }
  // Later volumes of a multi-volume archive are part of the first one's book.
  return isLaterVolume(nameText) ? null : 'book'
}

function addItem(
  { kind, name, nameText }: Item,
  stat: FileStat,
  { listing, digestParts }: Target,
  options: CompiledOptions,
) {
  if (kind === 'folder') {
    listing.folders.push(name)
    digestParts.push(`${name}/`)
    return
  }
  if (typeof stat === 'string') {
    listing.unreadable.push(name)
    digestParts.push(`${name}\0${stat}`)
    return
  }
  if (!stat?.isFile()) return
  if (options.quietMs > 0 && isRecent(stat.mtimeMs, options.quietMs)) {
    listing.recent.push(name)
    // The folder will differ again once the file is old enough, or is scanned without `quietMs`.
    digestParts.push(`${name}\0recent`)
    return
  }
  // Rounded, not truncated: setting times through a JavaScript Date also rounds to milliseconds.
  const time = Math.round(stat.mtimeMs)
  digestParts.push(`${name}\0${stat.size}\0${time}`)
  if (kind === 'sidecar') {
    listing.sidecars[nameText] = time
    return
  }
  listing.files.push(name)
  listing.sizes.push(stat.size)
  listing.times.push(time)
}

// The first calls of a thread are timed, then a sample of them.
const timedCalls = 64
const sample = 8
let calls = 0

const startCall = () => {
  calls += 1
  return calls <= timedCalls || calls % sample === 0 ? performance.now() : 0
}

async function readEntries(folder: string, options: CompiledOptions): Promise<Entry[]> {
  const { queue } = options
  const path = diskPath(options, folder)
  if (queue.isSlow()) return await readFolderQueued(path, queue)
  const startedAt = startCall()
  const entries = readFolder(path)
  if (startedAt > 0) queue.record(performance.now() - startedAt)
  return entries
}

/** The data directory and special file systems below the root. */
function foreignFolders(root: Buffer, { dataDir }: Containment): Set<string> {
  const folders = [...realPaths([dataDir]), ...specialFolders().filter(folder => isSpecial(folder))]
  return new Set(
    folders.filter(folder => isWithin(folder, root)).map(folder => folder.toString('latin1')),
  )
}

function decode(latin1: string) {
  return nonAscii.test(latin1) ? pathText(Buffer.from(latin1, 'latin1')) : latin1
}

function diskPath({ rootText }: CompiledOptions, path: string): string | Buffer {
  const joined = path === '' ? rootText : `${rootText}/${path}`
  return nonAscii.test(joined) ? Buffer.from(joined, 'latin1') : joined
}
