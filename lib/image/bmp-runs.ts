// Run lengths of BMP, 8 or 4 bits a pixel, to one palette index a byte.
// runs: (count value | 00 escape)*; escape: 00 end of line | 01 end | 02 dx dy
//       | n: n literal pixels, padded to 2 bytes; 4-bit values hold two pixels that alternate

type Area = { width: number; height: number; bits: 4 | 8 }

/** Rows in stored order. Whatever lies outside the area is dropped; pixels never set are index 0. */
export function decodeRuns(b: Uint8Array, { width, height, bits }: Area): Uint8Array {
  const out = new Uint8Array(width * height)
  let [x, y, at] = [0, 0, 0]
  const put = (index: number) => {
    if (x < width) out[y * width + x] = index
    x++
  }
  const pixel = (from: number, i: number) =>
    bits === 8 ? (b[from + i] ?? 0) : ((b[from + (i >> 1)] ?? 0) >> (i & 1 ? 0 : 4)) & 15
  while (at + 1 < b.length && y < height) {
    const [count, value] = [b[at]!, b[at + 1]!]
    at += 2
    if (count > 0) {
      for (let i = 0; i < count; i++) put(bits === 8 ? value : (value >> (i & 1 ? 0 : 4)) & 15)
    } else if (value === 0) {
      x = 0
      y++
    } else if (value === 1) break
    else if (value === 2) {
      x += b[at] ?? 0
      y += b[at + 1] ?? 0
      at += 2
    } else {
      for (let i = 0; i < value; i++) put(pixel(at, i))
      const bytes = bits === 8 ? value : (value + 1) >> 1
      at += bytes + (bytes & 1)
    }
  }
  return out
}
