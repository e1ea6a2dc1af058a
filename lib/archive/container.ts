// A bag of named entries with random access: what ZIP, RAR, 7z and tar have in common.

/** One file inside a container. Names are data for display and order, never paths on disk. */
export type Entry = {
  /** Decoded name with `/` separators. */
  name: string
  /** Declared uncompressed bytes; the truth is checked while reading. */
  bytes: number
  /** Bytes it takes in the container. */
  packed: number
  /** Position in the container's own order. */
  index: number
}

/** Entries that are folders, links or devices are left out. Not safe for two calls at once. */
export type Container = AsyncDisposable & {
  readonly entries: readonly Entry[]
  /** What was wrong but could be passed over, e.g. `end record missing, entries recovered`. */
  readonly warnings: string[]
  /** The whole entry. Throws Unreadable: `too_large` beyond `maxBytes` (declared or real), `bad_crc`, `truncated`, `encrypted`, `unsupported_method`, `io`. */
  read(entry: Entry, maxBytes: number): Promise<Uint8Array>
  /** At least the first `bytes` of the entry (fewer only when it is shorter), at the least cost the format allows; no checksum. */
  head(entry: Entry, bytes: number): Promise<Uint8Array>
}
