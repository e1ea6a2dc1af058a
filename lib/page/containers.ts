// Opens the container of a book without measuring its pages: the catalogue knows them already.
import type { File } from '../file.ts'
import type { Container } from '../format/container.ts'
import type { FormatName, Limits } from '../format/contract.ts'
import { openRar } from '../format/rar.ts'
import { openSevenZip } from '../format/sevenzip.ts'
import { openTar } from '../format/tar.ts'
import { openZip } from '../format/zip.ts'

type Open = (file: File, limits: Limits) => Promise<Container>

const openers: Record<FormatName, Open | null> = {
  cbz: openZip,
  epub: openZip,
  cbr: openRar,
  cb7: openSevenZip,
  cbt: openTar,
  pdf: null,
}

/** Null for a format without entries. Throws Unreadable. */
export async function openContainer(
  format: FormatName,
  file: File,
  limits: Limits,
): Promise<Container | null> {
  return (await openers[format]?.(file, limits)) ?? null
}
