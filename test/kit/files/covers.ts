// The cover of an opened book without decoding it.
import type { OpenedBook } from '../../../lib/media/format/contract.ts'

/** Bytes of the best candidate, or null when there is none. */
export async function firstCover(book: Pick<OpenedBook, 'covers'>): Promise<Uint8Array | null> {
  for await (const bytes of book.covers()) return bytes
  return null
}
