// PPMd blocks of RAR 2.9 to 4:
//   block  = 1:1 flags:2 order:5 (megabytes:1)? (escape:1)? range-coded symbols     flags 20 new model, 40 escape present
//   symbol = byte | escape code     code 0 new block | 2 end of file | 3 filter | 4 distance:3 length:1
//          | 5 length:1 of the last byte | else the escape itself
import { addFilter, type FilterState } from './filter.ts'
import { type BitReader, damaged } from './huffman.ts'
import type { Model } from './ppmd/context.ts'
import { createRangeDecoder, decodeSymbol, type RangeDecoder } from './ppmd/decoder.ts'
import { createModel, restartModel } from './ppmd/model.ts'
import { copyMatch, putByte, type SlidingWindow } from './window.ts'

export type PpmState = {
  isActive: boolean
  model: Model | null
  coder: RangeDecoder | null
  escape: number
}
/** Control result of a symbol: new tables follow, or the file ends. */
export type BlockEvent = 'codes' | 'end' | null

const flag = { reset: 0x20, escape: 0x40 }
const DEFAULT_ESCAPE = 2

export const createPpmState = (): PpmState => ({
  isActive: false,
  model: null,
  coder: null,
  escape: DEFAULT_ESCAPE,
})

/** Starts a block; `input` is positioned after its first bit. Throws Unreadable `bad_crc`. */
export function startPpmBlock(ppm: PpmState, input: BitReader): void {
  let offset = input.position >>> 3
  const next = () => {
    const byte = input.bytes[offset]
    if (byte === undefined) throw damaged()
    offset += 1
    return byte
  }
  const flags = next()
  const isNew = (flags & flag.reset) !== 0
  const megabytes = isNew ? next() + 1 : 0
  if ((flags & flag.escape) !== 0) ppm.escape = next()
  else if (isNew) ppm.escape = DEFAULT_ESCAPE
  if (isNew) {
    const order = (flags & 31) + 1
    if (order === 1) throw damaged()
    resetModel(ppm, order > 16 ? 16 + (order - 16) * 3 : order, megabytes * 1024 * 1024)
  }
  if (ppm.model === null) throw damaged()
  ppm.coder = createRangeDecoder(input.bytes, offset)
}

function resetModel(ppm: PpmState, order: number, size: number) {
  if (ppm.model?.memory.size === size) restartModel(ppm.model, order)
  else ppm.model = createModel(order, size)
}

/** Continues with the data of the next file. */
export function continuePpmBlock(ppm: PpmState, input: BitReader): void {
  ppm.coder = { ...ppm.coder!, bytes: input.bytes, position: 0 }
}

/** Position in bits after the data consumed by the range decoder. */
export const ppmBitPosition = (ppm: PpmState) => ppm.coder!.position * 8

/** One symbol. Throws Unreadable `bad_crc`. */
export function decodePpmSymbol(
  ppm: PpmState,
  filters: FilterState,
  window: SlidingWindow,
): BlockEvent {
  const next = () => decodeSymbol(ppm.model!, ppm.coder!)
  const symbol = next()
  if (symbol !== ppm.escape) {
    if (window.written >= window.fileSize) return 'end'
    putByte(window, symbol)
    return null
  }
  const code = next()
  if (code === 0) return 'codes'
  if (code === 2) return 'end'
  if (code === 3) addFilter(filters, next, window.written)
  else if (code === 4) {
    const distance = next() * 65_536 + next() * 256 + next() + 2
    copyMatch(window, distance, next() + 32)
  } else if (code === 5) copyMatch(window, 1, next() + 4)
  else putByte(window, ppm.escape)
  return null
}
