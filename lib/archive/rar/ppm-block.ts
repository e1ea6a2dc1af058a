// Text blocks of RAR 2.9 to 4, packed with PPMd:
//   block  = 1:1 flags:2 order:5 (megabytes:1)? (escape:1)? range-coded symbols     flags 20 new model, 40 escape given
//   symbol = byte | escape code     code 0 new block | 2 end of file | 3 filter | 4 distance:3 length:1
//          | 5 length:1 of the last byte | else the escape itself

import { type Bits, damaged } from './bits.ts'
import { addFilter, type Filters } from './filter.ts'
import { newModel, restart } from './ppmd/model.ts'
import { type Coder, decodeSymbol, startCoder } from './ppmd/ppmd.ts'
import type { Model } from './ppmd/state.ts'
import { put, repeat, type Window } from './window.ts'

export type Ppm = { isOn: boolean; model: Model | null; coder: Coder | null; escape: number }
/** What a symbol means beyond its bytes: new codes follow, or the file ends. */
export type Event = 'codes' | 'end' | null

const flag = { reset: 0x20, escape: 0x40 }
const DEFAULT_ESCAPE = 2

export const newPpm = (): Ppm => ({ isOn: false, model: null, coder: null, escape: DEFAULT_ESCAPE })

/** Begins a block; `input` stands behind its first bit. Throws Unreadable `bad_crc`. */
export function startPpm(ppm: Ppm, input: Bits): void {
  let at = input.at >>> 3
  const next = () => {
    const byte = input.bytes[at]
    if (byte === undefined) throw damaged()
    at += 1
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
    renew(ppm, order > 16 ? 16 + (order - 16) * 3 : order, megabytes * 1024 * 1024)
  }
  if (ppm.model === null) throw damaged()
  ppm.coder = startCoder(input.bytes, at)
}

function renew(ppm: Ppm, order: number, size: number) {
  if (ppm.model?.memory.size === size) restart(ppm.model, order)
  else ppm.model = newModel(order, size)
}

/** Goes on with the bytes of the next file. */
export function continuePpm(ppm: Ppm, input: Bits): void {
  ppm.coder = { ...ppm.coder!, bytes: input.bytes, at: 0 }
}

/** In bits, behind what the coder has read. */
export const positionOf = (ppm: Ppm) => ppm.coder!.at * 8

/** One symbol. Throws Unreadable `bad_crc`. */
export function stepPpm(ppm: Ppm, filters: Filters, window: Window): Event {
  const next = () => decodeSymbol(ppm.model!, ppm.coder!)
  const symbol = next()
  if (symbol !== ppm.escape) {
    if (window.made >= window.size) return 'end'
    put(window, symbol)
    return null
  }
  const code = next()
  if (code === 0) return 'codes'
  if (code === 2) return 'end'
  if (code === 3) addFilter(filters, next, window.made)
  else if (code === 4) {
    const distance = next() * 65_536 + next() * 256 + next() + 2
    repeat(window, distance, next() + 32)
  } else if (code === 5) repeat(window, 1, next() + 4)
  else put(window, ppm.escape)
  return null
}
