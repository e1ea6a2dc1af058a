// Where a library may lie: a readable folder, within the folders that the operator opened, apart from
// other libraries and from the data directory.
import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { isAbsolute, resolve, sep } from 'node:path'
import type { TransactionSql } from 'postgres'
import type { Config } from '../../config/config.ts'
import { Conflict, Invalid } from '../../errors.ts'
import { pathText } from '../../path.ts'

export type Grounds = Pick<Config, 'data_dir' | 'filesystem'>

/** The root meant by a path, and its device. Throws Invalid when no library can be there. */
export async function readableRoot(
  path: string,
  grounds: Grounds,
): Promise<{ root: Buffer; device: string }> {
  const root = await resolved(path, 'The path of a library')
  const shown = pathText(root)
  if (!isOpen(root, await openRoots(grounds)))
    throw new Invalid(`${shown} is not open to libraries`)
  if (isWithin(root, await realBytes(grounds.data_dir)))
    throw new Invalid('The data directory is no library')
  const found = await stat(root).catch((error: NodeJS.ErrnoException) => {
    throw new Invalid(`${shown} cannot be read (${error.code})`)
  })
  if (!found.isDirectory()) throw new Invalid(`${shown} is not a folder`)
  await access(root, constants.R_OK | constants.X_OK).catch(() => {
    throw new Invalid(`${shown} cannot be read by the server`)
  })
  return { root, device: String(found.dev) }
}

/** An absolute path with its links resolved, without a slash at its end. Throws Invalid; `name` says what it is. */
export function resolved(path: string, name: string): Promise<Buffer> {
  if (!isAbsolute(path) || path.includes('\0')) throw new Invalid(`${name} must be absolute`)
  return realBytes(path)
}

// Nothing here waits for a disk on the main thread: a share that is away may take minutes to say so.
async function realBytes(path: string): Promise<Buffer> {
  const absolute = resolve(path)
  // Names that are no UTF-8 are shown byte by byte (lib/path.ts), and come back so.
  for (const encoding of ['utf8', 'latin1'] as const) {
    const real = await realpath(Buffer.from(absolute, encoding), { encoding: 'buffer' }).catch(
      () => null,
    )
    if (real) return real
  }
  return Buffer.from(absolute)
}

/** The folders that may be browsed and hold libraries, links resolved; null means all. */
export async function openRoots({ filesystem: { roots } }: Grounds): Promise<Buffer[] | null> {
  if (roots === null) return null
  const paths = roots.split(',').map(path => path.trim())
  return await Promise.all(paths.filter(path => path !== '').map(realBytes))
}

/** Whether the operator lets clients look there. `path` has its links resolved. */
export function isOpen(path: Buffer, roots: Buffer[] | null): boolean {
  return roots === null || roots.some(root => isWithin(path, root))
}

/** Throws Conflict when another library is there, inside or around it. Nobody adds one before the transaction ends. */
export async function refuseOverlap(tx: TransactionSql, root: Buffer, except?: string) {
  await tx`select pg_advisory_xact_lock(hashtext('stackroom.library'))`
  const others = await tx<{ root: Buffer }[]>`
    select root from library
    where deleting_at is null and id is distinct from ${except ?? null}::uuid`
  for (const other of others) {
    if (other.root.equals(root)) throw new Conflict('There is a library of this folder already')
    if (isWithin(root, other.root)) throw new Conflict('The folder lies inside another library')
    if (isWithin(other.root, root)) throw new Conflict('Another library lies inside the folder')
  }
}

const slash = sep.charCodeAt(0)

/** The folder itself, or below it. */
export function isWithin(path: Buffer, folder: Buffer): boolean {
  if (!path.subarray(0, folder.length).equals(folder)) return false
  return path.length === folder.length || folder.at(-1) === slash || path[folder.length] === slash
}
