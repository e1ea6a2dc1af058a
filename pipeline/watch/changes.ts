// Changes of a library that have not been scanned yet: paths while there are few, the folders around them if
// there are many, the whole library at worst. A path is due when two checks, some time apart, saw the same
// state. Paths are latin1 strings relative to the root.
import { lstat, stat } from 'node:fs/promises'
import { joinPath, parentPath } from '../../lib/base/path.ts'
import { folderOf, mountHealth, mountKey } from '../../lib/store/mount/mount-health.ts'
import { isRecent } from '../scan/disk.ts'

/**
 * How long a file must be unchanged before it counts as completely written. A busy disk may pause for a
 * second.
 */
export const quietMs = 1_500

const maxPaths = 500
const maxFolders = 500
// Folders with many changes are not checked file by file: their scan omits recently modified files.
const folderQuietMs = 1_000
const maxFolderWaitMs = 3_000
const concurrency = 16

type Check = { state: string; checkedAt: number; isDue: boolean }
type Span = { first: number; last: number }
/** Paths not yet checked are null; folder '' is the whole library. Times in ms since 1970. */
export type Changes = { paths: Map<string, Check | null>; folders: Map<string, Span> }

export function createChanges(): Changes {
  return { paths: new Map(), folders: new Map() }
}

export function isEmpty({ paths, folders }: Changes): boolean {
  return paths.size === 0 && folders.size === 0
}

export function addChanges(changes: Changes, paths: string[], now = Date.now()) {
  for (const path of paths) {
    const folder = path === '' ? '' : enclosingFolder(changes.folders, path)
    const check = changes.paths.get(path)
    if (folder !== null) addFolder(changes, folder, now)
    else changes.paths.set(path, check ? { ...check, isDue: false } : null)
    if (changes.paths.size > maxPaths) mergeToFolders(changes, now)
  }
}

/** Replaces the paths by their folders; if there are many of these as well, by the root. */
function mergeToFolders(changes: Changes, now: number) {
  for (const path of changes.paths.keys()) addFolder(changes, parentPath(path), now)
  changes.paths.clear()
  if (changes.folders.size <= maxFolders) return
  const first = Math.min(...[...changes.folders.values()].map(span => span.first))
  changes.folders.clear()
  changes.folders.set('', { first, last: now })
}

function addFolder({ folders }: Changes, folder: string, now: number) {
  folders.set(folder, { first: folders.get(folder)?.first ?? now, last: now })
}

/** The changed folder that contains a path. */
function enclosingFolder(folders: Map<string, Span>, path: string): string | null {
  let ancestor = path
  while (ancestor !== '') {
    ancestor = parentPath(ancestor)
    if (folders.has(ancestor)) return ancestor
  }
  return null
}

/**
 * Checks the paths whose time has come. Removes files for which `isRelevant` returns false. Throws
 * NotResponding.
 */
export async function checkPaths(
  changes: Changes,
  root: Buffer,
  isRelevant: (path: string) => boolean,
) {
  const now = Date.now()
  const waiting = [...changes.paths].filter(
    ([, check]) => !check || (!check.isDue && now - check.checkedAt >= quietMs),
  )
  for (let i = 0; i < waiting.length; i += concurrency) {
    await Promise.all(
      waiting.slice(i, i + concurrency).map(async ([path, before]) => {
        const place = joinPath(root, Buffer.from(path, 'latin1'))
        const look = () => stateOf(place)
        const { state, isYoung } = await mountHealth.run(mountKey(root), look, {
          folder: folderOf(place),
        })
        // It changed again, or was merged into a folder, during the check.
        if (changes.paths.get(path) !== before) return
        const isStable = before?.state === state
        if (state.startsWith('file') && !isRelevant(path)) changes.paths.delete(path)
        else changes.paths.set(path, { state, checkedAt: Date.now(), isDue: isStable && !isYoung })
      }),
    )
  }
}

// A deletion waits as long as a creation, so that one scan sees both ends of a move.
async function stateOf(path: Buffer): Promise<{ state: string; isYoung: boolean }> {
  const stats = await stat(path).catch(() => lstat(path).catch(() => null))
  if (stats === null) return { state: 'gone', isYoung: false }
  if (stats.isDirectory()) return { state: 'folder', isYoung: false }
  return { state: `file ${stats.size} ${stats.mtimeMs}`, isYoung: isRecent(stats.mtimeMs, quietMs) }
}

/** Removes and returns what is due: paths to scan, or just '' for the whole library. */
export function takeDue(changes: Changes, now = Date.now()): string[] {
  const due: string[] = []
  for (const [folder, { first, last }] of changes.folders) {
    if (now - last < folderQuietMs && now - first < maxFolderWaitMs) continue
    changes.folders.delete(folder)
    due.push(folder)
  }
  for (const [path, check] of changes.paths) {
    if (!check?.isDue) continue
    changes.paths.delete(path)
    due.push(path)
  }
  return due.includes('') ? [''] : due
}
