// Entry of a RAR archive, common to RAR 1.5-4 and RAR 5.
import { Unreadable } from '../../../base/errors.ts'
import type { Entry } from '../container.ts'

export type RarEntry = Entry & {
  /** Location of the file header, which precedes the packed data. */
  header: { position: number; length: number }
  /** Offset of the packed data. */
  position: number
  /** CRC-32; null when the archive uses another checksum. */
  crc: number | null
  /** Compression method; 0 is stored. */
  method: number
  /** Version of the compression algorithm: 15, 20, 26, 29, 36 in RAR 1.5 to 4; 50 and 70 later. */
  version: number
  /** Decompression continues the state of the previous entry. */
  isSolid: boolean
  isEncrypted: boolean
  /** The entry that contains the data, when this one is a hard link or file copy. */
  copyOf: RarEntry | null
}

export type Listing = { entries: RarEntry[]; damage: Unreadable | null }

export const truncated = () => new Unreadable('The archive ends too early', 'truncated')
export const damaged = () =>
  new Unreadable('The archive is damaged; files after the damage were skipped', 'bad_crc')
