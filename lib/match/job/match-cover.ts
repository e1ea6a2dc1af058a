// Cover from a source: its thumbnail, made in a pipeline thread within the limits of all images.
import type { ThreadPool } from '../../base/async/thread-pool.ts'
import { Unreadable, type UnreadableCode } from '../../base/errors.ts'
import type { NewCover } from '../../catalog/cover/cover.ts'
import { type CoverImage, newCover } from '../../catalog/cover/new-cover.ts'
import type { ThumbnailFormat } from '../../media/image/thumbnail-path.ts'

type Options = { maxSide: number; format: ThumbnailFormat; quality: number }

/** Throws Unreadable if it is not an image. */
export async function makeSourceCover(
  threads: ThreadPool,
  original: Buffer,
  options: Options,
): Promise<NewCover> {
  const request = { items: [new Uint8Array(original)], options }
  const { done, failure } = await threads.run<Uint8Array, Options, CoverImage>('image', request, {})
  const [image] = done
  if (!image) throw unreadable(failure)
  if ('error' in image) throw unreadable(image.error)
  return newCover(original, image, options.format)
}

const unreadable = (failure: { code: UnreadableCode; message: string } | null) =>
  new Unreadable(
    failure?.message ?? 'The image cannot be read',
    failure?.code ?? 'unsupported_image',
  )
