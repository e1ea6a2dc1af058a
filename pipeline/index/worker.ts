// Entry point of a pool thread. No database, queue or configuration: values come in, values go out.
import { workerData } from 'piscina'
import { createDiskQueue, type DiskQueue } from '../../lib/async/disk-queue.ts'
import { type DiskAccess, interleave } from '../../lib/async/interleave.ts'
import { enterRun } from '../../lib/async/memory-budget.ts'
import type { ThreadRequest } from '../../lib/async/thread-pool.ts'
import { threadTask } from '../../lib/async/thread-task.ts'
import type { MadeThumbnail } from '../../lib/catalog/cover/new-cover.ts'
import type { Containment } from '../../lib/containment.ts'
import { Unreadable, type UnreadableCode } from '../../lib/errors.ts'
import { createCover } from '../../lib/image/cover.ts'
import { measureImage } from '../../lib/image/image.ts'
import { imageEnd } from '../../lib/image/image-end.ts'
import { readBook } from './extract.ts'
import { type FileToHash, hashFile } from './hash-file.ts'
import type { FileToRead, ReadOptions } from './reading.ts'
import { makeThumbnail } from './thumbnail.ts'
import type { ThumbnailOptions, ThumbnailRequest } from './thumbnail-request.ts'

/** What the pool passes to each of its threads; `threads` is how many there are. */
export type ReadThreadData = { ioDepth: number; threads: number }

const { ioDepth, threads } = workerData as ReadThreadData

// A call returns after this time, so that results are seen while the rest is read. On a busy machine a shorter time
// leads to small batches, each with some forty statements: with 250 ms a scan took 7 % more CPU time.
const maxCallMs = 1_000
// Two covers at once overlap the reading of one file with the image work of the other.
const slots = { read: 1, cover: 2, hash: 1 }
// For all threads together.
const maxPreloadedBytes = 32 * 1024 * 1024
// A disk that was slow is measured again after this time.
const remeasureMs = 60_000

type Tools = { disk: DiskAccess; tick: () => void }
type Task<I, R, O> = (item: I, options: R, tools: Tools) => Promise<O>

async function timed<O extends object>(run: () => Promise<O>): Promise<O & { ms: number }> {
  const startedAt = performance.now()
  const result = await run()
  return Object.assign(result, { ms: performance.now() - startedAt })
}

let disk: { root: string; queue: DiskQueue; measuredAt: number } | null = null

/** The queue of the library that the thread works for; the walk of the same library has its own. */
function diskOf(root: string): DiskQueue {
  const now = performance.now()
  if (disk?.root !== root || now - disk.measuredAt > remeasureMs) {
    // Without a setting, half of what the process may have in flight: the walk needs the rest.
    const share = ioDepth === 0 ? 2 * threads : threads
    const queue = createDiskQueue({ depth: ioDepth, share })
    disk = { root, queue, measuredAt: now }
  }
  return disk.queue
}

/** Runs a task over the first items, until the time is up or the pool requests the thread to return. */
function timeLimited<I, R, O extends object>(
  slots: number,
  containmentOf: (item: I, options: R) => Containment,
  task: Task<I, R, O>,
) {
  return threadTask(async ({ items, options, control }: ThreadRequest<I, R>): Promise<O[]> => {
    enterRun(control)
    const end = performance.now() + maxCallMs
    const tick = () => {
      Atomics.add(control, 1, 1)
    }
    return await interleave(
      items,
      {
        queue: diskOf(containmentOf(items[0]!, options).root),
        slots,
        maxBytes: maxPreloadedBytes / threads,
        onProgress(index) {
          Atomics.store(control, 0, index)
          tick()
        },
        hasTime: () => performance.now() < end && Atomics.load(control, 2) === 0,
      },
      (item, disk) => timed(() => task(item, options, { disk, tick })),
    )
  })
}

export const read = timeLimited(
  slots.read,
  (_item: FileToRead, { containment }: ReadOptions) => containment,
  readBook,
)
export const cover = timeLimited(
  slots.cover,
  ({ containment }: ThumbnailRequest, _options: ThumbnailOptions) => containment,
  makeThumbnail,
)
export const hash = timeLimited(
  slots.hash,
  ({ containment }: FileToHash, _options: null) => containment,
  hashFile,
)

/** A thumbnail of an image that is not in a book. */
export type CoverImage = MadeThumbnail | { error: { code: UnreadableCode; message: string } }

type ImageOptions = Pick<ThumbnailOptions, 'maxSide' | 'format' | 'quality'>

export const image = threadTask(makeCover)

async function makeCover({
  items,
  options,
  control,
}: ThreadRequest<Uint8Array, ImageOptions>): Promise<CoverImage[]> {
  enterRun(control)
  const [bytes] = items
  try {
    const made = await createCover(bytes!, options)
    const { mediaType, width, height } = (await measureImage(async () => bytes!))!
    return [
      { bytes: made.bytes, mediaType, width, height, originalBytes: imageEnd(bytes!, mediaType) },
    ]
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return [{ error: { code: error.code, message: error.message } }]
  }
}
