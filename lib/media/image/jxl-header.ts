// JPEG XL header parser: a codestream, bare or in boxes (jxlc complete, jxlp in numbered parts).
// codestream: FF 0A, then bits, lowest first: small(1), height, ratio(3), [width], default(1),
//   [extra(1) orientation-1(3)]; small: 8*(1+u(5)); else selector(2) → 1 + u(9 | 13 | 18 | 30)

import { readBoxes } from './isobmff.ts'
import { displaySize, type HeaderResult, matchesAt } from './primitives.ts'

const ratios = [
  [1, 1],
  [1, 1],
  [12, 10],
  [4, 3],
  [3, 2],
  [16, 9],
  [5, 4],
  [2, 1],
] as const
const widths = [9, 13, 18, 30] as const

export function readJxl(b: Uint8Array): HeaderResult {
  if (b[0] === 0xff) return readCodestream(b, 2)
  let end = 0
  for (const box of readBoxes(b, 0, Infinity)) {
    const at = box.type === 'jxlp' ? box.from + 4 : box.from
    if (box.type === 'jxlc' || box.type === 'jxlp') {
      if (at + 16 > b.length && at + 16 < box.to) return at + 16
      return matchesAt(b, at, '\xff\x0a') ? readCodestream(b, at + 2) : null
    }
    end = box.to
  }
  return Number.isFinite(end) ? end + 64 : null
}

function readCodestream(b: Uint8Array, from: number): HeaderResult {
  let bit = 0
  const u = (count: number) => {
    let value = 0
    for (let i = 0; i < count; i++, bit++)
      value += (((b[from + (bit >> 3)] ?? 0) >> (bit & 7)) & 1) * 2 ** i
    return value
  }
  const isSmall = u(1) === 1
  const side = () => (isSmall ? 8 * (1 + u(5)) : 1 + u(widths[u(2)]!))
  const height = side()
  const ratio = u(3)
  const [x, y] = ratios[ratio]!
  const width = ratio === 0 ? side() : Math.floor((height * x) / y)
  const isDefault = u(1) === 1
  const orientation = !isDefault && u(1) === 1 ? u(3) + 1 : 1
  return displaySize(width, height, orientation)
}
