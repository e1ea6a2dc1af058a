// What RAR 2 to 4 have unpacked so far: the last 4 MiB for matches, and the file being made.
import { damaged } from './bits.ts'

const WINDOW = 4 * 1024 * 1024
const MASK = WINDOW - 1

/** `out` is null while a file is only passed over. `made` counts the bytes of this file. */
export type Window = {
  ring: Uint8Array
  at: number
  out: Uint8Array | null
  made: number
  size: number
}

export const newWindow = (): Window => ({
  ring: new Uint8Array(WINDOW),
  at: 0,
  out: null,
  made: 0,
  size: 0,
})

export function put(window: Window, byte: number): void {
  window.ring[window.at] = byte
  window.at = (window.at + 1) & MASK
  if (window.out !== null && window.made < window.size) window.out[window.made] = byte
  window.made += 1
}

/** Repeats `length` bytes from `distance` back. Throws Unreadable `bad_crc`. */
export function repeat(window: Window, distance: number, length: number): void {
  if (distance > WINDOW || distance < 1) throw damaged()
  const { ring, out } = window
  let { at, made } = window
  const { size } = window
  for (let i = 0; i < length; i += 1) {
    const byte = ring[(at - distance) & MASK]!
    ring[at] = byte
    at = (at + 1) & MASK
    if (out !== null && made < size) out[made] = byte
    made += 1
  }
  window.at = at
  window.made = made
}

/** Length and distance codes: the first value of each, and the bits that follow. Both generations share them. */
export const lengthBits = Array.from({ length: 28 }, (_, i) => (i < 8 ? 0 : (i >> 2) - 1))
export const lengthFirst = firsts(lengthBits)
export const distanceBits = Array.from({ length: 60 }, (_, i) =>
  i < 4 ? 0 : i < 36 ? (i >> 1) - 1 : i < 48 ? 16 : 18,
)
export const distanceFirst = firsts(distanceBits)
export const shortBits = [2, 2, 3, 4, 5, 6, 6, 6]
export const shortFirst = firsts(shortBits)

function firsts(bits: readonly number[]): number[] {
  let next = 0
  return bits.map(count => (next += 1 << count) - (1 << count))
}
