// Root folders of libraries: path resolution and validation. A root must be a readable folder within the
// configured roots, and must not overlap another library or the data directory.
import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import type { FileAccess } from '../../base/containment.ts'
import { Conflict, Invalid, isShortage, NotResponding } from '../../base/errors.ts'
import { isWithin, pathText } from '../../base/path.ts'
import { isSpecial } from '../../base/special-folders.ts'
import type { Config } from '../../store/config/config.ts'
import { folderHealth, mountKey } from '../../store/mount/mount-health.ts'
import type { Transaction } from '../../store/postgres/db.ts'

export type FilesystemConfig = Pick<Config, 'data_dir' | 'filesystem'>

/** Root folder (absolute bytes) and device of a path. Throws Invalid when it cannot be a library, NotResponding. */
export async function readableRoot(
  path: string,
  config: FilesystemConfig,
): Promise<{ root: Buffer; device: string }> {
  const root = await resolvePath(path, 'The path of a library')
  if (!isPermittedPath(root, await permittedRoots(config)))
    throw new Invalid('The path is outside the folders permitted for libraries', {
      reason: 'folder_not_permitted',
    })
  const dataDir = await realBytes(config.data_dir)
  if (isWithin(root, dataDir))
    throw new Invalid('The path is inside the data directory', { reason: 'data_folder' })
  if (isWithin(dataDir, root))
    throw new Invalid('The data directory is inside the path', { reason: 'data_folder' })
  const device = await folderDevice(root, 'The path')
  await folderHealth
    .run(mountKey(root), () => access(root, constants.R_OK | constants.X_OK))
    .catch(() => {
      throw new Invalid('The folder cannot be read by the server', { details: { code: 'EACCES' } })
    })
  return { root, device }
}

/** Absolute path with symbolic links resolved and no trailing slash. Throws Invalid, with `name` in the message. */
export function resolvePath(path: string, name: string): Promise<Buffer> {
  if (!isAbsolute(path) || path.includes('\0')) throw new Invalid(`${name} must be absolute`)
  return realBytes(path)
}

// Symbolic links are not resolved if the folder does not respond.
async function realBytes(path: string): Promise<Buffer> {
  const absolute = resolve(path)
  // Names that are not valid UTF-8 are displayed as Latin-1 (lib/base/path.ts), and clients send them back that way.
  for (const encoding of ['utf8', 'latin1'] as const) {
    const bytes = Buffer.from(absolute, encoding)
    const real = await folderHealth
      .run(mountKey(bytes), () => realpath(bytes, { encoding: 'buffer' }))
      .catch(() => null)
    if (real) return real
  }
  return Buffer.from(absolute)
}

/** Folders that may be browsed and may contain libraries, with links resolved; null permits all. */
export async function permittedRoots({
  filesystem: { roots },
}: FilesystemConfig): Promise<Buffer[] | null> {
  if (roots === null) return null
  return await Promise.all(listOf(roots).map(realBytes))
}

/** Whether clients are permitted to access the path, whose links must be resolved. */
export function isPermittedPath(path: Buffer, roots: Buffer[] | null): boolean {
  return roots === null || roots.some(root => isWithin(path, root))
}

/** Which files libraries may consist of. Cheap: resolves nothing. */
export const fileAccess = ({ data_dir, filesystem: { roots } }: FilesystemConfig): FileAccess => ({
  dataDir: resolve(data_dir),
  linkFolders: listOf(roots ?? '').map(path => resolve(path)),
})

const listOf = (roots: string) =>
  roots
    .split(',')
    .map(path => path.trim())
    .filter(path => path !== '')

/** Until the transaction ends, no other one adds or moves a library. */
export async function lockRoots(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtext('stackroom.library'))`
}

/** Throws Conflict when the folder equals, contains or is inside another library. Locks the roots. */
export async function assertNoOverlap(tx: Transaction, root: Buffer, except?: string) {
  await lockRoots(tx)
  const others = await tx<{ root: Buffer }[]>`
    select root from library
    where deleting_at is null and id is distinct from ${except ?? null}::uuid`
  for (const other of others) {
    if (other.root.equals(root))
      throw new Conflict('Another library already uses this folder', { reason: 'library_exists' })
    if (isWithin(root, other.root))
      throw new Conflict('The folder is inside another library', { reason: 'library_inside' })
    if (isWithin(other.root, root))
      throw new Conflict('Another library is inside the folder', { reason: 'library_around' })
  }
}

/** A path argument as the absolute bytes stored in the catalog: links resolved, no trailing slash. */
export const rootBytes = (path: string): Promise<Buffer> => realBytes(path)

/**
 * Throws Invalid when the data directory is inside one of the folders, or contains one. For the command
 * line, before anything is written there.
 */
export async function assertApartFromData(dataDir: string, roots: readonly Buffer[]) {
  const data = await rootBytesOfNew(resolve(dataDir))
  for (const root of roots) {
    if (isWithin(data, root))
      throw new Invalid(
        `The data directory ${pathText(data)} is inside the library ${pathText(root)}; choose another with --data`,
      )
    if (isWithin(root, data))
      throw new Invalid(`${pathText(root)} is inside the data directory ${pathText(data)}`)
  }
}

/** Like `rootBytes`, for a folder that need not exist yet. */
async function rootBytesOfNew(path: string): Promise<Buffer> {
  const exists = await access(path).then(
    () => true,
    () => false,
  )
  if (exists || dirname(path) === path) return rootBytes(path)
  return Buffer.from(join((await rootBytesOfNew(dirname(path))).toString(), basename(path)))
}

/** Device number of a root folder. Throws Invalid when it is not a readable folder, NotResponding. */
export const deviceOf = (root: Buffer): Promise<string> => folderDevice(root, pathText(root))

/** `name` is for messages. */
async function folderDevice(root: Buffer, name: string): Promise<string> {
  if (isSpecial(root))
    throw new Invalid(`${name} is on a special file system`, { reason: 'folder_special' })
  const stats = await folderHealth
    .run(mountKey(root), () => stat(root))
    .catch(error => {
      if (error instanceof NotResponding || isShortage(error)) throw error
      const details = { code: error.code }
      throw new Invalid(`${name} cannot be read (${error.code})`, { details })
    })
  if (stats.isDirectory()) return String(stats.dev)
  throw new Invalid(`${name} is not a folder`, { details: { code: 'ENOTDIR' } })
}
