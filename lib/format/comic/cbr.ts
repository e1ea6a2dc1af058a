// A comic in a RAR archive.

import { isRar, openRar } from '../../archive/rar/rar.ts'
import { comicFormat } from './comic.ts'

export const cbr = comicFormat('cbr', head => isRar(head), openRar)
