// File system of a library folder: its type, whether the kernel reports all changes, and its identity.
import { stat, statfs } from 'node:fs/promises'

// Magic numbers of statfs(2). The kernel does not see changes made by other machines, or by the program
// behind FUSE.
const unwatchableTypes = new Map([
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

/** Why changes below `root` are not reported, in words for users; null if they are. */
export async function unwatchableReason(root: Buffer): Promise<string | null> {
  try {
    // Some of the numbers are returned as negative.
    const name = unwatchableTypes.get((await statfs(root)).type >>> 0)
    return name === undefined
      ? null
      : `The folder is on a file system (${name}) that does not report all changes`
  } catch (error) {
    return unavailable((error as NodeJS.ErrnoException).code)
  }
}

/** Like `unwatchableReason`, for the errno name of a failed watch. */
export function watchErrorMessage(code: string): string {
  if (code === 'ENOSPC')
    return 'The kernel allows no more watches; the limit is fs.inotify.max_user_watches'
  if (code === 'EMFILE')
    return 'The kernel allows no more watchers; the limit is fs.inotify.max_user_instances'
  if (code === 'hung') return 'The library folder does not respond'
  if (code === 'thread') return 'Watching ended because of an error'
  return unavailable(code)
}

function unavailable(code = 'unknown') {
  return `The library folder cannot be watched (${code})`
}

/** Differs after another folder was mounted on or moved to this path; null if there is no folder. */
export async function folderIdentity(root: Buffer): Promise<string | null> {
  const stats = await stat(root).catch(() => null)
  return stats?.isDirectory() ? `${stats.dev} ${stats.ino}` : null
}
