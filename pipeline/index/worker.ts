// Entry point of a pool thread. Has no database, queue or configuration: values come in, values go out.
import { enterRun } from '../../lib/base/async/memory-budget.ts'
import type { ThreadRequest } from '../../lib/base/async/thread-pool.ts'
import { isForMemory, threadTask } from '../../lib/base/async/thread-task.ts'
import { Unreadable } from '../../lib/base/errors.ts'
import { extensionOf } from '../../lib/base/path.ts'
import type { CoverImage } from '../../lib/catalog/cover/new-cover.ts'
import { imageEnd } from '../../lib/media/image/complete.ts'
import { createCover } from '../../lib/media/image/cover.ts'
import { measureImage } from '../../lib/media/image/image.ts'
import { itemTask } from '../work/item-task.ts'
import { readBook } from './extract.ts'
import { type FileToHash, type HashOptions, hashFile } from './hash-file.ts'
import type { FileToRead, ReadOptions } from './reading.ts'
import { makeThumbnail } from './thumbnail.ts'
import type { ThumbnailOptions, ThumbnailRequest } from './thumbnail-request.ts'

// Two covers at once overlap the reading of one file with the image work of the other.
const slots = { read: 1, cover: 2, hash: 1 }

export const read = itemTask(
  slots.read,
  (_item: FileToRead, { containment }: ReadOptions) => containment,
  { task: readBook },
)
export const cover = itemTask(
  slots.cover,
  ({ containment }: ThumbnailRequest, _options: ThumbnailOptions) => containment,
  // Its file was readable before: MuPDF sometimes fails with sound files after reading certain others.
  {
    task: makeThumbnail,
    isDoubtful: (result, { path }) =>
      isForMemory(result) || (result.error !== null && result.error.code !== 'io' && isPdf(path)),
  },
)
export const hash = itemTask(
  slots.hash,
  ({ containment }: FileToHash, _options: HashOptions) => containment,
  { task: hashFile },
)

const isPdf = (path: string | null) => path !== null && extensionOf(path) === 'pdf'

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
