// Folders that do not respond although the root of their library does: there may be a mount below it, or a
// disk of a union file system. Calls in them have been given up; others fail immediately until one of those
// returns.
export type HungFolders = ReturnType<typeof createHungFolders>

// Calls on a replaced mount never return, so others are tried; each may block a thread forever.
const tryAgainMs = 60_000
const maxTries = 4

export function createHungFolders({ againMs = tryAgainMs } = {}) {
  const folders = new Map<string, { triedAt: number; tries: number }>()

  function isHung(folder: string): boolean {
    const hung = folders.get(folder)
    return !!hung && (hung.tries === maxTries || performance.now() - hung.triedAt < againMs)
  }

  return {
    /** Whether calls fail immediately. */
    isHung,
    /** Whether a call may start. In a folder that has hung for a while, the call counts as a retry. */
    admits(folder: string): boolean {
      if (isHung(folder)) return false
      const hung = folders.get(folder)
      if (hung) folders.set(folder, { triedAt: performance.now(), tries: hung.tries + 1 })
      return true
    },
    /** Records that a call was given up. Returns whether it is the first one. */
    add(folder: string): boolean {
      if (folders.has(folder)) return false
      folders.set(folder, { triedAt: performance.now(), tries: 0 })
      return true
    },
    /** Records that a call returned. Returns whether the folder was hung. */
    delete: (folder: string): boolean => folders.delete(folder),
  }
}
