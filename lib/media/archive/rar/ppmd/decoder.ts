// Symbol decoder of PPMd variant H with the range coder of RAR.
import { damaged } from '../huffman.ts'
import { type Memory, STATE_BYTES } from './allocator.ts'
import { countOf, type Model, singleState, statesOf, suffixOf, sumOf } from './context.ts'
import {
  DUMMY_SEE,
  PERIOD_BITS,
  updateEscaped,
  updateFirst,
  updateLater,
  updateSingle,
} from './model.ts'

/** `position` is in bytes; a few zeros may be read past the end. */
export type RangeDecoder = {
  bytes: Uint8Array
  position: number
  low: number
  code: number
  range: number
}

const TOP = 0x1000000
const BOTTOM = 0x8000
const BINARY_BITS = 14
const INTERVAL = 1 << 7
const OVERREAD = 64
const expectedEscapes = [25, 14, 9, 7, 5, 5, 4, 4, 4, 3, 3, 3, 2, 2, 2, 2]

// Index into the probabilities of binary contexts by the size of the suffix context, and into SEE contexts by
// the number of remaining symbols.
const suffixClass = Uint8Array.from({ length: 256 }, (_, i) =>
  i === 0 ? 0 : i === 1 ? 2 : i < 11 ? 4 : 6,
)
const remainingClass = new Uint8Array(256)
for (let i = 0, group = 0, left = 1; i < 256; i += 1) {
  remainingClass[i] = i < 3 ? i : group
  if (i < 2) continue
  if (i === 2) group = 3
  else if (--left === 0) {
    group += 1
    left = group - 2
  }
}
const highBit = (symbol: number) => (symbol >= 0x40 ? 8 : 0)

export function createRangeDecoder(bytes: Uint8Array, at: number): RangeDecoder {
  const coder: RangeDecoder = { bytes, position: at, low: 0, code: 0, range: 0xffffffff }
  for (let i = 0; i < 4; i += 1) coder.code = ((coder.code << 8) | nextByte(coder)) >>> 0
  return coder
}

function nextByte(coder: RangeDecoder): number {
  if (coder.position > coder.bytes.length + OVERREAD) throw damaged()
  return coder.bytes[coder.position++] ?? 0
}

function getThreshold(coder: RangeDecoder, total: number): number {
  coder.range = Math.floor(coder.range / total)
  return Math.floor(((coder.code - coder.low) >>> 0) / coder.range)
}

function decodeRange(coder: RangeDecoder, start: number, size: number) {
  coder.low = (coder.low + start * coder.range) >>> 0
  coder.range = (coder.range * size) >>> 0
  for (;;) {
    if ((coder.low ^ (coder.low + coder.range)) >>> 0 >= TOP) {
      if (coder.range >= BOTTOM) return
      coder.range = -coder.low & (BOTTOM - 1)
    }
    coder.code = ((coder.code << 8) | nextByte(coder)) >>> 0
    coder.range = (coder.range << 8) >>> 0
    coder.low = (coder.low << 8) >>> 0
  }
}

// Symbols excluded by higher contexts: those whose mask equals the current one.
const symbolMasks = new Uint32Array(256)
let currentMask = 0

/** The next symbol. Throws Unreadable `bad_crc`. */
export function decodeSymbol(model: Model, coder: RangeDecoder): number {
  currentMask += 1
  if (currentMask === 0xffffffff) {
    symbolMasks.fill(0)
    currentMask = 1
  }
  const symbol =
    countOf(model.memory, model.minContext) === 1
      ? decodeBinarySymbol(model, coder)
      : decodeContextSymbol(model, coder)
  return symbol ?? decodeMaskedSymbol(model, coder)
}

function decodeContextSymbol(model: Model, coder: RangeDecoder): number | null {
  const { memory, minContext } = model
  const { u8 } = memory
  const sum = sumOf(memory, minContext)
  const states = statesOf(memory, minContext)
  const count = getThreshold(coder, sum)
  let high = u8[states + 1]!
  if (count < high) {
    decodeRange(coder, 0, high)
    model.foundState = states
    const symbol = u8[states]!
    updateFirst(model)
    return symbol
  }
  model.previousSuccess = 0
  const end = states + countOf(memory, minContext) * STATE_BYTES
  for (let state = states + STATE_BYTES; state < end; state += STATE_BYTES) {
    const frequency = u8[state + 1]!
    high += frequency
    if (high <= count) continue
    decodeRange(coder, high - frequency, frequency)
    model.foundState = state
    const symbol = u8[state]!
    updateLater(model)
    return symbol
  }
  if (count >= sum) throw damaged()
  model.highBits = highBit(u8[model.foundState]!)
  decodeRange(coder, high, sum - high)
  for (let state = states; state < end; state += STATE_BYTES) symbolMasks[u8[state]!] = currentMask
  return null
}

function decodeBinarySymbol(model: Model, coder: RangeDecoder): number | null {
  const { memory, minContext, binaryProbabilities } = model
  const { u8 } = memory
  const state = singleState(minContext)
  const symbol = u8[state]!
  model.highBits = highBit(u8[model.foundState]!)
  const at =
    (u8[state + 1]! - 1) * 64 +
    model.previousSuccess +
    suffixClass[countOf(memory, suffixOf(memory, minContext)) - 1]! +
    model.highBits +
    2 * highBit(symbol) +
    ((model.runLength >> 26) & 0x20)
  const chance = binaryProbabilities[at]!
  const mean = (chance + (1 << (PERIOD_BITS - 2))) >> PERIOD_BITS
  if (getThreshold(coder, 1 << BINARY_BITS) < chance) {
    decodeRange(coder, 0, chance)
    binaryProbabilities[at] = chance + INTERVAL - mean
    model.foundState = state
    updateSingle(model)
    return symbol
  }
  decodeRange(coder, chance, (1 << BINARY_BITS) - chance)
  binaryProbabilities[at] = chance - mean
  model.initEscape = expectedEscapes[binaryProbabilities[at]! >> 10]!
  symbolMasks[symbol] = currentMask
  model.previousSuccess = 0
  return null
}

function decodeMaskedSymbol(model: Model, coder: RangeDecoder): number {
  const { memory, see } = model
  const { u8 } = memory
  for (;;) {
    const masked = countOf(memory, model.minContext)
    do {
      model.orderFall += 1
      // The root context contains every symbol: an escape from it is an error.
      if (suffixOf(memory, model.minContext) === 0) throw damaged()
      model.minContext = suffixOf(memory, model.minContext)
    } while (countOf(memory, model.minContext) === masked)
    const states = statesOf(memory, model.minContext)
    const end = states + countOf(memory, model.minContext) * STATE_BYTES
    let high = 0
    for (let state = states; state < end; state += STATE_BYTES)
      if (symbolMasks[u8[state]!] !== currentMask) high += u8[state + 1]!
    const estimate = findSee(model, masked)
    const mean = see.sum[estimate]! >> see.shift[estimate]!
    if (estimate !== DUMMY_SEE) see.sum[estimate]! -= mean
    const unseen = estimate === DUMMY_SEE ? 1 : mean || 1
    const count = getThreshold(coder, unseen + high)
    if (count < high) {
      let before = 0
      let state = states
      for (; ; state += STATE_BYTES) {
        if (symbolMasks[u8[state]!] === currentMask) continue
        if (before + u8[state + 1]! > count) break
        before += u8[state + 1]!
      }
      return acceptMasked(model, coder, { state, before, estimate })
    }
    if (count >= unseen + high) throw damaged()
    decodeRange(coder, high, unseen)
    see.sum[estimate]! += unseen + high
    for (let state = states; state < end; state += STATE_BYTES)
      symbolMasks[u8[state]!] = currentMask
  }
}

function acceptMasked(
  model: Model,
  coder: RangeDecoder,
  { state, before, estimate }: { state: number; before: number; estimate: number },
): number {
  const { memory, see } = model
  decodeRange(coder, before, memory.u8[state + 1]!)
  if (see.shift[estimate]! < PERIOD_BITS && --see.count[estimate]! === 0) {
    see.sum[estimate]! <<= 1
    see.count[estimate] = 3 << see.shift[estimate]!
    see.shift[estimate]! += 1
  }
  model.foundState = state
  const symbol = memory.u8[state]!
  updateEscaped(model)
  return symbol
}

function findSee(model: Model, masked: number): number {
  const { memory, minContext } = model
  const count = countOf(memory, minContext)
  if (count === 256) return DUMMY_SEE
  const left = count - masked
  return (
    remainingClass[left - 1]! * 16 +
    (left < suffixCount(memory, minContext) - count ? 1 : 0) +
    (sumOf(memory, minContext) < 11 * count ? 2 : 0) +
    (masked > left ? 4 : 0) +
    model.highBits
  )
}

const suffixCount = (memory: Memory, context: number) => countOf(memory, suffixOf(memory, context))
