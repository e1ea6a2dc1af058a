// What becomes of the results of covers and hashes. A library that is away or a disk that is full says
// nothing of a book: the lane rests, and the jobs come back.
import { Unavailable } from '../../lib/errors.ts'
import { unavailable } from '../scan/discover.ts'
import type { LoadedScan } from '../scan/scan-context.ts'
import type { DueLane } from '../work/due.ts'
import type { Lane } from './books.ts'
import type { ReadError } from './reading.ts'

const restSeconds = 60

type Result = { error: ReadError | null; unfiled?: string | null }

type Keeping<R> = { lane: DueLane; scan: LoadedScan; store: (done: R[]) => Promise<void> }

/**
 * Stores the results of a lane's job, slice by slice, while the threads work on the next. `end` waits
 * for the last of them, and throws when the job has to be run again.
 */
export function keepResults<R extends Result>(
  { sql, queue, stop }: Lane,
  { lane, scan, store }: Keeping<R>,
) {
  let why: string | null = null
  let stored = Promise.resolve()
  const keep = async (done: R[]) => {
    const unfiled = done.find(result => result.unfiled)?.unfiled
    if (unfiled) why ??= `Thumbnails cannot be written (${unfiled})`
    if (done.some(isIo)) why ??= await unavailable(sql, scan)
    await store(why === null ? done : done.filter(result => !isIo(result) && !result.unfiled))
  }
  return {
    stop: () => why !== null || stop(),
    async slice(done: R[]) {
      const before = stored
      stored = before.then(() => keep(done))
      // Its error is thrown to whoever waits for it next.
      stored.catch(() => {})
      await before
    },
    async end() {
      await stored
      if (why === null) return
      await queue.postpone(lane, scan.libraryId, restSeconds)
      throw new Unavailable(why)
    },
  }
}

export function isIo({ error }: Result) {
  return error?.code === 'io'
}
