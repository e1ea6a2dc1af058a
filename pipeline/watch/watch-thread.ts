// Thread that watches library folders with inotify, one watch per folder. A folder is watched before it is
// listed, so that no change in a new folder is missed. Paths are latin1 strings (one character per byte),
// relative to the root.
import { type FSWatcher, lstatSync, readFileSync, watch } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { childPath, joinPath } from '../../lib/base/path.ts'
import { readFolder } from '../scan/disk.ts'

/** A null `root` ends the watch; `ping` is answered immediately. */
export type WatchRequest = { tree: number; root: Uint8Array | null } | { ping: true }
export type WatchMessage =
  | { type: 'pong' }
  | { tree: number; type: 'watching'; folders: number }
  /** `mayBeIncomplete`: there were so many events that the kernel may have dropped some. */
  | { tree: number; type: 'changed'; paths: string[]; mayBeIncomplete: boolean }
  | { tree: number; type: 'failed'; code: string }

type Tree = {
  id: number
  root: Buffer
  folders: Map<string, FSWatcher>
  changed: Set<string>
  /** Those of `changed` that were created, deleted or moved. */
  renamed: Set<string>
}

const port = parentPort!
const trees = new Map<number, Tree>()
const debounceMs = 100
// The kernel drops events when its queue is full, and Node does not report that. A queue fills up all at
// once.
const maxEvents = eventQueueLength() / 2
let events = 0
let isReportScheduled = false

port.on('message', (request: WatchRequest) => {
  if ('ping' in request) return send({ type: 'pong' })
  const { tree: id, root } = request
  const existing = trees.get(id)
  if (existing) closeTree(existing)
  if (root) openTree(id, Buffer.from(root))
})

function openTree(id: number, root: Buffer) {
  const tree: Tree = {
    id,
    root,
    folders: new Map(),
    changed: new Set(),
    renamed: new Set(),
  }
  trees.set(id, tree)
  closeOnError(tree, () => {
    watchBelow(tree, '')
    send({ tree: id, type: 'watching', folders: tree.folders.size })
  })
}

function closeTree(tree: Tree) {
  trees.delete(tree.id)
  for (const watcher of tree.folders.values()) watcher.close()
}

/** A tree that cannot be watched completely is not watched at all. */
function closeOnError(tree: Tree, work: () => void) {
  try {
    work()
  } catch (error) {
    closeTree(tree)
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    send({ tree: tree.id, type: 'failed', code })
  }
}

/** Watches a folder and all below it. Throws errors that affect other folders too. */
function watchBelow(tree: Tree, path: string) {
  const pending = [path]
  while (pending.length > 0) {
    const folder = pending.pop()!
    try {
      tree.folders.get(folder)?.close()
      tree.folders.set(folder, watchFolder(tree, folder))
      for (const entry of readFolder(diskPath(tree, folder)))
        if (entry.isDirectory()) pending.push(childPath(folder, entry.name))
    } catch (error) {
      if (folder === '' || !isIgnorable(error)) throw error
    }
  }
}

// A folder that is gone or unreadable: a scan does not see it either.
function isIgnorable(error: unknown) {
  const { code = '' } = error as NodeJS.ErrnoException
  return ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ESTALE', 'EIO'].includes(code)
}

function watchFolder(tree: Tree, folder: string) {
  const watcher = watch(diskPath(tree, folder), { encoding: 'buffer' }, (type, name) => {
    events += 1
    const path = name === null ? folder : childPath(folder, name.toString('latin1'))
    tree.changed.add(path)
    if (type === 'rename') tree.renamed.add(path)
    if (!isReportScheduled) setTimeout(reportAll, debounceMs)
    isReportScheduled = true
  })
  watcher.on('error', error => {
    if (isIgnorable(error)) return
    closeOnError(tree, () => {
      throw error
    })
  })
  return watcher
}

function reportAll() {
  isReportScheduled = false
  const mayBeIncomplete = events >= maxEvents
  events = 0
  for (const tree of [...trees.values()]) closeOnError(tree, () => report(tree, mayBeIncomplete))
}

function report(tree: Tree, mayBeIncomplete: boolean) {
  const paths = [...tree.changed].filter(path => !isFolderItself(tree, path))
  const renamed = [...tree.renamed]
  tree.changed.clear()
  tree.renamed.clear()
  if (paths.length === 0 && !mayBeIncomplete) return
  const folders = renamed.filter(path => isFolder(tree, path))
  unwatch(tree, new Set(renamed.filter(path => tree.folders.has(path))))
  for (const folder of folders) watchBelow(tree, folder)
  // New folders whose events were dropped are only found by listing everything again.
  if (mayBeIncomplete) watchBelow(tree, '')
  send({ tree: tree.id, type: 'changed', paths, mayBeIncomplete })
}

/** inotify reports changed attributes of a folder under its own name, as if it were its own entry. */
function isFolderItself(tree: Tree, path: string) {
  const parts = path.split('/')
  if (tree.renamed.has(path) || parts.length < 2 || parts.at(-1) !== parts.at(-2)) return false
  return lstatSync(diskPath(tree, path), { throwIfNoEntry: false }) === undefined
}

/** Ends the watches of folders that are gone or replaced, and of everything below them. */
function unwatch(tree: Tree, folders: Set<string>) {
  if (folders.size === 0) return
  for (const [path, watcher] of tree.folders) {
    if (path === '' || !isWithin(path, folders)) continue
    watcher.close()
    tree.folders.delete(path)
  }
}

function isWithin(path: string, folders: Set<string>) {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
    if (folders.has(path.slice(0, end))) return true
  return false
}

function isFolder(tree: Tree, path: string) {
  try {
    return lstatSync(diskPath(tree, path), { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch {
    return false
  }
}

function diskPath({ root }: Tree, path: string) {
  return joinPath(root, Buffer.from(path, 'latin1'))
}

function eventQueueLength() {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) || 16_384
  } catch {
    return 16_384
  }
}

function send(message: WatchMessage) {
  port.postMessage(message)
}
