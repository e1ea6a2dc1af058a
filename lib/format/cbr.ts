// A comic in a RAR archive.
import { openComic } from './comic.ts'
import type { Format } from './contract.ts'
import { isRar, openRar } from './rar.ts'

export const cbr: Format = {
  name: 'cbr',
  matches: head => isRar(head),
  open: async (file, limits) => openComic('cbr', await openRar(file, limits), limits),
}
