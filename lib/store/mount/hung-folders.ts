// Folders that do not respond although the root of their library does: a mount may lie below it, or a disk of a union.
// Calls in them were given up; others fail at once, until one of those returns.
export type HungFolders = ReturnType<typeof createHungFolders>

// Calls on a mount that was replaced never return, so others are tried; each of them may block a thread for ever.
const tryAgainMs = 60_000
const maxTries = 4

export function createHungFolders({ againMs = tryAgainMs } = {}) {
  const folders = new Map<string, { triedAt: number; tries: number }>()

  function isHung(folder: string): boolean {
    const hung = folders.get(folder)
    return !!hung && (hung.tries === maxTries || performance.now() - hung.triedAt < againMs)
  }

  return {
    /** Whether calls fail at once. */
    isHung,
    /** Whether a call may start. In a folder that has hung for a while, it counts as a try. */
    admits(folder: string): boolean {
      if (isHung(folder)) return false
      const hung = folders.get(folder)
      if (hung) folders.set(folder, { triedAt: performance.now(), tries: hung.tries + 1 })
      return true
    },
    /** A call was given up. Returns whether it is the first one. */
    add(folder: string): boolean {
      if (folders.has(folder)) return false
      folders.set(folder, { triedAt: performance.now(), tries: 0 })
      return true
    },
    /** A call has returned. Returns whether the folder had hung. */
    delete: (folder: string): boolean => folders.delete(folder),
  }
}
