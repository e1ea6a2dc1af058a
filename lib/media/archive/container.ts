// Archive containers: named entries with random access, common to ZIP, RAR, 7z and tar.
import type { Unreadable } from '../../base/errors.ts'
import type { File } from '../../base/file.ts'
import type { Limits } from './limits.ts'

/** One file inside a container. Names are data for display and order, never paths on disk. */
export type Entry = {
  /** Decoded name with `/` separators. */
  name: string
  /** Declared uncompressed size; checked while reading. */
  sizeBytes: number
  packedBytes: number
  /** Position in the order of the container. */
  index: number
}

/** Entries that are folders, links or devices are left out. Not safe for concurrent calls. */
export type Container = AsyncDisposable & {
  readonly entries: readonly Entry[]
  /** Defects that did not prevent reading, e.g. `The archive ends too early`. */
  readonly warnings: string[]
  /** Why entries may be missing: `truncated`, `bad_crc`; null for a complete archive. */
  readonly damage: Unreadable | null
  /** The whole entry. Throws Unreadable: `too_large` beyond `maxBytes` (declared or actual), `bad_crc`, `truncated`, `encrypted`, `unsupported_method`, `io`. */
  read(entry: Entry, maxBytes: number): Promise<Uint8Array>
  /** At least the first `bytes` of the entry (fewer only when it is shorter), at the lowest cost the format allows; no checksum. */
  head(entry: Entry, bytes: number): Promise<Uint8Array>
  /** Reads in advance what `head` of these entries will read, where the disk is slow. */
  preloadHeads?(entries: readonly Entry[], bytes: number): Promise<void> | undefined
}

/** Where the data of an entry lies in the archive file, when one read is enough to get it. */
export type DataLocation = {
  /** Offset of the data, or of the local header before it. */
  offset: number
  /** Upper bound of the bytes between `offset` and the data; 0 when `offset` is that of the data. */
  headerBytes: number
  packedBytes: number
  /** 0 stored, 8 deflated. */
  method: 0 | 8
  /** `header`: that of the local header before the data. */
  crc: number | 'header' | null
}

/** `solid`: reading the entry requires decompressing others. Null for data that is compressed otherwise or encrypted. */
export type EntryLocation = DataLocation | 'solid' | null

/** An archive format. */
export type ArchiveFormat = {
  /** Opens the container of `file` without taking ownership of it. Throws Unreadable. */
  open(file: File, limits: Limits): Promise<Container>
  /** `entry` is one of `open`. */
  locate(entry: Entry): EntryLocation
  /** CRC-32 of an entry of `open` as its header states it; null without one. */
  checksum(entry: Entry): number | null
}
