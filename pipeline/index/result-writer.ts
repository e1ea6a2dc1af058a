// Result writer of cover and hash jobs. If the library or the thumbnail folder is unavailable, errors are not
// properties of the books: the jobs are postponed and run again later, or once there is space.
import { Unavailable } from '../../lib/base/errors.ts'
import { isDiskFull } from '../../lib/store/postgres/connection-error.ts'
import { unavailableReason } from '../scan/availability.ts'
import type { LoadedScan } from '../scan/scan-context.ts'
import type { JobContext } from './job-context.ts'
import type { ReadError } from './reading.ts'

const postponeSeconds = 60

type Result = { error: ReadError | null; writeError?: string | null }

type WriterOptions<R> = {
  job: 'cover' | 'hash'
  scan: LoadedScan
  store: (results: R[]) => Promise<void>
}

/**
 * Stores results while the threads work on the next ones. `finish` waits for the last of them and throws
 * Unavailable if the job has to run again.
 */
export function createResultWriter<R extends Result>(
  { sql, queue, space, isStopped }: JobContext,
  { job, scan, store }: WriterOptions<R>,
) {
  let reason: string | null = null
  let isFull = false
  let storing = Promise.resolve()
  const write = async (results: R[]) => {
    reason ??= writeErrorMessage(results)
    isFull ||= results.some(({ writeError }) => isDiskFull({ code: writeError }))
    if (results.some(isIoError)) reason ??= await unavailableReason(sql, scan)
    const valid = results.filter(result => !isIoError(result) && !result.writeError)
    await store(reason === null ? results : valid)
  }
  return {
    isStopped: () => reason !== null || isStopped(),
    async onResults(results: R[]) {
      const previous = storing
      storing = previous.then(() => write(results))
      // The next call or `finish` throws the error.
      storing.catch(() => {})
      await previous
    },
    async finish() {
      await storing
      if (reason === null) return
      if (isFull) {
        space.reportFull('thumbnails')
        throw Object.assign(new Unavailable(reason), { code: 'ENOSPC' })
      }
      await queue.postpone(job, scan.libraryId, postponeSeconds)
      throw new Unavailable(reason)
    },
  }
}

export function writeErrorMessage(results: readonly Pick<Result, 'writeError'>[]): string | null {
  const code = results.find(result => result.writeError)?.writeError
  return code ? `Thumbnails cannot be written (${code})` : null
}

export function isIoError({ error }: Result): boolean {
  return error?.code === 'io'
}
