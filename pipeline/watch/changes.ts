// What has changed in a library and was not scanned yet: paths while there are few, the folders around
// them when there are many, the whole library at worst. A path is due when two looks, some time apart,
// saw the same. Paths are latin1 strings relative to the root.
import { lstat, stat } from 'node:fs/promises'
import { joinPath, parentOf } from '../../lib/path.ts'
import { isYoung } from '../scan/disk.ts'

/** How long a file must stay as it is before it counts as written. A busy disk may rest for a second. */
export const quietMs = 1_500

const mostPaths = 500
const mostFolders = 500
// Folders of which so much is told are not looked at file by file: their scan leaves out what is young.
const folderMs = { quiet: 1_000, most: 3_000 }
const atOnce = 16

type Look = { seen: string; at: number; isDue: boolean }
type Span = { first: number; last: number }
/** Of `folders`, '' stands for the whole library. Times in milliseconds since 1970. */
export type Changes = { paths: Map<string, Look | null>; folders: Map<string, Span> }

export function noChanges(): Changes {
  return { paths: new Map(), folders: new Map() }
}

export function isEmpty({ paths, folders }: Changes): boolean {
  return paths.size === 0 && folders.size === 0
}

export function noteChanges(changes: Changes, paths: string[], now = Date.now()) {
  for (const path of paths) {
    const folder = path === '' ? '' : around(changes.folders, path)
    const look = changes.paths.get(path)
    if (folder !== null) noteFolder(changes, folder, now)
    else changes.paths.set(path, look ? { ...look, isDue: false } : null)
    if (changes.paths.size > mostPaths) fold(changes, now)
  }
}

/** Keeps the folders of the paths; when they are many as well, the root. */
function fold(changes: Changes, now: number) {
  for (const path of changes.paths.keys()) noteFolder(changes, parentOf(path), now)
  changes.paths.clear()
  if (changes.folders.size <= mostFolders) return
  const first = Math.min(...[...changes.folders.values()].map(span => span.first))
  changes.folders.clear()
  changes.folders.set('', { first, last: now })
}

function noteFolder({ folders }: Changes, folder: string, now: number) {
  folders.set(folder, { first: folders.get(folder)?.first ?? now, last: now })
}

/** The noted folder that a path lies in. */
function around(folders: Map<string, Span>, path: string): string | null {
  for (let at = path; at !== ''; ) {
    at = parentOf(at)
    if (folders.has(at)) return at
  }
  return null
}

/** Looks at the paths again whose time has come. Files are dropped unless `matters` says yes to them. */
export async function look(changes: Changes, root: Buffer, matters: (path: string) => boolean) {
  const now = Date.now()
  const waiting = [...changes.paths].filter(
    ([, look]) => !look || (!look.isDue && now - look.at >= quietMs),
  )
  for (let i = 0; i < waiting.length; i += atOnce) {
    await Promise.all(
      waiting.slice(i, i + atOnce).map(async ([path, before]) => {
        const { seen, young } = await lookAt(joinPath(root, Buffer.from(path, 'latin1')))
        // Told of again, or folded, while it was looked at.
        if (changes.paths.get(path) !== before) return
        const stays = before?.seen === seen
        if (seen.startsWith('file') && !matters(path)) changes.paths.delete(path)
        else changes.paths.set(path, { seen, at: Date.now(), isDue: stays && !young })
      }),
    )
  }
}

// What went waits as long as what came, so that one scan sees both ends of a move.
async function lookAt(path: Buffer): Promise<{ seen: string; young: boolean }> {
  const found = await stat(path).catch(() => lstat(path).catch(() => null))
  if (found === null) return { seen: 'gone', young: false }
  if (found.isDirectory()) return { seen: 'folder', young: false }
  return { seen: `file ${found.size} ${found.mtimeMs}`, young: isYoung(found.mtimeMs, quietMs) }
}

/** Takes out what is due: paths to scan, '' alone for the whole library. */
export function takeDue(changes: Changes, now = Date.now()): string[] {
  const due: string[] = []
  for (const [folder, { first, last }] of changes.folders) {
    if (now - last < folderMs.quiet && now - first < folderMs.most) continue
    changes.folders.delete(folder)
    due.push(folder)
  }
  for (const [path, look] of changes.paths) {
    if (!look?.isDue) continue
    changes.paths.delete(path)
    due.push(path)
  }
  return due.includes('') ? [''] : due
}
