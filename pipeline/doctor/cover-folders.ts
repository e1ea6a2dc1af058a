// Folders of cover files (`abc/<hash>.<extension>`), listed for checks of thumbnails and originals.
import { readdirSync, statSync } from 'node:fs'

/** A file exists briefly before its row does. */
const minOrphanAgeMs = 3_600_000
const coverFolderName = /^[0-9a-f]{3}$/

/** Names in a folder, sorted; none if it does not exist or is not a folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}

/** Subfolders named by three hex digits, sorted. */
export const coverFoldersIn = (folder: string): string[] =>
  namesIn(folder).filter(name => coverFolderName.test(name))

/** True for a file that is old enough to be an orphan. */
export function isOld(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat !== undefined && Date.now() - stat.mtimeMs > minOrphanAgeMs
}
