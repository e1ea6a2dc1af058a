// A comic in a 7z archive.

import { isSevenZip, openSevenZip } from '../../archive/sevenzip/sevenzip.ts'
import { comicFormat } from './comic.ts'

export const cb7 = comicFormat('cb7', head => isSevenZip(head), openSevenZip)
