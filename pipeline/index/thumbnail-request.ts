// Thumbnail request and result, exchanged between the main thread and a pool thread. The main thread must not
// load the image decoders, which take 20 MB.

import type { Containment } from '../../lib/base/containment.ts'
import type { Limits } from '../../lib/media/archive/limits.ts'
import type { ReadError } from './reading.ts'

export type ThumbnailOptions = {
  /** Folder of all thumbnails. */
  folder: string
  maxSide: number
  format: 'webp' | 'jpeg'
  quality: number
  limits: Limits
}

export type ThumbnailRequest = {
  /** Id of the book or series. */
  id: string
  /** File of the book, latin1; null for a series, whose thumbnail is generated from `artwork` alone. */
  path: string | null
  containment: Containment
  /** The image next to the book that is its cover, if it can be decoded. `version`: its time and name. */
  artwork: { path: string; version: string } | null
}

export type Thumbnail = {
  id: string
  cover: string | null
  /** Version of the request's artwork, even if it could not be decoded. */
  artwork: string | null
  bytesRead: number
  opens: number
  /** Time spent in the thread. */
  ms?: number
  error: ReadError | null
  /** errno name if the thumbnail could not be written; not a property of the book. */
  writeError: string | null
}

export function emptyThumbnail({
  id,
  artwork,
}: Pick<ThumbnailRequest, 'id' | 'artwork'>): Thumbnail {
  const version = artwork?.version ?? null
  return {
    id,
    cover: null,
    artwork: version,
    bytesRead: 0,
    opens: 0,
    error: null,
    writeError: null,
  }
}
