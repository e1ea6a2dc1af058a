// Sliding window of RAR 2 to 4: the last 4 MiB for matches, and the output of the current file.
import { damaged } from './huffman.ts'

const WINDOW_BYTES = 4 * 1024 * 1024
const MASK = WINDOW_BYTES - 1

/** `output` is null while a file is skipped. `written` counts the bytes of the current file. */
export type SlidingWindow = {
  buffer: Uint8Array
  position: number
  output: Uint8Array | null
  written: number
  fileSize: number
}

export const createWindow = (): SlidingWindow => ({
  buffer: new Uint8Array(WINDOW_BYTES),
  position: 0,
  output: null,
  written: 0,
  fileSize: 0,
})

export function putByte(window: SlidingWindow, byte: number): void {
  window.buffer[window.position] = byte
  window.position = (window.position + 1) & MASK
  if (window.output !== null && window.written < window.fileSize)
    window.output[window.written] = byte
  window.written += 1
}

/** Copies `length` bytes from `distance` bytes back. Throws Unreadable `bad_crc`. */
export function copyMatch(window: SlidingWindow, distance: number, length: number): void {
  if (distance > WINDOW_BYTES || distance < 1) throw damaged()
  const { buffer, output, fileSize } = window
  let { position, written } = window
  for (let i = 0; i < length; i += 1) {
    const byte = buffer[(position - distance) & MASK]!
    buffer[position] = byte
    position = (position + 1) & MASK
    if (output !== null && written < fileSize) output[written] = byte
    written += 1
  }
  window.position = position
  window.written = written
}

/** Base values and numbers of extra bits of the length and distance codes. Common to RAR 2 and 2.9. */
export const lengthBits = Array.from({ length: 28 }, (_, i) => (i < 8 ? 0 : (i >> 2) - 1))
export const lengthBase = baseValues(lengthBits)
export const distanceBits = Array.from({ length: 60 }, (_, i) =>
  i < 4 ? 0 : i < 36 ? (i >> 1) - 1 : i < 48 ? 16 : 18,
)
export const distanceBase = baseValues(distanceBits)
export const shortBits = [2, 2, 3, 4, 5, 6, 6, 6]
export const shortBase = baseValues(shortBits)

function baseValues(bits: readonly number[]): number[] {
  let next = 0
  return bits.map(count => (next += 1 << count) - (1 << count))
}
