// A thread that hears of changes in the folders of libraries: one watch a folder. A folder is watched
// before it is listed, so that nothing is missed that comes into a new one. Paths are latin1 strings
// (bytes one to one), relative to the root.
import { type FSWatcher, lstatSync, readFileSync, watch } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { below, joinPath } from '../../lib/path.ts'
import { readFolder } from '../scan/disk.ts'

/** `root` null: no longer. */
export type Order = { tree: number; root: Uint8Array | null }
export type Heard =
  | { tree: number; type: 'watching'; folders: number }
  /** `flooded`: there was so much that the kernel may have dropped some of it. */
  | { tree: number; type: 'changed'; paths: string[]; flooded: boolean }
  | { tree: number; type: 'failed'; code: string }

type Tree = {
  id: number
  root: Buffer
  folders: Map<string, FSWatcher>
  changed: Set<string>
  /** Of these: what came or went. */
  moved: Set<string>
}

const port = parentPort!
const trees = new Map<number, Tree>()
const gatherMs = 100
// When its queue is full the kernel drops events, and Node does not say so. A full queue comes at once.
const flood = queueLength() / 2
let events = 0
let isGathering = false

port.on('message', ({ tree: id, root }: Order) => {
  const known = trees.get(id)
  if (known) end(known)
  if (root) begin(id, Buffer.from(root))
})

function begin(id: number, root: Buffer) {
  const tree = {
    id,
    root,
    folders: new Map(),
    changed: new Set<string>(),
    moved: new Set<string>(),
  }
  trees.set(id, tree)
  guarded(tree, () => {
    follow(tree, '')
    say({ tree: id, type: 'watching', folders: tree.folders.size })
  })
}

function end(tree: Tree) {
  trees.delete(tree.id)
  for (const watcher of tree.folders.values()) watcher.close()
}

/** What cannot be watched whole is not watched at all. */
function guarded(tree: Tree, work: () => void) {
  try {
    work()
  } catch (error) {
    end(tree)
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    say({ tree: tree.id, type: 'failed', code })
  }
}

/** Watches a folder and all below it. Throws what keeps it from watching more. */
function follow(tree: Tree, path: string) {
  const waiting = [path]
  while (waiting.length > 0) {
    const folder = waiting.pop()!
    try {
      tree.folders.get(folder)?.close()
      tree.folders.set(folder, listen(tree, folder))
      for (const entry of readFolder(disk(tree, folder)))
        if (entry.isDirectory()) waiting.push(below(folder, entry.name))
    } catch (error) {
      if (folder === '' || !passes(error)) throw error
    }
  }
}

// A folder that went meanwhile, or that we may not look into: a scan sees as little of it.
function passes(error: unknown) {
  const { code = '' } = error as NodeJS.ErrnoException
  return ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ESTALE', 'EIO'].includes(code)
}

function listen(tree: Tree, folder: string) {
  const watcher = watch(disk(tree, folder), { encoding: 'buffer' }, (type, name) => {
    events += 1
    const path = name === null ? folder : below(folder, name.toString('latin1'))
    tree.changed.add(path)
    if (type === 'rename') tree.moved.add(path)
    if (!isGathering) setTimeout(tellAll, gatherMs)
    isGathering = true
  })
  watcher.on('error', error => {
    if (!passes(error)) guarded(tree, () => raise(error))
  })
  return watcher
}

function raise(error: unknown): never {
  throw error
}

function tellAll() {
  isGathering = false
  const flooded = events >= flood
  events = 0
  for (const tree of [...trees.values()]) guarded(tree, () => tell(tree, flooded))
}

function tell(tree: Tree, flooded: boolean) {
  const changed = [...tree.changed].filter(path => !isItself(tree, path))
  const moved = [...tree.moved]
  tree.changed.clear()
  tree.moved.clear()
  if (changed.length === 0 && !flooded) return
  const folders = moved.filter(path => isFolder(tree, path))
  leave(tree, new Set(moved.filter(path => tree.folders.has(path))))
  for (const folder of folders) follow(tree, folder)
  // Folders that came while others were dropped are only found by looking again.
  if (flooded) follow(tree, '')
  say({ tree: tree.id, type: 'changed', paths: changed, flooded })
}

/** A folder tells of its own times and rights under its own name, as if it were in itself. */
function isItself(tree: Tree, path: string) {
  const parts = path.split('/')
  if (tree.moved.has(path) || parts.length < 2 || parts.at(-1) !== parts.at(-2)) return false
  return lstatSync(disk(tree, path), { throwIfNoEntry: false }) === undefined
}

/** Ends the watches of folders that are gone, or have another one at their place, and of all below them. */
function leave(tree: Tree, gone: Set<string>) {
  if (gone.size === 0) return
  for (const [path, watcher] of tree.folders) {
    if (path === '' || !within(path, gone)) continue
    watcher.close()
    tree.folders.delete(path)
  }
}

function within(path: string, gone: Set<string>) {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
    if (gone.has(path.slice(0, end))) return true
  return false
}

function isFolder(tree: Tree, path: string) {
  try {
    return lstatSync(disk(tree, path), { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch {
    return false
  }
}

function disk({ root }: Tree, path: string) {
  return joinPath(root, Buffer.from(path, 'latin1'))
}

function queueLength() {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) || 16_384
  } catch {
    return 16_384
  }
}

function say(heard: Heard) {
  port.postMessage(heard)
}
