// Forward reader of RAR 2 to 4 entries; needed because libarchive rejects solid RAR 4 archives.
import { Unreadable } from '../../../base/errors.ts'
import type { File } from '../../../base/file.ts'
import type { ForwardReader } from '../libarchive.ts'
import type { Limits } from '../limits.ts'
import type { RarEntry } from './entry.ts'
import { createUnpack20State, unpack20 } from './unpack20.ts'
import { createUnpack29State, unpack29 } from './unpack29.ts'
import { createWindow, type SlidingWindow } from './window.ts'

const FIRST_29 = 29
const FIRST_20 = 20

/** A forward reader of entries that form one compressed stream. */
export function openRar4Reader(
  file: File,
  group: readonly RarEntry[],
  limits: Pick<Limits, 'entryBytes'>,
): ForwardReader {
  const window = createWindow()
  let states = { lz20: createUnpack20State(), lz29: createUnpack29State() }
  let current = -1
  let out: Uint8Array | null = null
  let delivered = 0

  const unpack = (isRequested: boolean) => {
    const entry = group[current]!
    if (
      entry.packedBytes > limits.entryBytes ||
      (isRequested && entry.sizeBytes > limits.entryBytes)
    )
      throw new Unreadable('The file in the archive is too large', 'too_large')
    if (!entry.isSolid) states = { lz20: createUnpack20State(), lz29: createUnpack29State() }
    out = isRequested ? new Uint8Array(entry.sizeBytes) : null
    beginFile(window, entry.sizeBytes, out)
    const input = { bytes: file.read(entry.position, entry.packedBytes), position: 0 }
    if (entry.version >= FIRST_29) unpack29(states.lz29, input, window)
    else if (entry.version >= FIRST_20) unpack20(states.lz20, input, window)
    else rejectRar15()
    isUnpacked = true
  }
  let isUnpacked = true
  return {
    next() {
      if (!isUnpacked) unpack(false)
      current += 1
      isUnpacked = false
      out = null
      delivered = 0
      return current < group.length
    },
    read(bytes) {
      if (!isUnpacked) unpack(true)
      delivered += bytes
      return out!.slice(delivered - bytes, delivered)
    },
    [Symbol.dispose]: () => {},
  }
}

/** RAR 1.5 uses another algorithm (before 1996); no comics packed with it are known. */
function rejectRar15(): never {
  throw new Unreadable('RAR 1.5 packing is not supported', 'unsupported_method')
}

function beginFile(window: SlidingWindow, size: number, out: Uint8Array | null) {
  window.output = out
  window.fileSize = size
  window.written = 0
}
