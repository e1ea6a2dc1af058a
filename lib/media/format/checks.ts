// Checksums of a book file: their digest as stated in its headers, and whether the content matches them.
import { scoped } from '../../base/async/dispose.ts'
import { Unreadable } from '../../base/errors.ts'
import type { File } from '../../base/file.ts'
import type { ArchiveFormat, Container } from '../archive/container.ts'
import { headerChecks } from '../archive/header-checks.ts'
import type { Limits } from '../archive/limits.ts'
import { withFormat } from './formats.ts'

/** `extension` as in `openBook`. */
type BookFile = { file: File; extension: string; limits: Limits }

/** The `checks` of the opened book, at the cost of reading its headers. Throws Unreadable. */
export const readChecks = (book: BookFile): Promise<string | null> =>
  withArchive(book, async (archive, container) => headerChecks(archive, container))

/**
 * Reads the whole content. Returns `sound` if all of it matches its checksums, `unknown` for a file without
 * checksums, otherwise the damage. Calls `tick` after every entry. Throws Unreadable `io`.
 */
export async function checkContent(
  book: BookFile,
  tick: () => void,
): Promise<'sound' | 'unknown' | Unreadable> {
  try {
    const result = await withArchive(book, async (archive, container) => {
      if (container.damage !== null) return container.damage
      const checked = container.entries.filter(entry => archive.checksum(entry) !== null)
      for (const entry of checked) {
        const damage = await damageOf(container.read(entry, book.limits.entryBytes))
        if (damage !== null) return damage
        tick()
      }
      return checked.length > 0 ? 'sound' : 'unknown'
    })
    return result ?? 'unknown'
  } catch (error) {
    if (!(error instanceof Unreadable) || error.code === 'io') throw error
    return isDamage(error) ? error : 'unknown'
  }
}

async function damageOf(reading: Promise<Uint8Array>): Promise<Unreadable | null> {
  try {
    await reading
    return null
  } catch (error) {
    if (!(error instanceof Unreadable) || error.code === 'io') throw error
    return isDamage(error) ? error : null
  }
}

const isDamage = ({ code }: Unreadable) => ['bad_crc', 'truncated', 'not_an_archive'].includes(code)

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
