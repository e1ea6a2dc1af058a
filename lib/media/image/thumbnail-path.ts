// File path of a cover or thumbnail: content-addressed by hash.
import { join } from 'node:path'

export type ThumbnailFormat = 'webp' | 'jpeg'

/**
 * The folder of all files whose names begin with the same three hex digits, 4,096 folders in total. With two
 * levels of 256, nearly every cover of a library created its own folder, which cost more than its file.
 */
export const coverFolder = (folder: string, name: string): string => join(folder, name.slice(0, 3))

/** `abc/<hash>.webp` below `folder`. `name` is the hex hash stored in `book.cover`. */
export function thumbnailPath(folder: string, name: string, format: ThumbnailFormat): string {
  const file = `${name}.${format === 'webp' ? 'webp' : 'jpg'}`
  return join(coverFolder(folder, name), file)
}
