// Directory listing and stat for the walk and for folder watching.
import { type Dirent, lstatSync, readdirSync, type Stats } from 'node:fs'
import { joinPath } from '../../lib/path.ts'

/** The name is a latin1 string: one character per byte. */
export type Entry = Pick<Dirent, 'name' | 'isDirectory' | 'isFile'>

const sidecarName = /^(metadata\.opf|series\.json|cover\.(jpe?g|png|webp)|.+\.opf)$/i

/** True for a file beside the books that holds metadata or a cover. */
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
 * Some file systems (NFS, FUSE, 9p) do not return the types of entries. Node then calls stat itself, and
 * cannot join our path and a latin1 name; so only names are read here and each is looked up.
 */
export function readUntyped(path: string | Buffer): Entry[] {
  const folder = Buffer.from(path)
  return readdirSync(path, { encoding: 'latin1' }).map(name => {
    const result = statOrCode(lstatSync, joinPath(folder, Buffer.from(name, 'latin1')))
    const stat = typeof result === 'string' ? null : result
    return {
      name,
      isDirectory: () => stat?.isDirectory() ?? false,
      isFile: () => stat?.isFile() ?? false,
    }
  })
}

/** The stat of a path, or the errno name when that fails. */
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

// The clock of a file server may be ahead of ours; a time further ahead is wrong.
const maxAheadMs = 60_000

/** True when a file was modified less than `quietMs` ago: it may still be written. */
export function isRecent(modifiedMs: number, quietMs: number): boolean {
  const ageMs = Date.now() - modifiedMs
  return ageMs < quietMs && ageMs > -maxAheadMs
}
