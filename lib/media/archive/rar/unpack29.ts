// Decompression of RAR 2.9 to 4 (LZ77 and Huffman codes with filters, or PPMd blocks):
//   block  = align 0:1 keep-lengths:1 precode:20 lengths codes        with 1:1 first: see ppm-block.ts
//   symbol = 0-255 byte | 256 end (1 = new tables, 0 new-tables:1 = end of file) | 257 filter
//          | 258 repeat last match | 259-262 one of the last distances | 263-270 short match of two bytes
//          | 271-298 length, then a distance whose low four bits have a separate code
import { Unreadable } from '../../../base/errors.ts'
import { addFilter, applyFilters, createFilterState, type FilterState } from './filter.ts'
import {
  type BitReader,
  createHuffmanTable,
  damaged,
  type HuffmanTable,
  readBits,
  readSymbol,
} from './huffman.ts'
import {
  type BlockEvent,
  continuePpmBlock,
  createPpmState,
  decodePpmSymbol,
  type PpmState,
  ppmBitPosition,
  startPpmBlock,
} from './ppm-block.ts'
import {
  copyMatch,
  distanceBase,
  distanceBits,
  lengthBase,
  lengthBits,
  putByte,
  type SlidingWindow,
  shortBase,
  shortBits,
} from './window.ts'

const MAIN_SYMBOLS = 299
const DISTANCE_SYMBOLS = 60
const LOW_DISTANCE_SYMBOLS = 17
const LENGTH_SYMBOLS = 28
const ALL_SYMBOLS = MAIN_SYMBOLS + DISTANCE_SYMBOLS + LOW_DISTANCE_SYMBOLS + LENGTH_SYMBOLS
const PRECODE_SYMBOLS = 20

export type Unpack29State = {
  codeLengths: Uint8Array
  tables: {
    main: HuffmanTable
    distance: HuffmanTable
    lowDistance: HuffmanTable
    length: HuffmanTable
  } | null
  oldDistances: number[]
  lastMatch: { distance: number; length: number }
  low: { value: number; repeats: number }
  filters: FilterState
  ppm: PpmState
  /** Whether the next file continues with these tables. */
  hasTables: boolean
}

export const createUnpack29State = (): Unpack29State => ({
  codeLengths: new Uint8Array(ALL_SYMBOLS),
  tables: null,
  oldDistances: [0, 0, 0, 0],
  lastMatch: { distance: 0, length: 0 },
  low: { value: 0, repeats: 0 },
  filters: createFilterState(),
  ppm: createPpmState(),
  hasTables: false,
})

/**
 * Decompresses one file into the window; in a solid archive the state carries over to the next file. Throws
 * Unreadable.
 */
export function unpack29(state: Unpack29State, input: BitReader, window: SlidingWindow): void {
  const { ppm } = state
  state.filters.pending = []
  if (!state.hasTables) readTables(state, input)
  else if (ppm.isActive) continuePpmBlock(ppm, input)
  for (let isMore = true; isMore; ) {
    const event = ppm.isActive
      ? decodePpmSymbol(ppm, state.filters, window)
      : decodeSymbol(state, input, window)
    if (event === 'codes') {
      if (ppm.isActive) input.position = ppmBitPosition(ppm)
      readTables(state, input)
    }
    isMore = event !== 'end'
  }
  if (window.written < window.fileSize)
    throw new Unreadable('The data of a file in the archive is truncated', 'truncated')
  if (window.output !== null) applyFilters(state.filters, window.output)
}

// Decodes one symbol. The end symbol is read even when the file is complete, because it states whether the
// next file starts with new tables.
function decodeSymbol(state: Unpack29State, input: BitReader, window: SlidingWindow): BlockEvent {
  const isFull = window.written >= window.fileSize
  if (isFull && input.position >= input.bytes.length * 8) return 'end'
  const value = readSymbol(input, state.tables!.main)
  if (value === 256) {
    if (readBits(input, 1) === 1) return 'codes'
    state.hasTables = readBits(input, 1) === 0
    return 'end'
  }
  if (isFull && value !== 257) return 'end'
  if (value < 256) putByte(window, value)
  else if (value === 257) addFilter(state.filters, () => readBits(input, 8), window.written)
  else decodeMatch(state, input, window, value)
  return null
}

function decodeMatch(state: Unpack29State, input: BitReader, window: SlidingWindow, value: number) {
  const { oldDistances, lastMatch } = state
  if (value === 258) {
    if (lastMatch.length > 0) copyMatch(window, lastMatch.distance, lastMatch.length)
    return
  }
  if (value < 263) {
    const [distance] = oldDistances.splice(value - 259, 1)
    const code = readSymbol(input, state.tables!.length)
    lastMatch.length = lengthBase[code]! + 2 + readBits(input, lengthBits[code]!)
    lastMatch.distance = distance!
  } else {
    oldDistances.pop()
    if (value < 271) {
      lastMatch.distance = shortBase[value - 263]! + 1 + readBits(input, shortBits[value - 263]!)
      lastMatch.length = 2
    } else {
      const length = lengthBase[value - 271]! + 3 + readBits(input, lengthBits[value - 271]!)
      lastMatch.distance = readDistance(state, input)
      // Distant matches have a larger minimum length.
      const far = (lastMatch.distance >= 0x2000 ? 1 : 0) + (lastMatch.distance >= 0x40000 ? 1 : 0)
      lastMatch.length = length + far
    }
  }
  oldDistances.unshift(lastMatch.distance)
  copyMatch(window, lastMatch.distance, lastMatch.length)
}

function readDistance(state: Unpack29State, input: BitReader): number {
  const code = readSymbol(input, state.tables!.distance)
  const bits = distanceBits[code]!
  const first = distanceBase[code]! + 1
  if (code < 10) return first + readBits(input, bits)
  const { low } = state
  let distance = first
  if (bits > 4) distance += (bits > 20 ? throwDamaged() : readBits(input, bits - 4)) << 4
  if (low.repeats > 0) {
    low.repeats -= 1
    return distance + low.value
  }
  const value = readSymbol(input, state.tables!.lowDistance)
  if (value === 16) low.repeats = 15
  else low.value = value
  return distance + low.value
}

const throwDamaged = (): never => {
  throw damaged()
}

function readTables(state: Unpack29State, input: BitReader) {
  input.position = (input.position + 7) & ~7
  state.ppm.isActive = readBits(input, 1) === 1
  if (state.ppm.isActive) return startPpmBlock(state.ppm, input)
  if (readBits(input, 1) === 0) state.codeLengths.fill(0)
  state.low = { value: 0, repeats: 0 }
  readLengths(state.codeLengths, input, readPrecode(input))
  const { codeLengths } = state
  state.hasTables = true
  const distance = MAIN_SYMBOLS + DISTANCE_SYMBOLS
  state.tables = {
    main: createHuffmanTable(codeLengths.subarray(0, MAIN_SYMBOLS)),
    distance: createHuffmanTable(codeLengths.subarray(MAIN_SYMBOLS, distance)),
    lowDistance: createHuffmanTable(
      codeLengths.subarray(distance, distance + LOW_DISTANCE_SYMBOLS),
    ),
    length: createHuffmanTable(codeLengths.subarray(distance + LOW_DISTANCE_SYMBOLS)),
  }
}

function readPrecode(input: BitReader): HuffmanTable {
  const lengths = new Uint8Array(PRECODE_SYMBOLS)
  for (let i = 0; i < PRECODE_SYMBOLS; i += 1) {
    const length = readBits(input, 4)
    const zeros = length === 15 ? readBits(input, 4) : 0
    if (zeros === 0) lengths[i] = length
    else i += zeros + 1
  }
  return createHuffmanTable(lengths)
}

// Code lengths are stored as differences from the previous block's.
function readLengths(lengths: Uint8Array, input: BitReader, precode: HuffmanTable) {
  for (let i = 0; i < ALL_SYMBOLS; ) {
    const value = readSymbol(input, precode)
    if (value < 16) {
      lengths[i] = (lengths[i]! + value) & 15
      i += 1
      continue
    }
    const count = (value & 1) === 0 ? readBits(input, 3) + 3 : readBits(input, 7) + 11
    if (value < 18 && i === 0) throw damaged()
    lengths.fill(value < 18 ? lengths[i - 1]! : 0, i, Math.min(ALL_SYMBOLS, i + count))
    i += count
  }
}
