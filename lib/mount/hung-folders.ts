// Folders that do not respond although the root of their library does: a mount may lie below it, or a disk of a union.
// Calls in them were given up; others fail at once, until one of those returns.
export type HungFolders = ReturnType<typeof createHungFolders>

// A mount that was replaced leaves its calls behind for ever: others are tried, but each may occupy a thread.
const againMs = 60_000
const maxTries = 4

export function createHungFolders() {
  const folders = new Map<string, { triedAt: number; tries: number }>()
  return {
    /** Whether a call may start. */
    admits(folder: string): boolean {
      const hung = folders.get(folder)
      if (!hung) return true
      const now = performance.now()
      if (hung.tries === maxTries || now - hung.triedAt < againMs) return false
      hung.triedAt = now
      hung.tries += 1
      return true
    },
    /** A call was given up. */
    add(folder: string): void {
      if (!folders.has(folder)) folders.set(folder, { triedAt: performance.now(), tries: 0 })
    },
    /** A call that was given up has returned. */
    delete(folder: string): void {
      folders.delete(folder)
    },
  }
}
