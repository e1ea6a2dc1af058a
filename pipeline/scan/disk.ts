// Directory listing and stat for the walk and for folder watching, synchronous or through a queue.
import { type Dirent, lstat, lstatSync, readdir, readdirSync, type Stats, stat } from 'node:fs'
import type { DiskQueue } from '../../lib/base/async/disk-queue.ts'
import { joinPath } from '../../lib/base/path.ts'
import { isFolderArtwork } from '../../lib/media/name/artwork.ts'

/** The name is a latin1 string: one character per byte. */
export type Entry = Pick<Dirent, 'name' | 'isDirectory' | 'isFile'>

const metadataName = /^(series\.json|.+\.opf)$/i

/** True for a metadata file next to the books. */
export const isMetadataSidecar = (name: string): boolean => metadataName.test(name)

/** True for a metadata file next to the books, or a cover of the folder. */
export const isSidecar = (name: string): boolean => isMetadataSidecar(name) || isFolderArtwork(name)

export function readFolder(path: string | Buffer): Entry[] {
  try {
    return readdirSync(path, { withFileTypes: true, encoding: 'latin1' })
  } catch {
    return readUntyped(path)
  }
}

/**
 * Some file systems (NFS, FUSE, 9p) do not return entry types. Node would then call stat itself, and fail to
 * join our path with a latin1 name; so only names are read here and each is looked up.
 */
export function readUntyped(path: string | Buffer): Entry[] {
  const folder = Buffer.from(path)
  return readdirSync(path, { encoding: 'latin1' }).map(name =>
    typed(name, statOrCode(lstatSync, joinPath(folder, Buffer.from(name, 'latin1')))),
  )
}

/** Like `readFolder`, with its calls in the queue. */
export async function readFolderQueued(path: string | Buffer, queue: DiskQueue): Promise<Entry[]> {
  try {
    return await queue.run(() => readTyped(path))
  } catch {
    const folder = Buffer.from(path)
    const names = await queue.run(() => readNames(path))
    return await queue.each(names, async name =>
      typed(name, await lstatOrCode(joinPath(folder, Buffer.from(name, 'latin1')))),
    )
  }
}

function typed(name: string, result: Stats | string): Entry {
  const stats = typeof result === 'string' ? null : result
  return {
    name,
    isDirectory: () => stats?.isDirectory() ?? false,
    isFile: () => stats?.isFile() ?? false,
  }
}

// Callbacks: the functions of node:fs/promises take three times as long.
const readTyped = (path: string | Buffer) =>
  new Promise<Entry[]>((resolve, reject) =>
    readdir(path, { withFileTypes: true, encoding: 'latin1' }, (error, entries) =>
      error ? reject(error) : resolve(entries),
    ),
  )

const readNames = (path: string | Buffer) =>
  new Promise<string[]>((resolve, reject) =>
    readdir(path, { encoding: 'latin1' }, (error, names) =>
      error ? reject(error) : resolve(names),
    ),
  )

const asOrCode = (call: typeof stat | typeof lstat) => (path: string | Buffer) =>
  new Promise<Stats | string>(resolve =>
    call(path, (error, stats) => resolve(error ? errorCode(error) : stats)),
  )

/** The stat of a path, or the errno name if it fails; the second does not follow links. */
export const followOrCode: (path: string | Buffer) => Promise<Stats | string> = asOrCode(stat)
export const lstatOrCode: typeof followOrCode = asOrCode(lstat)

/** The stat of a path, or the errno name if it fails. */
export function statOrCode(stat: (path: string | Buffer) => Stats, path: string | Buffer) {
  try {
    return stat(path)
  } catch (error) {
    return errorCode(error)
  }
}

export function errorCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'EIO'
}

// A file server's clock may be ahead of ours; a time further ahead is wrong.
const maxAheadMs = 60_000

/** True if a file was modified less than `quietMs` ago: it may still be being written. */
export function isRecent(modifiedMs: number, quietMs: number): boolean {
  const ageMs = Date.now() - modifiedMs
  return ageMs < quietMs && ageMs > -maxAheadMs
}
