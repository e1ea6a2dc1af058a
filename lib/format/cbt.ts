// A comic in a tar archive.
import { comicFormat } from './comic.ts'
import { isTarHeader, openTar } from './tar.ts'

export const cbt = comicFormat('cbt', head => isTarHeader(head), openTar)
