// Names of local artwork: images next to books that serve as cover of a book, or of the series in their
// folder.
import { foldName } from '../../base/path.ts'

const image = /\.(?:jpe?g|png|webp|gif|avif)$/i
// Best first.
const folderStems = ['cover', 'folder', 'poster']

export const isImageName = (name: string): boolean => image.test(name)

/** The name of an image without its extension, folded. */
export const imageStem = (name: string): string => foldName(name.replace(image, ''))

/** Whether an image with this name is the cover of its whole folder. */
export const isFolderArtwork = (name: string): boolean =>
  isImageName(name) && folderStems.includes(imageStem(name))

/** The folder's cover among its files. */
export function folderArtwork(names: readonly string[]): string | null {
  const images = names.filter(isFolderArtwork).sort()
  const rank = (name: string) => folderStems.indexOf(imageStem(name))
  return images.toSorted((a, b) => rank(a) - rank(b))[0] ?? null
}

/** A book's cover among the files of its folder; the folder's cover if the folder contains no other book. */
export function bookArtwork(
  stem: string,
  { names, ownsFolder }: { names: readonly string[]; ownsFolder: boolean },
): string | null {
  const folded = foldName(stem)
  const own = names.filter(name => isImageName(name) && imageStem(name) === folded).sort()[0]
  return own ?? (ownsFolder ? folderArtwork(names) : null)
}
