// What stands at the root of a library, and whether the kernel tells of changes there.
import { stat, statfs } from 'node:fs/promises'

// Numbers of statfs(2). What other machines change on these, or what a program of its own makes up,
// this kernel does not see.
const remote = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0x65735546, 'FUSE'],
  [0x01021997, '9p'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x786f4256, 'vboxsf'],
])

/** Why changes below `root` would not be told of, for people; null when they are. */
export async function obstacle(root: Buffer): Promise<string | null> {
  try {
    // Some of the numbers come with a sign.
    const name = remote.get((await statfs(root)).type >>> 0)
    return name === undefined
      ? null
      : `The folder is on a file system (${name}) that does not tell of all changes`
  } catch (error) {
    return away((error as NodeJS.ErrnoException).code)
  }
}

/** The same for the errno name that watching ended with. */
export function failure(code: string): string {
  if (code === 'ENOSPC')
    return 'The kernel allows no more watches; fs.inotify.max_user_watches says how many'
  if (code === 'EMFILE')
    return 'The kernel allows no more watchers; fs.inotify.max_user_instances says how many'
  if (code === 'thread') return 'Watching ended with an error'
  return away(code)
}

function away(code = 'unknown') {
  return `The library folder cannot be watched (${code})`
}

/** Tells one folder from another that is mounted, or put, at its place; null when there is none. */
export async function identity(root: Buffer): Promise<string | null> {
  const found = await stat(root).catch(() => null)
  return found?.isDirectory() ? `${found.dev} ${found.ino}` : null
}
