// Files of uploaded covers: the original and its thumbnail, both named by a hash of the original. The
// hash is salted, because a book's own thumbnail is named by the hash of its bytes, and uploading that very
// thumbnail as a cover must not share its file.
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  coverFolder,
  type ThumbnailFormat,
  thumbnailPath,
} from '../../media/image/thumbnail-path.ts'

export type CoverFolders = { originals: string; thumbnails: string }

/** Cover folders below the data directory. */
export const coverFolders = (dataDir: string): CoverFolders => ({
  originals: join(dataDir, 'covers'),
  thumbnails: join(dataDir, 'thumbnails'),
})

/** 40 hex digits. */
export const coverName = (original: Uint8Array): string =>
  createHash('sha256').update('cover').update(original).digest('hex').slice(0, 40)

/** `abc/<name>.<extension>` below the folder of originals. */
export const originalPath = (
  { originals }: CoverFolders,
  name: string,
  extension: string,
): string => join(coverFolder(originals, name), `${name}.${extension}`)

type CoverFile = { name: string; extension: string }
type CoverImages = { original: Uint8Array; thumbnail: Uint8Array; format: ThumbnailFormat }

export async function writeCover(
  folders: CoverFolders,
  { name, extension, original, thumbnail, format }: CoverFile & CoverImages,
): Promise<void> {
  await writeAtomically(originalPath(folders, name, extension), original)
  await writeAtomically(thumbnailPath(folders.thumbnails, name, format), thumbnail)
}

export async function deleteCoverFiles(folders: CoverFolders, { name, extension }: CoverFile) {
  await rm(originalPath(folders, name, extension), { force: true })
  for (const format of ['jpeg', 'webp'] as const)
    await rm(thumbnailPath(folders.thumbnails, name, format), { force: true })
}

/** Writes a temporary file and renames it: a file with the final name is complete. */
export async function writeAtomically(path: string, bytes: Uint8Array) {
  const temporary = `${path}.${randomBytes(6).toString('hex')}`
  await mkdir(dirname(path), { recursive: true })
  try {
    await writeFile(temporary, bytes)
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}
