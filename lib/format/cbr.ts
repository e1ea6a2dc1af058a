// A comic in a RAR archive.
import { comicFormat } from './comic.ts'
import { isRar, openRar } from './rar.ts'

export const cbr = comicFormat('cbr', head => isRar(head), openRar)
