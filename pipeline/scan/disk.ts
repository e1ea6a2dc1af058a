// How folders and files are looked at: by the walk, and by whoever watches them.
import { type Dirent, lstatSync, readdirSync, type Stats } from 'node:fs'
import { joinPath } from '../../lib/path.ts'

/** The name is a latin1 string: bytes one to one. */
export type Entry = Pick<Dirent, 'name' | 'isDirectory' | 'isFile'>

const sidecarName = /^(metadata\.opf|series\.json|cover\.(jpe?g|png|webp)|.+\.opf)$/i

/** A file beside the books that says something of them. */
export function isSidecar(name: string): boolean {
  return sidecarName.test(name)
}

export function readFolder(path: string | Buffer): Entry[] {
  try {
    return readdirSync(path, { withFileTypes: true, encoding: 'latin1' })
  } catch {
    return readUntyped(path)
  }
}

/**
 * Some file systems (NFS, FUSE, 9p) do not say what an entry is. Node then looks itself, and cannot
 * join our path and a latin1 name; so the names are asked for alone and each is looked at here.
 */
export function readUntyped(path: string | Buffer): Entry[] {
  const folder = Buffer.from(path)
  return readdirSync(path, { encoding: 'latin1' }).map(name => {
    const stat = statOrCode(lstatSync, joinPath(folder, Buffer.from(name, 'latin1')))
    const known = typeof stat === 'string' ? null : stat
    return {
      name,
      isDirectory: () => known?.isDirectory() ?? false,
      isFile: () => known?.isFile() ?? false,
    }
  })
}

/** The errno name when it cannot be looked at. */
export function statOrCode(stat: (path: string | Buffer) => Stats, path: string | Buffer) {
  try {
    return stat(path)
  } catch (error) {
    return codeOf(error)
  }
}

export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'EIO'
}

// The clock of a file server may be ahead of ours; a time far ahead is no clock.
const mostAheadMs = 60_000

/** Whether a file changed less than `quietMs` ago, or so it says: it may still be written. */
export function isYoung(modifiedMs: number, quietMs: number): boolean {
  const age = Date.now() - modifiedMs
  return age < quietMs && age > -mostAheadMs
}
