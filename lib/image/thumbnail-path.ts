// File path of a thumbnail: content-addressed by hash.
import { join } from 'node:path'

export type ThumbnailFormat = 'webp' | 'jpeg'

/** `ab/cd/<hash>.webp` below `folder`. `name` is the hex hash stored in `book.cover`. */
export function thumbnailPath(folder: string, name: string, format: ThumbnailFormat): string {
  const file = `${name}.${format === 'webp' ? 'webp' : 'jpg'}`
  return join(folder, name.slice(0, 2), name.slice(2, 4), file)
}
