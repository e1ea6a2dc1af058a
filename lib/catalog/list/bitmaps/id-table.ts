// Hash table of UUIDs: from an id to its place in a list of ids, 20 to 24 bytes each.
import { setImmediate } from 'node:timers/promises'

export const idBytes = 16
const idWords = 4

export type IdTable = {
  /** Four words of each id, as the bytes are in memory. */
  ids: Uint32Array<ArrayBuffer>
  /** The place of an id, and 1; 0 for none. */
  slots: Uint32Array<ArrayBuffer>
}

/** Ids are looked up in parts of so many, between which other requests are served: some milliseconds. */
const sliceIds = 20_000

export async function createIdTable(ids: Uint32Array<ArrayBuffer>): Promise<IdTable> {
  const count = ids.length / idWords
  const table = { ids, slots: new Uint32Array(2 ** Math.ceil(Math.log2(count * 1.5 + 1))) }
  const { slots } = table
  for (let place = 0; place < count; place++) {
    if (place % sliceIds === sliceIds - 1) await setImmediate()
    let slot = slotOf(table, ids, place * idWords)
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1)
    slots[slot] = place + 1
  }
  return table
}

function slotOf({ slots }: IdTable, words: Uint32Array, at: number): number {
  let hash = words[at + 3]! ^ Math.imul(words[at + 2]!, 0x9e3779b1)
  hash ^= Math.imul(words[at]! ^ Math.imul(words[at + 1]!, 0xc2b2ae35), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return (hash ^ (hash >>> 13)) & (slots.length - 1)
}

function placeOf(table: IdTable, words: Uint32Array, at: number): number {
  const { ids, slots } = table
  for (let slot = slotOf(table, words, at); ; slot = (slot + 1) & (slots.length - 1)) {
    const place = slots[slot]! - 1
    if (place < 0) return -1
    const own = place * idWords
    if (
      ids[own + 3] === words[at + 3] &&
      ids[own + 2] === words[at + 2] &&
      ids[own + 1] === words[at + 1] &&
      ids[own] === words[at]
    )
      return place
  }
}

/** Calls `visit` with the place of each id that the table has, and its index among those of `bytes`. */
export async function forEachPlace(
  table: IdTable,
  bytes: Buffer | null,
  visit: (place: number, i: number) => void,
): Promise<void> {
  if (!bytes) return
  const words = wordsOf(bytes)
  const count = words.length / idWords
  for (let i = 0; i < count; i++) {
    if (i % sliceIds === sliceIds - 1) await setImmediate()
    const place = placeOf(table, words, i * idWords)
    if (place >= 0) visit(place, i)
  }
}

/** The bytes of ids as words. */
export function wordsOf(bytes: Buffer): Uint32Array<ArrayBuffer> {
  const { length } = bytes
  const isAligned = bytes.byteOffset % 4 === 0
  const buffer = (isAligned ? bytes : Uint8Array.from(bytes)).buffer as ArrayBuffer
  return new Uint32Array(buffer, isAligned ? bytes.byteOffset : 0, length / 4)
}

/** In its 36-character form. */
export function idAt({ ids }: IdTable, place: number): string {
  const bytes = Buffer.from(ids.buffer, ids.byteOffset + place * idBytes, idBytes)
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
