// What the headers of both generations of RAR say about a file.
import type { Entry } from '../container.ts'

export type RarEntry = Entry & {
  /** Of its header, which the packed bytes follow. */
  header: { position: number; length: number }
  position: number
  /** Null when the archive keeps another checksum. */
  crc: number | null
  /** Zero is stored. */
  method: number
  /** Of the packing: 15, 20, 26, 29, 36 in RAR 1.5 to 4, 50 and 70 later. */
  version: number
  /** Unpacking needs what the entry before it left behind. */
  isSolid: boolean
  isEncrypted: boolean
  /** Another entry that holds the bytes of this one. */
  copyOf: RarEntry | null
}

export type Listing = { entries: RarEntry[]; warnings: string[] }

export const endsEarly = 'The archive ends too early'
export const isDamaged = 'The archive is damaged; the files behind the damage were left out'
