// A comic in a tar archive.

import { isTarHeader, openTar } from '../../archive/tar.ts'
import { comicFormat } from './comic.ts'

export const cbt = comicFormat('cbt', head => isTarHeader(head), openTar)
