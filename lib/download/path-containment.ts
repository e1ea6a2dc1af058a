// Path containment check: whether a file lies inside its library after symbolic links are resolved.
import { realpath } from 'node:fs/promises'
import { Unreadable } from '../errors.ts'

/**
 * Throws Unreadable `io` unless the folder of `path`, with links resolved, lies inside `root`; the
 * system error is the cause when the folder does not exist. The file itself may be a link, because the
 * scanner accepts such files.
 */
export async function assertInsideRoot(root: Buffer, path: Buffer): Promise<void> {
  const folder = path.subarray(0, Math.max(1, path.lastIndexOf(0x2f)))
  const [realRoot, realFolder] = await Promise.all([resolvePath(root), resolvePath(folder)])
  const hasPrefix = realFolder.subarray(0, realRoot.length).equals(realRoot)
  const isAtSeparator =
    realFolder.length === realRoot.length ||
    realRoot.at(-1) === 0x2f ||
    realFolder[realRoot.length] === 0x2f
  if (!hasPrefix || !isAtSeparator) throw new Unreadable('The file lies outside its library', 'io')
}

async function resolvePath(path: Buffer): Promise<Buffer> {
  try {
    return await realpath(path, { encoding: 'buffer' })
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'error'
    throw new Unreadable(`The file cannot be read (${code})`, 'io', { cause })
  }
}
