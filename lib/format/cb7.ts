// A comic in a 7z archive.
import { openComic } from './comic.ts'
import type { Format } from './contract.ts'
import { isSevenZip, openSevenZip } from './sevenzip.ts'

export const cb7: Format = {
  name: 'cb7',
  matches: head => isSevenZip(head),
  open: async (file, limits) => openComic('cb7', await openSevenZip(file, limits), limits),
}
