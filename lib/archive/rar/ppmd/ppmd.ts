// Decodes symbols of PPMd variant H with the range coder that RAR uses.

import { damaged } from '../bits.ts'
import { type Memory, STATE } from './memory.ts'
import {
  DUMMY_SEE,
  PERIOD_BITS,
  updateEscaped,
  updateFirst,
  updateLater,
  updateOnly,
} from './model.ts'
import { countOf, type Model, onlyState, statesOf, suffixOf, sumOf } from './state.ts'

/** `at` counts bytes; zeros follow the end, up to a few. */
export type Coder = { bytes: Uint8Array; at: number; low: number; code: number; range: number }

const TOP = 0x1000000
const BOTTOM = 0x8000
const BINARY_BITS = 14
const INTERVAL = 1 << 7
const OVERREAD = 64
const escapes = [25, 14, 9, 7, 5, 5, 4, 4, 4, 3, 3, 3, 2, 2, 2, 2]

// Circumstances of a binary context by the size of its suffix, and of an escape by the symbols left.
const bySuffix = Uint8Array.from({ length: 256 }, (_, i) =>
  i === 0 ? 0 : i === 1 ? 2 : i < 11 ? 4 : 6,
)
const byLeft = new Uint8Array(256)
for (let i = 0, group = 0, left = 1; i < 256; i += 1) {
  byLeft[i] = i < 3 ? i : group
  if (i < 2) continue
  if (i === 2) group = 3
  else if (--left === 0) {
    group += 1
    left = group - 2
  }
}
const highBit = (symbol: number) => (symbol >= 0x40 ? 8 : 0)

export function startCoder(bytes: Uint8Array, at: number): Coder {
  const coder: Coder = { bytes, at, low: 0, code: 0, range: 0xffffffff }
  for (let i = 0; i < 4; i += 1) coder.code = ((coder.code << 8) | next(coder)) >>> 0
  return coder
}

function next(coder: Coder): number {
  if (coder.at > coder.bytes.length + OVERREAD) throw damaged()
  return coder.bytes[coder.at++] ?? 0
}

function threshold(coder: Coder, total: number): number {
  coder.range = Math.floor(coder.range / total)
  return Math.floor(((coder.code - coder.low) >>> 0) / coder.range)
}

function narrow(coder: Coder, start: number, size: number) {
  coder.low = (coder.low + start * coder.range) >>> 0
  coder.range = (coder.range * size) >>> 0
  for (;;) {
    if ((coder.low ^ (coder.low + coder.range)) >>> 0 >= TOP) {
      if (coder.range >= BOTTOM) return
      coder.range = -coder.low & (BOTTOM - 1)
    }
    coder.code = ((coder.code << 8) | next(coder)) >>> 0
    coder.range = (coder.range << 8) >>> 0
    coder.low = (coder.low << 8) >>> 0
  }
}

// Which symbols higher contexts have excluded: those whose mark is the current one.
const masks = new Uint32Array(256)
let mark = 0

/** The next symbol. Throws Unreadable `bad_crc`. */
export function decodeSymbol(model: Model, coder: Coder): number {
  mark += 1
  if (mark === 0xffffffff) {
    masks.fill(0)
    mark = 1
  }
  const found =
    countOf(model.memory, model.minContext) === 1
      ? decodeOnly(model, coder)
      : decodeFirst(model, coder)
  return found ?? decodeEscaped(model, coder)
}

function decodeFirst(model: Model, coder: Coder): number | null {
  const { memory, minContext } = model
  const { u8 } = memory
  const sum = sumOf(memory, minContext)
  const states = statesOf(memory, minContext)
  const count = threshold(coder, sum)
  let high = u8[states + 1]!
  if (count < high) {
    narrow(coder, 0, high)
    model.found = states
    const symbol = u8[states]!
    updateFirst(model)
    return symbol
  }
  model.previousSuccess = 0
  const end = states + countOf(memory, minContext) * STATE
  for (let state = states + STATE; state < end; state += STATE) {
    const frequency = u8[state + 1]!
    high += frequency
    if (high <= count) continue
    narrow(coder, high - frequency, frequency)
    model.found = state
    const symbol = u8[state]!
    updateLater(model)
    return symbol
  }
  if (count >= sum) throw damaged()
  model.highBits = highBit(u8[model.found]!)
  narrow(coder, high, sum - high)
  for (let state = states; state < end; state += STATE) masks[u8[state]!] = mark
  return null
}

function decodeOnly(model: Model, coder: Coder): number | null {
  const { memory, minContext, binary } = model
  const { u8 } = memory
  const state = onlyState(minContext)
  const symbol = u8[state]!
  model.highBits = highBit(u8[model.found]!)
  const at =
    (u8[state + 1]! - 1) * 64 +
    model.previousSuccess +
    bySuffix[countOf(memory, suffixOf(memory, minContext)) - 1]! +
    model.highBits +
    2 * highBit(symbol) +
    ((model.runLength >> 26) & 0x20)
  const chance = binary[at]!
  const mean = (chance + (1 << (PERIOD_BITS - 2))) >> PERIOD_BITS
  if (threshold(coder, 1 << BINARY_BITS) < chance) {
    narrow(coder, 0, chance)
    binary[at] = chance + INTERVAL - mean
    model.found = state
    updateOnly(model)
    return symbol
  }
  narrow(coder, chance, (1 << BINARY_BITS) - chance)
  binary[at] = chance - mean
  model.initEscape = escapes[binary[at]! >> 10]!
  masks[symbol] = mark
  model.previousSuccess = 0
  return null
}

function decodeEscaped(model: Model, coder: Coder): number {
  const { memory, see } = model
  const { u8 } = memory
  for (;;) {
    const masked = countOf(memory, model.minContext)
    do {
      model.orderFall += 1
      // The root context knows every symbol: an escape from it ends the data.
      if (suffixOf(memory, model.minContext) === 0) throw damaged()
      model.minContext = suffixOf(memory, model.minContext)
    } while (countOf(memory, model.minContext) === masked)
    const states = statesOf(memory, model.minContext)
    const end = states + countOf(memory, model.minContext) * STATE
    let high = 0
    for (let state = states; state < end; state += STATE)
      if (masks[u8[state]!] !== mark) high += u8[state + 1]!
    const estimate = chooseSee(model, masked)
    const mean = see.sum[estimate]! >> see.shift[estimate]!
    if (estimate !== DUMMY_SEE) see.sum[estimate]! -= mean
    const unseen = estimate === DUMMY_SEE ? 1 : mean || 1
    const count = threshold(coder, unseen + high)
    if (count < high) {
      let before = 0
      let state = states
      for (; ; state += STATE) {
        if (masks[u8[state]!] === mark) continue
        if (before + u8[state + 1]! > count) break
        before += u8[state + 1]!
      }
      return takeEscaped(model, coder, { state, before, estimate })
    }
    if (count >= unseen + high) throw damaged()
    narrow(coder, high, unseen)
    see.sum[estimate]! += unseen + high
    for (let state = states; state < end; state += STATE) masks[u8[state]!] = mark
  }
}

type Choice = { state: number; before: number; estimate: number }

function takeEscaped(model: Model, coder: Coder, { state, before, estimate }: Choice): number {
  const { memory, see } = model
  narrow(coder, before, memory.u8[state + 1]!)
  if (see.shift[estimate]! < PERIOD_BITS && --see.count[estimate]! === 0) {
    see.sum[estimate]! <<= 1
    see.count[estimate] = 3 << see.shift[estimate]!
    see.shift[estimate]! += 1
  }
  model.found = state
  const symbol = memory.u8[state]!
  updateEscaped(model)
  return symbol
}

function chooseSee(model: Model, masked: number): number {
  const { memory, minContext } = model
  const count = countOf(memory, minContext)
  if (count === 256) return DUMMY_SEE
  const left = count - masked
  return (
    byLeft[left - 1]! * 16 +
    (left < suffixCount(memory, minContext) - count ? 1 : 0) +
    (sumOf(memory, minContext) < 11 * count ? 2 : 0) +
    (masked > left ? 4 : 0) +
    model.highBits
  )
}

const suffixCount = (memory: Memory, context: number) => countOf(memory, suffixOf(memory, context))
