// What lists read in the background, one at a time.

export type BackgroundQueue = {
  /** After a failure lists are as slow as they are without what was to be read. Never rejects. */
  add(read: () => Promise<void>): Promise<void>
  /** Resolves when nothing is being read. */
  idle(): Promise<void>
}

export function createBackgroundQueue(noteFailure: (error: unknown) => void): BackgroundQueue {
  let last: Promise<void> = Promise.resolve()
  return {
    add(read) {
      last = last.then(read).catch(noteFailure)
      return last
    },
    async idle() {
      for (let awaited: unknown; awaited !== last; ) {
        awaited = last
        await last
      }
    },
  }
}
