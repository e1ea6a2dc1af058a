// A comic in a tar archive.
import { openComic } from './comic.ts'
import type { Format } from './contract.ts'
import { isTarHeader, openTar } from './tar.ts'

export const cbt: Format = {
  name: 'cbt',
  matches: head => isTarHeader(head),
  open: async (file, limits) => openComic('cbt', await openTar(file, limits), limits),
}
