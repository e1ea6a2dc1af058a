// Thumbnail request and result: what the main thread and a pool thread exchange. The main thread must not load
// the image decoders, which take 20 MB.
import type { Limits } from '../../lib/archive/limits.ts'
import type { Containment } from '../../lib/containment.ts'
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
  id: string
  path: string
  containment: Containment
  /** A cover.jpg in a folder that holds only this book; used when the book has no cover of its own. */
  sidecar: string | null
}

export type Thumbnail = {
  id: string
  cover: string | null
  bytesRead: number
  opens: number
  /** Time in the thread. */
  ms?: number
  error: ReadError | null
  /** errno name when the thumbnail could not be written; not a property of the book. */
  writeError: string | null
}

export function emptyThumbnail(id: string): Thumbnail {
  return { id, cover: null, bytesRead: 0, opens: 0, error: null, writeError: null }
}
