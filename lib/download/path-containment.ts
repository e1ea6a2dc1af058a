// Whether a file lies where its library is, whatever links stand in its path by now.
import { realpath } from 'node:fs/promises'
import { Unreadable } from '../errors.ts'

/**
 * The folder of `path`, links resolved, must lie in `root`. The file itself may be a link: so does the
 * scanner take it. Throws Unreadable `io`, with the system's error as cause when there is no such folder.
 */
export async function checkInside(root: Buffer, path: Buffer): Promise<void> {
  const folder = path.subarray(0, Math.max(1, path.lastIndexOf(0x2f)))
  const [top, real] = await Promise.all([resolved(root), resolved(folder)])
  const isBelow = real.subarray(0, top.length).equals(top)
  const ends = real.length === top.length || top.at(-1) === 0x2f || real[top.length] === 0x2f
  if (!isBelow || !ends) throw new Unreadable('The file lies outside its library', 'io')
}

async function resolved(path: Buffer): Promise<Buffer> {
  try {
    return await realpath(path, { encoding: 'buffer' })
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'error'
    throw new Unreadable(`The file cannot be read (${code})`, 'io', { cause })
  }
}
