// Data directory: its creation, and its permissions: what Stackroom writes is for its owner alone, also where a folder was
// created with wider permissions before.
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { Conflict, Invalid } from './errors.ts'

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

/** Creates the folder if it is missing. Throws Invalid when it cannot be created or written, Conflict when it is a file. */
export function createDataFolder(folder: string): void {
  try {
    createFolders(resolve(folder))
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    const { code = 'error' } = cause as NodeJS.ErrnoException
    const message = `The data directory ${resolve(folder)} is not writable (${code}); choose another by data_dir`
    throw code === 'EEXIST' ? new Conflict(message, { cause }) : new Invalid(message, { cause })
  }
}

/** The `recursive` option of Node repeats for ever where a file system refuses new folders with ENOENT, as /proc does. */
function createFolders(path: string): void {
  if (isFolder(path)) return
  if (!existsSync(dirname(path))) createFolders(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw error
  }
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true

/**
 * Takes the data directory and what Stackroom has in it from other users: deeper files cannot be reached then. A
 * directory that also holds folders of others stays open, its own files do not. Returns the paths that others still
 * have access to, for example on a file system without permissions.
 */
export function secureDataFolder(folder: string): string[] {
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
