// Data directory rights: what Stackroom writes is for its owner alone, also where a folder was created with
// wider rights before.
import { chmodSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const others = 0o077
const isWindows = process.platform === 'win32'
const ownName = /^(?:postgres|thumbnails|covers|cache|plugins|stackroom)(?:[.-].*)?$/
// Copies of published programs, which PostgreSQL may have to run as another user.
const publicName = /^postgres-(?:bin|lib)-/
// Of the file system, as `lost+found` and `.snapshot`.
const foreignName = /^(?!\.|lost\+found$)/

/** New files and folders of this process and its children are for the owner alone. Not in a worker thread. */
export function restrictNewFiles(): void {
  if (!isWindows) process.umask(others)
}

/**
 * Creates the data directory, or takes it and what Stackroom has in it from other users: deeper files cannot
 * be reached then. A directory that also holds folders of others stays open, its own files do not. Returns
 * the paths that others still have access to, for example on a file system without rights. Throws errno
 * errors when it cannot be created.
 */
export function secureDataFolder(folder: string): string[] {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (isWindows) return []
  const uid = ownerOf(folder)
  const entries = readdirSync(folder, { withFileTypes: true })
  const own = entries.filter(({ name }) => ownName.test(name) && !publicName.test(name))
  const isAlone = entries.every(
    entry => !entry.isDirectory() || ownName.test(entry.name) || !foreignName.test(entry.name),
  )
  // PostgreSQL as another user has to pass through.
  const hasGuest = own.some(({ name }) => (ownerOf(join(folder, name)) ?? uid) !== uid)
  const open = own.map(({ name }) => join(folder, name)).filter(path => !restrict(path, 0o700))
  return isAlone && restrict(folder, hasGuest ? 0o711 : 0o700) ? open : [folder, ...open]
}

// Temporary files may be gone by now.
const ownerOf = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.uid

/** Removes the rights beyond `allowed`; false where that is not possible. */
function restrict(path: string, allowed: number): boolean {
  const excess = () => {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    // A link has no rights of its own.
    return stats === undefined || stats.isSymbolicLink() ? 0 : stats.mode & others & ~allowed
  }
  if (excess() === 0) return true
  try {
    chmodSync(path, lstatSync(path).mode & (0o7700 | allowed))
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
  }
  return excess() === 0
}
