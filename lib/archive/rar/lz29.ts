// The packing of RAR 2.9 to 4:
//   block  = align 0:1 keep:1 precode:20 lengths codes        with 1:1 first: see rar-ppm.ts
//   symbol = 0–255 byte | 256 end (1 = new codes, 0 new-codes:1 = end of file) | 257 filter
//          | 258 last match again | 259–262 one of the last distances | 263–270 two bytes near
//          | 271–298 length, then a distance whose low four bits have codes of their own
import { Unreadable } from '../../errors.ts'
import { type Bits, type Codes, codes, damaged, symbol, take } from './bits.ts'
import { addFilter, applyFilters, type Filters, newFilters } from './filter.ts'
import {
  continuePpm,
  type Event,
  newPpm,
  type Ppm,
  positionOf,
  startPpm,
  stepPpm,
} from './ppm-block.ts'
import {
  distanceBits,
  distanceFirst,
  lengthBits,
  lengthFirst,
  put,
  repeat,
  shortBits,
  shortFirst,
  type Window,
} from './window.ts'

const MAIN = 299
const DISTANCE = 60
const LOW = 17
const LENGTH = 28
const ALL = MAIN + DISTANCE + LOW + LENGTH
const PRECODE = 20

export type Lz29 = {
  lengths: Uint8Array
  codes: { main: Codes; distance: Codes; low: Codes; length: Codes } | null
  distances: number[]
  last: { distance: number; length: number }
  low: { value: number; repeats: number }
  filters: Filters
  ppm: Ppm
  /** Whether the next file goes on with these codes. */
  isReady: boolean
}

export const newLz29 = (): Lz29 => ({
  lengths: new Uint8Array(ALL),
  codes: null,
  distances: [0, 0, 0, 0],
  last: { distance: 0, length: 0 },
  low: { value: 0, repeats: 0 },
  filters: newFilters(),
  ppm: newPpm(),
  isReady: false,
})

/** Unpacks one file into the window; the state carries over to the next file of a solid archive. Throws Unreadable. */
export function unpack29(state: Lz29, input: Bits, window: Window): void {
  const { ppm } = state
  state.filters.pending = []
  if (!state.isReady) readCodes(state, input)
  else if (ppm.isOn) continuePpm(ppm, input)
  for (let isMore = true; isMore; ) {
    const event = ppm.isOn ? stepPpm(ppm, state.filters, window) : step(state, input, window)
    if (event === 'codes') {
      if (ppm.isOn) input.at = positionOf(ppm)
      readCodes(state, input)
    }
    isMore = event !== 'end'
  }
  if (window.made < window.size)
    throw new Unreadable('The data of a file in the archive ends too early', 'truncated')
  if (window.out !== null) applyFilters(state.filters, window.out)
}

// One symbol. The end mark is read even when all bytes are there, because it tells whether the next file
// brings its own codes.
function step(state: Lz29, input: Bits, window: Window): Event {
  const isFull = window.made >= window.size
  if (isFull && input.at >= input.bytes.length * 8) return 'end'
  const value = symbol(input, state.codes!.main)
  if (value === 256) {
    if (take(input, 1) === 1) return 'codes'
    state.isReady = take(input, 1) === 0
    return 'end'
  }
  if (isFull && value !== 257) return 'end'
  if (value < 256) put(window, value)
  else if (value === 257) addFilter(state.filters, () => take(input, 8), window.made)
  else copyMatch(state, input, window, value)
  return null
}

function copyMatch(state: Lz29, input: Bits, window: Window, value: number) {
  const { distances, last } = state
  if (value === 258) {
    if (last.length > 0) repeat(window, last.distance, last.length)
    return
  }
  if (value < 263) {
    const [distance] = distances.splice(value - 259, 1)
    const code = symbol(input, state.codes!.length)
    last.length = lengthFirst[code]! + 2 + take(input, lengthBits[code]!)
    last.distance = distance!
  } else {
    distances.pop()
    if (value < 271) {
      last.distance = shortFirst[value - 263]! + 1 + take(input, shortBits[value - 263]!)
      last.length = 2
    } else {
      const length = lengthFirst[value - 271]! + 3 + take(input, lengthBits[value - 271]!)
      last.distance = readDistance(state, input)
      // Far matches pay only when they are longer.
      const far = (last.distance >= 0x2000 ? 1 : 0) + (last.distance >= 0x40000 ? 1 : 0)
      last.length = length + far
    }
  }
  distances.unshift(last.distance)
  repeat(window, last.distance, last.length)
}

function readDistance(state: Lz29, input: Bits): number {
  const code = symbol(input, state.codes!.distance)
  const bits = distanceBits[code]!
  const first = distanceFirst[code]! + 1
  if (code < 10) return first + take(input, bits)
  const { low } = state
  let distance = first
  if (bits > 4) distance += (bits > 20 ? damagedBits() : take(input, bits - 4)) << 4
  if (low.repeats > 0) {
    low.repeats -= 1
    return distance + low.value
  }
  const value = symbol(input, state.codes!.low)
  if (value === 16) low.repeats = 15
  else low.value = value
  return distance + low.value
}

const damagedBits = (): never => {
  throw damaged()
}

function readCodes(state: Lz29, input: Bits) {
  input.at = (input.at + 7) & ~7
  state.ppm.isOn = take(input, 1) === 1
  if (state.ppm.isOn) return startPpm(state.ppm, input)
  if (take(input, 1) === 0) state.lengths.fill(0)
  state.low = { value: 0, repeats: 0 }
  readLengths(state.lengths, input, readPrecode(input))
  const { lengths } = state
  state.isReady = true
  const distance = MAIN + DISTANCE
  state.codes = {
    main: codes(lengths.subarray(0, MAIN)),
    distance: codes(lengths.subarray(MAIN, distance)),
    low: codes(lengths.subarray(distance, distance + LOW)),
    length: codes(lengths.subarray(distance + LOW)),
  }
}

function readPrecode(input: Bits): Codes {
  const lengths = new Uint8Array(PRECODE)
  for (let i = 0; i < PRECODE; i += 1) {
    const length = take(input, 4)
    const zeros = length === 15 ? take(input, 4) : 0
    if (zeros === 0) lengths[i] = length
    else i += zeros + 1
  }
  return codes(lengths)
}

// Lengths are differences to those of the block before.
function readLengths(lengths: Uint8Array, input: Bits, precode: Codes) {
  for (let i = 0; i < ALL; ) {
    const value = symbol(input, precode)
    if (value < 16) {
      lengths[i] = (lengths[i]! + value) & 15
      i += 1
      continue
    }
    const count = (value & 1) === 0 ? take(input, 3) + 3 : take(input, 7) + 11
    if (value < 18 && i === 0) throw damaged()
    lengths.fill(value < 18 ? lengths[i - 1]! : 0, i, Math.min(ALL, i + count))
    i += count
  }
}
