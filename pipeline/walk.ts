// Walks a library in a thread of its own and yields its folders in batches, parents first.
import { Worker } from 'node:worker_threads'

/** One folder as found on disk. Names and paths are latin1 strings (bytes one to one), paths relative to the root. */
export type Listing = {
  path: string
  /** MD5 over names, sizes and times of books and sidecars and the names of folders; hex. */
  digest: string
  /** Sidecar name → modified ms. */
  sidecars: Record<string, number>
  files: string[]
  sizes: number[]
  /** Whole milliseconds since 1970. */
  times: number[]
  folders: string[]
  /** errno name when the folder could not be read; nothing below it was visited. */
  error?: string
}

export type WalkOrder = {
  root: Uint8Array
  /** Folders walked to the bottom, or files whose folder is listed alone; `''` is the root. */
  starts: string[]
  extensions: string[]
  excludedPatterns: string
  /** Goes into every digest: a change of rules makes every folder look changed. */
  seed: string
}

/** Batches of listings. At most four wait unread; leaving the loop ends the thread. */
export async function* walk(order: WalkOrder): AsyncGenerator<Listing[]> {
  const credit = new Int32Array(new SharedArrayBuffer(8))
  const thread = new Worker(new URL('./walk-thread.ts', import.meta.url), {
    workerData: { ...order, credit },
  })
  const queue: (Listing[] | null)[] = []
  let failure: Error | null = null
  let wake = () => {}
  thread.on('message', message => {
    queue.push(message)
    wake()
  })
  thread.on('error', error => {
    failure = error as Error
    wake()
  })
  try {
    while (true) {
      if (failure) throw failure
      if (queue.length === 0) {
        await new Promise<void>(resolve => {
          wake = resolve
        })
        continue
      }
      const batch = queue.shift()!
      if (batch === null) return
      yield batch
      Atomics.add(credit, 0, 1)
      Atomics.notify(credit, 0)
    }
  } finally {
    Atomics.store(credit, 1, 1)
    Atomics.notify(credit, 0)
    await thread.terminate()
  }
}
