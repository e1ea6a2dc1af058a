// Stat of library files and links for the walk, synchronous and asynchronous.
import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { type Containment, isPermittedTarget } from '../../lib/base/containment.ts'
import { followOrCode, lstatOrCode, statOrCode } from './disk.ts'

type LibraryFile = {
  path: string | Buffer
  /** Known to be neither a link nor a special file. */
  isFile: boolean
}

export type LinkRules = {
  containment: Containment
  /** Real paths of the folders that links may lead to. */
  linkTargets: Buffer[]
}

/**
 * The stat of a file that may be read; undefined if it is gone or not a regular file; otherwise an errno
 * name.
 */
export type FileStat = Stats | string | undefined

/**
 * The stat of an entry that is not a folder. A link may be circular, or lead to a missing disk or a forbidden
 * folder: the result is an errno name if the entry exists but its stat fails.
 */
export function statFile({ isFile, path }: LibraryFile, options: LinkRules): FileStat {
  if (isFile) return undefinedIfGone(statOrCode(lstatSync, path))
  const stat = statOrCode(statSync, path)
  if (isGone(stat)) return statOfBroken(stat, statOrCode(lstatSync, path))
  if (typeof stat === 'string' || !stat.isFile()) return stat
  return isPermitted(realPaths([path])[0], options) ? stat : undefined
}

/** Like `statFile`, with asynchronous calls. */
export async function statFileAsync({ isFile, path }: LibraryFile, options: LinkRules) {
  if (isFile) return undefinedIfGone(await lstatOrCode(path))
  const stat = await followOrCode(path)
  if (isGone(stat)) return statOfBroken(stat, await lstatOrCode(path))
  if (typeof stat === 'string' || !stat.isFile()) return stat
  const target = await realpath(path, { encoding: 'buffer' }).catch(() => undefined)
  return isPermitted(target, options) ? stat : undefined
}

/** A link without its target counts as unreadable, unless the link is gone as well. */
function statOfBroken(stat: Stats | string, link: Stats | string): FileStat {
  const existing = undefinedIfGone(link)
  return existing === undefined || typeof existing === 'string' ? existing : stat
}

/** Whether a link leads to a file that may be read. Checked again when it is opened. */
const isPermitted = (
  target: Buffer | undefined,
  { linkTargets, containment }: LinkRules,
): boolean => target !== undefined && isPermittedTarget(target, linkTargets, containment)

/** The real paths of those that exist. */
export function realPaths(paths: readonly (string | Buffer)[]): Buffer[] {
  return paths.flatMap(path => {
    try {
      return realpathSync.native(path, { encoding: 'buffer' })
    } catch {
      return []
    }
  })
}

function undefinedIfGone(stat: Stats | string) {
  return isGone(stat) ? undefined : stat
}

function isGone(stat: Stats | string) {
  return stat === 'ENOENT' || stat === 'ENOTDIR'
}
