// A comic in a 7z archive.
import { comicFormat } from './comic.ts'
import { isSevenZip, openSevenZip } from './sevenzip.ts'

export const cb7 = comicFormat('cb7', head => isSevenZip(head), openSevenZip)
