// Unpacks the files of RAR 2 to 4 from front to back, as solid archives must be; libarchive refuses those.
import { Unreadable } from '../../errors.ts'
import type { File } from '../../file.ts'
import type { Limits } from '../../format/contract.ts'
import type { Pass } from '../libarchive.ts'
import type { RarEntry } from './entry.ts'
import { newLz20, unpack20 } from './lz20.ts'
import { newLz29, unpack29 } from './lz29.ts'
import { newWindow, type Window } from './window.ts'

const FIRST_29 = 29
const FIRST_20 = 20

/** A forward pass over entries that are one packed stream. */
export function unpackRar4(
  file: File,
  group: readonly RarEntry[],
  limits: Pick<Limits, 'entryBytes'>,
): Pass {
  const window = newWindow()
  let states = { lz20: newLz20(), lz29: newLz29() }
  let current = -1
  let out: Uint8Array | null = null
  let given = 0

  const unpack = (isWanted: boolean) => {
    const entry = group[current]!
    if (entry.packed > limits.entryBytes || (isWanted && entry.bytes > limits.entryBytes))
      throw new Unreadable('The file in the archive is too large', 'too_large')
    if (!entry.isSolid) states = { lz20: newLz20(), lz29: newLz29() }
    out = isWanted ? new Uint8Array(entry.bytes) : null
    begin(window, entry.bytes, out)
    const input = { bytes: file.read(entry.position, entry.packed), at: 0 }
    if (entry.version >= FIRST_29) unpack29(states.lz29, input, window)
    else if (entry.version >= FIRST_20) unpack20(states.lz20, input, window)
    else refuse15()
    isUnpacked = true
  }
  let isUnpacked = true
  return {
    next() {
      if (!isUnpacked) unpack(false)
      current += 1
      isUnpacked = false
      out = null
      given = 0
      return current < group.length
    },
    read(bytes) {
      if (!isUnpacked) unpack(true)
      given += bytes
      return out!.slice(given - bytes, given)
    },
    [Symbol.dispose]: () => {},
  }
}

/** RAR 1.5 packs in another way, which no comic scanner of this century used. */
function refuse15(): never {
  throw new Unreadable('RAR 1.5 packing is not supported', 'unsupported_method')
}

function begin(window: Window, size: number, out: Uint8Array | null) {
  window.out = out
  window.size = size
  window.made = 0
}
