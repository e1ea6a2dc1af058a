// Uploaded covers on disk: the original and its thumbnail, both under one name that follows from the
// original's bytes. The name is salted: that of a book's own thumbnail is the hash of its bytes, and a
// thumbnail that is uploaded again must not share its file.
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type ThumbnailFormat, thumbnailPath } from '../../image/thumbnail-path.ts'

export type CoverFolders = { originals: string; thumbnails: string }

/** Folders of covers below the data directory. */
export const coverFolders = (dataDir: string): CoverFolders => ({
  originals: join(dataDir, 'covers'),
  thumbnails: join(dataDir, 'thumbnails'),
})

/** 40 hex digits. */
export const coverName = (original: Uint8Array): string =>
  createHash('sha256').update('cover').update(original).digest('hex').slice(0, 40)

/** `ab/cd/<name>.<ending>` below the folder of originals. */
export const originalPath = ({ originals }: CoverFolders, name: string, ending: string): string =>
  join(originals, name.slice(0, 2), name.slice(2, 4), `${name}.${ending}`)

type Pair = {
  name: string
  ending: string
  original: Uint8Array
  thumbnail: Uint8Array
  format: ThumbnailFormat
}

export async function writeCover(folders: CoverFolders, pair: Pair): Promise<void> {
  const { name, ending, original, thumbnail, format } = pair
  await writeWhole(originalPath(folders, name, ending), original)
  await writeWhole(thumbnailPath(folders.thumbnails, name, format), thumbnail)
}

export async function removeCoverFiles(
  folders: CoverFolders,
  { name, ending }: { name: string; ending: string },
): Promise<void> {
  await rm(originalPath(folders, name, ending), { force: true })
  for (const format of ['jpeg', 'webp'] as const)
    await rm(thumbnailPath(folders.thumbnails, name, format), { force: true })
}

/** Written beside and renamed: what has its name is whole. */
async function writeWhole(path: string, bytes: Uint8Array) {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  await mkdir(dirname(path), { recursive: true })
  try {
    await writeFile(draft, bytes)
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
