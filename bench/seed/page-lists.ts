// Page lists of a synthetic catalog, as long as real ones. One for each number of pages: packing takes longer than all
// else of a book.
import { packPages } from '../../lib/page/page-list.ts'
import { createRandom } from '../../test/kit/random.ts'

const stored = { method: 0, crc: 'header' } as const

const lists = new Map<number, string>()

/** The packed list of that many pages, stored one after the other in a ZIP, in hexadecimal. */
export function pageListOf(count: number): string {
  const known = lists.get(count)
  if (known !== undefined) return known
  const random = createRandom(count)
  let offset = 0
  const pages = Array.from({ length: count }, (_, i) => {
    const bytes = 150_000 + random.below(900_000)
    const name = `${String(i + 1).padStart(3, '0')}.jpg`
    const location = { offset, headerBytes: 69, packedBytes: bytes, ...stored }
    offset += 30 + name.length + bytes
    return { name, mediaType: 'image/jpeg', bytes, width: 1600, height: 2400, location }
  })
  const packed = packPages(pages).toString('hex')
  lists.set(count, packed)
  return packed
}
