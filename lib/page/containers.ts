// Opens the container of a book without measuring its pages: the catalogue knows them already.

import type { Container } from '../archive/container.ts'
import { openRar } from '../archive/rar/rar.ts'
import { openSevenZip } from '../archive/sevenzip/sevenzip.ts'
import { openTar } from '../archive/tar.ts'
import { openZip } from '../archive/zip/zip.ts'
import type { File } from '../file.ts'
import type { FormatName, Limits } from '../format/contract.ts'

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
