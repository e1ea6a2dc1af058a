// Checksums that the headers of a book file state.
import { headerChecks } from '../archive/checks.ts'
import type { ArchiveFormat, Container } from '../archive/container.ts'
import type { Limits } from '../archive/limits.ts'
import { scoped } from '../async/dispose.ts'
import type { File } from '../file.ts'
import { withFormat } from './formats.ts'

/** `extension` as in `openBook`. */
type BookFile = { file: File; extension: string; limits: Limits }

/** The same as `checks` of the opened book, at the cost of its headers. Throws Unreadable. */
export const readChecks = (book: BookFile): Promise<string | null> =>
  withArchive(book, async (archive, container) => headerChecks(archive, container))

/** Null for a format without entries. */
function withArchive<T>(
  { file, extension, limits }: BookFile,
  read: (archive: ArchiveFormat, container: Container) => Promise<T>,
): Promise<T | null> {
  return withFormat(file, extension, async ({ reader: { archive } }) => {
    if (archive === null) return null
    return await scoped(async use => read(archive, use(await archive.open(file, limits))))
  })
}
