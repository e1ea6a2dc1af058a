// Series strategies by folder: `series_volume`, `series_volume_chapter`, `publisher_hierarchy`.
import type { Static } from 'typebox'
import { Type } from '../../base/schema-type.ts'
import { parseFilename } from '../name/filename.ts'
import { type BookPath, folderPlacement, oneShotPlacement, type Placement } from './placement.ts'

export const noConfig = Type.Object({})

/** `Batman/Year One/issue1.cbz`: the nearest folder is the series, at any depth. */
export function bySeriesVolume(book: BookPath): Placement {
  return book.folders.length === 0 ? oneShotPlacement(book) : folderPlacement(book.folders)
}

/** `One Piece/Volume 01/Chapter 001.cbz`: the first folder is the series, the second the volume. */
export function bySeriesVolumeChapter(book: BookPath): Placement {
  const [, second] = book.folders
  if (book.folders.length === 0) return oneShotPlacement(book)
  const volume = second === undefined ? null : (parseFilename(second).volume ?? second)
  return folderPlacement(book.folders.slice(0, 1), { volume })
}

export const publisherConfig = Type.Object({
  /** Number of folders above the series. */
  skipDepth: Type.Integer({ minimum: 0, maximum: 10, default: 1 }),
  storeSkippedAs: Type.Unsafe<'publisher' | 'imprint' | 'none'>({
    type: 'string',
    enum: ['publisher', 'imprint', 'none'],
    default: 'publisher',
  }),
})

/** `DC/Batman/issue1.cbz`: folders above the series are the publisher. */
export function byPublisher(
  book: BookPath,
  { skipDepth = 1, storeSkippedAs = 'publisher' }: Partial<Static<typeof publisherConfig>>,
): Placement {
  if (book.folders.length === 0) return oneShotPlacement(book)
  const skipped = book.folders.slice(0, skipDepth).join('/') || null
  const more = storeSkippedAs === 'none' ? {} : { [storeSkippedAs]: skipped }
  if (book.folders.length <= skipDepth)
    return folderPlacement(book.folders, { name: 'Unsorted', ...more })
  return folderPlacement(book.folders, more)
}
