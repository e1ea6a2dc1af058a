// Search for the next file header after damage in a RAR archive.
import type { File } from '../../../base/file.ts'

const chunkBytes = 256 * 1024
/** Longest header to find; allowing longer ones would make searching a whole file expensive. */
export const maxSearchedHeaderBytes = 4096

/** Read in advance of every block on a slow disk: the header, and what measuring an image needs. */
export const preloadedBytes = 16 * 1024

/** How far to search for the first header in a file without a signature. */
export const maxPrefixBytes = 16 * 1024 * 1024

/** Whether a file header with a valid checksum begins at `i`. */
type HeaderTest = (bytes: Buffer, i: number) => boolean

/** The position of the first file header at or after `from`; null if there is none. Reads the file once. */
export function findFileHeader(
  file: File,
  from: number,
  isFileHeader: HeaderTest,
  maxBytes = Number.POSITIVE_INFINITY,
): number | null {
  for (let start = from; start < Math.min(file.size, from + maxBytes); start += chunkBytes) {
    const chunk = file.read(start, chunkBytes + maxSearchedHeaderBytes)
    const end = Math.min(chunkBytes, chunk.length)
    for (let i = 0; i < end; i += 1) if (isFileHeader(chunk, i)) return start + i
  }
  return null
}
