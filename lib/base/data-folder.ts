// Creates the data directory and restricts its permissions: what Stackroom writes is accessible to its owner
// only, even if a folder was created with looser permissions earlier.
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
// Copies of public programs, which PostgreSQL may have to run as another user.
const publicName = /^postgres-(?:bin|lib)-/
// Not ours: `lost+found`, `.snapshot` and the like belong to the file system.
const foreignName = /^(?!\.|lost\+found$)/

/**
 * Makes new files and folders of this process and its children accessible to the owner only. Has no effect in
 * a worker thread.
 */
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
    const message = `The data directory ${resolve(folder)} is not writable (${code}); choose another one with data_dir`
    throw code === 'EEXIST' ? new Conflict(message, { cause }) : new Invalid(message, { cause })
  }
}

/**
 * Node's `recursive` option loops forever where a file system refuses new folders with ENOENT, as /proc does.
 */
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
 * Revokes other users' access to the data directory and Stackroom's own entries in it, which makes deeper
 * files unreachable too. If the directory also holds other users' folders, only our entries are restricted.
 * Returns the paths that remain accessible to others, for example on a file system without permissions.
 */
export function secureDataFolder(folder: string): string[] {
  if (isWindows) return []
  const uid = ownerOf(folder)
  const entries = readdirSync(folder, { withFileTypes: true })
  const own = entries.filter(({ name }) => ownName.test(name) && !publicName.test(name))
  const isAlone = entries.every(
    entry => !entry.isDirectory() || ownName.test(entry.name) || !foreignName.test(entry.name),
  )
  // PostgreSQL has to pass through when it runs as another user.
  const hasGuest = own.some(({ name }) => (ownerOf(join(folder, name)) ?? uid) !== uid)
  const open = own.map(({ name }) => join(folder, name)).filter(path => !restrict(path, 0o700))
  return isAlone && restrict(folder, hasGuest ? 0o711 : 0o700) ? open : [folder, ...open]
}

// Temporary files may be gone by now.
const ownerOf = (path: string) => lstatSync(path, { throwIfNoEntry: false })?.uid

/** Removes permissions beyond `allowed`; returns false if that is not possible. */
function restrict(path: string, allowed: number): boolean {
  const excess = () => {
    const stats = lstatSync(path, { throwIfNoEntry: false })
    // A link has no permissions of its own.
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
