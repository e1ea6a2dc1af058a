// Containment of library files: checks that an open file lies inside its library, so that a link cannot
// expose other files of the server, and what is reported of missing files and folders. Every library file is opened through this module or lib/base/file.ts.
import { constants, open as openCallback, readlinkSync, realpathSync, type Stats } from 'node:fs'
import { opendir, realpath, stat } from 'node:fs/promises'
import { promisify } from 'node:util'
import { isShortage, NotFound, NotMounted, type Shortage, shortage, Unreadable } from './errors.ts'
import { foldName, isWithin, pathText } from './path.ts'

/** Rules for the files of all libraries, as configured. */
export type FileAccess = {
  /** No file in this folder is ever read as a book. */
  dataDir: string
  /** Folders besides the library that files may be linked from. */
  linkFolders: readonly string[]
}

/** Rules for the files of one library; plain values that pass between threads. */
export type Containment = FileAccess & {
  /** Folder of the library, latin1 (one character per byte). */
  root: string
  /** Whether files may be symbolic links. Links to folders are never followed. */
  followLinks: boolean
}

export const containmentOf = (
  access: FileAccess,
  { root, followLinks }: { root: Uint8Array; followLinks: boolean },
): Containment => ({ ...access, root: Buffer.from(root).toString('latin1'), followLinks })

/**
 * Flags for opening a library file: a pipe does not block, a terminal does not become the controlling one,
 * and a link is refused without touching its target.
 */
export const openFlags = ({ followLinks }: Containment): number =>
  constants.O_RDONLY |
  (constants.O_NONBLOCK ?? 0) |
  (constants.O_NOCTTY ?? 0) |
  (followLinks ? 0 : (constants.O_NOFOLLOW ?? 0))

// Promisified callback, not FileHandle: that costs twice as much, and this runs for every page.
const openAsync = promisify(openCallback)

/**
 * Opens a library file; the caller must then check the descriptor with `assertContained`. Throws errno
 * errors.
 */
export const openUnchecked = (path: Buffer, containment: Containment): Promise<number> =>
  openAsync(path, openFlags(containment))

type OpenFile = { fd: number; stats: Stats; path: Buffer }

/**
 * Throws Unreadable `io` unless the open file is a regular file inside its library, reached without links or
 * through permitted ones, and not in the data directory. Checks the descriptor rather than the path, so
 * swapping the path after `open` has no effect. The cause is an errno error when the file was deleted.
 */
export async function assertContained(file: OpenFile, containment: Containment): Promise<void> {
  const { fd, stats, path } = file
  if (!isWithin(path, Buffer.from(containment.root, 'latin1'))) throw outside()
  if (!stats.isFile()) throw new Unreadable('The file is not a regular file', 'io')
  const real = descriptorPath(fd) ?? (await resolvedPath(file))
  const isOfServer = isWithin(real, realDataDir(containment.dataDir))
  // The common case, without another system call: no part of the path is a link.
  if (real.equals(path) && !isOfServer) return
  if (stats.nlink === 0) throw gone()
  const folders = await linkTargets(containment)
  const isPermitted = containment.followLinks
    ? isInside(real, folders)
    : isAtPlace(real, path, folders[0]!, containment)
  if (isOfServer || !isPermitted) throw isMarkedDeleted(real, path) ? gone() : outside()
}

/** The failure for a system error on a library file. */
export function fileFailure(cause: unknown): Unreadable | Shortage {
  if (isShortage(cause)) return shortage(cause)
  const code = (cause as NodeJS.ErrnoException).code ?? 'error'
  // The result of `openFlags` on a link.
  const message = code === 'ELOOP' ? 'The file is a link' : `The file cannot be read (${code})`
  return new Unreadable(message, 'io', { cause })
}

/** The system error for a file that does not exist. */
export const fileMissing = (): NodeJS.ErrnoException =>
  Object.assign(new Error('ENOENT'), { code: 'ENOENT' })

const outside = () => new Unreadable('The file lies outside its library', 'io')
const gone = () => new Unreadable('The file was deleted', 'io', { cause: fileMissing() })

/**
 * Whether a link's target, given as a real path, may be read. `folders` are the real paths of
 * `linkFoldersOf`.
 */
export const isPermittedTarget = (
  real: Buffer,
  folders: readonly Buffer[],
  { dataDir }: Containment,
): boolean => isInside(real, folders) && !isWithin(real, realDataDir(dataDir))

/** Folders that link targets may lie in; the library itself comes first. */
export const linkFoldersOf = ({ root, followLinks, linkFolders }: Containment): Buffer[] => [
  Buffer.from(root, 'latin1'),
  ...(followLinks ? linkFolders.map(folder => Buffer.from(folder)) : []),
]

const isInside = (real: Buffer, folders: readonly Buffer[]) =>
  folders.some(folder => isWithin(real, folder))

async function linkTargets(containment: Containment): Promise<Buffer[]> {
  const [root, ...others] = linkFoldersOf(containment)
  const resolved = await Promise.all(
    others.map(folder => realpath(folder, { encoding: 'buffer' }).catch(() => null)),
  )
  return [await resolve(root!), ...resolved.filter(folder => folder !== null)]
}

/**
 * The root itself may be a link; nothing below it is. File systems that ignore case or Unicode normalization
 * may spell a name differently.
 */
function isAtPlace(real: Buffer, path: Buffer, realRoot: Buffer, { root }: Containment): boolean {
  if (!isWithin(real, realRoot)) return false
  return folded(real.subarray(realRoot.length)) === folded(path.subarray(root.length))
}

const folded = (path: Buffer) => foldName(pathText(path)).replaceAll('\\', '/').replace(/^\/+/, '')

/** Whether the file was deleted after its properties were read (proc_pid_fd(5)). */
const isMarkedDeleted = (real: Buffer, path: Buffer) =>
  real.equals(Buffer.concat([path, Buffer.from(' (deleted)')]))

/** Real path of an open file as the kernel reports it; null if it has none. */
function descriptorPath(fd: number): Buffer | null {
  try {
    const path = readlinkSync(`/proc/self/fd/${fd}`, { encoding: 'buffer' })
    return path[0] === 0x2f ? path : null
  } catch {
    return null
  }
}

/**
 * Like `descriptorPath`, where the kernel has no such list (macOS, Windows): the resolved path, if it is the
 * open file.
 */
async function resolvedPath({ path, stats }: OpenFile): Promise<Buffer> {
  const real = await resolve(path)
  const { dev, ino } = await stat(real)
  if (dev !== stats.dev || ino !== stats.ino) throw outside()
  return real
}

async function resolve(path: Buffer): Promise<Buffer> {
  try {
    return await realpath(path, { encoding: 'buffer' })
  } catch (cause) {
    throw fileFailure(cause)
  }
}

const realDataDirs = new Map<string, Buffer>()

// Resolved once: it is local, and does not move while the process runs.
function realDataDir(dataDir: string): Buffer {
  const known = realDataDirs.get(dataDir)
  if (known) return known
  try {
    const real = realpathSync.native(dataDir, { encoding: 'buffer' })
    realDataDirs.set(dataDir, real)
    return real
  } catch {
    return Buffer.from(dataDir)
  }
}

/** Whether the system reported that a file does not exist. */
export const isFileMissing = (error: unknown): boolean =>
  error instanceof NotFound &&
  ['ENOENT', 'ENOTDIR'].includes((error.cause as NodeJS.ErrnoException | undefined)?.code ?? '')

/**
 * The error for a missing file: NotMounted if the folder of its library is missing or empty, otherwise
 * NotFound. `root`: latin1 (one character per byte). Never throws.
 */
export async function missingFile(root: string, cause?: unknown): Promise<NotFound | NotMounted> {
  const isMounted = await hasEntries(Buffer.from(root, 'latin1')).catch(() => false)
  return isMounted
    ? new NotFound('The file of the book does not exist', { cause })
    : new NotMounted()
}

async function hasEntries(folder: Buffer): Promise<boolean> {
  // The declared type does not include buffers, which Node accepts.
  const directory = await opendir(folder as unknown as string, { encoding: 'buffer' as never })
  try {
    return (await directory.read()) !== null
  } finally {
    await directory.close()
  }
}
