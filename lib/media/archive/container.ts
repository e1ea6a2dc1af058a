// Archive containers: named entries with random access, common to ZIP, RAR, 7z and tar.
import type { Unreadable } from '../../base/errors.ts'
import type { File } from '../../base/file.ts'
import type { Limits } from './limits.ts'

/** One file in a container. Names are data for display and sorting, never paths on disk. */
export type Entry = {
  /** Decoded name with `/` separators. */
  name: string
  /** Declared uncompressed size; checked while reading. */
  sizeBytes: number
  packedBytes: number
  /** Position in the container. */
  index: number
}

/** Folders, links and devices are omitted. Not safe for concurrent calls. */
export type Container = AsyncDisposable & {
  readonly entries: readonly Entry[]
  /** Defects that did not prevent reading, e.g. `The archive ends too early`. */
  readonly warnings: string[]
  /** Why entries may be missing: `truncated`, `bad_crc`; null for a complete archive. */
  readonly damage: Unreadable | null
  /** The whole entry. Throws Unreadable: `too_large` beyond `maxBytes` (declared or actual), `bad_crc`, `truncated`, `encrypted`, `unsupported_method`, `io`. */
  read(entry: Entry, maxBytes: number): Promise<Uint8Array>
  /**
   * At least the first `bytes` of the entry (fewer only if it is shorter), as cheaply as the format allows
   * and without checking its checksum.
   */
  head(entry: Entry, bytes: number): Promise<Uint8Array>
  /** On a slow disk, reads in advance what `head` will read of these entries. */
  preloadHeads?(entries: readonly Entry[], bytes: number): Promise<void> | undefined
}

/** Where an entry's data lies in the archive file, if a single read can fetch it. */
export type DataLocation = {
  /** Offset of the data, or of the local header before it. */
  offset: number
  /** Upper bound of the bytes between `offset` and the data; 0 when `offset` points to the data itself. */
  headerBytes: number
  packedBytes: number
  /** 0 stored, 8 deflated. */
  method: 0 | 8
  /** `header`: the one in the local header before the data. */
  crc: number | 'header' | null
}

/**
 * `solid`: reading the entry requires decompressing others. Null for encrypted data and other compression
 * methods.
 */
export type EntryLocation = DataLocation | 'solid' | null

/** An archive format. */
export type ArchiveFormat = {
  /** Opens the container of `file` without taking ownership of it. Throws Unreadable. */
  open(file: File, limits: Limits): Promise<Container>
  /** `entry` comes from `open`. */
  locate(entry: Entry): EntryLocation
  /** CRC-32 of an entry from `open`, as stated in its header; null without one. */
  checksum(entry: Entry): number | null
}
