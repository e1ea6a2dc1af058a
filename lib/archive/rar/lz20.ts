// The packing of RAR 2:
//   block  = sound:1 keep:1 (channels:2)? precode:19 lengths codes
//   symbol = 0–255 byte | 256 last match again | 257–260 one of the last distances
//          | 261–268 two bytes near | 269 new block | 270–297 length, then a distance
//   sound  = 0–255 difference to a predicted sample | 256 new block

import { newChannel, type Sound, sample } from './audio.ts'
import { type Bits, type Codes, codes, damaged, symbol, take } from './bits.ts'
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

const MAIN = 298
const DISTANCE = 48
const LENGTH = 28
const SOUND = 257
const PRECODE = 19

export type Lz20 = {
  lengths: Uint8Array
  codes: { main: Codes; distance: Codes; length: Codes } | null
  /** Not null in a sound block: the codes of each channel. */
  sounds: Codes[] | null
  sound: Sound
  distances: number[]
  at: number
  last: { distance: number; length: number }
}

export const newLz20 = (): Lz20 => ({
  lengths: new Uint8Array(SOUND * 4),
  codes: null,
  sounds: null,
  sound: {
    channels: [newChannel(), newChannel(), newChannel(), newChannel()],
    current: 0,
    delta: 0,
  },
  distances: [0, 0, 0, 0],
  at: 0,
  last: { distance: 0, length: 0 },
})

/** Unpacks one file into the window; the state carries over to the next file of a solid archive. Throws Unreadable. */
export function unpack20(state: Lz20, input: Bits, window: Window): void {
  if (state.codes === null && state.sounds === null) readCodes(state, input)
  while (window.made < window.size) step(state, input, window)
  // A solid archive may end a file with the codes of the next.
  if (input.at + 40 > input.bytes.length * 8) return
  const channel = state.sounds?.[state.sound.current]
  const mark = channel === undefined ? 269 : 256
  if (symbol(input, channel ?? state.codes!.main) === mark) readCodes(state, input)
}

function step(state: Lz20, input: Bits, window: Window) {
  if (state.sounds !== null) {
    const value = symbol(input, state.sounds[state.sound.current]!)
    if (value === 256) readCodes(state, input)
    else {
      put(window, sample(state.sound, value))
      state.sound.current = (state.sound.current + 1) % state.sounds.length
    }
    return
  }
  const value = symbol(input, state.codes!.main)
  if (value < 256) put(window, value)
  else if (value === 269) readCodes(state, input)
  else copyMatch(state, input, window, value)
}

function copyMatch(state: Lz20, input: Bits, window: Window, value: number) {
  const { last, distances } = state
  if (value > 269) {
    const code = value - 270
    const length = lengthFirst[code]! + 3 + take(input, lengthBits[code]!)
    const distanceCode = symbol(input, state.codes!.distance)
    last.distance = distanceFirst[distanceCode]! + 1 + take(input, distanceBits[distanceCode]!)
    last.length = length + far(last.distance, 0x2000)
  } else if (value > 260) {
    last.distance = shortFirst[value - 261]! + 1 + take(input, shortBits[value - 261]!)
    last.length = 2
  } else if (value > 256) {
    last.distance = distances[(state.at - (value - 256)) & 3]!
    const code = symbol(input, state.codes!.length)
    const length = lengthFirst[code]! + 2 + take(input, lengthBits[code]!)
    last.length = length + (last.distance >= 0x101 ? 1 : 0) + far(last.distance, 0x2000)
  }
  distances[state.at & 3] = last.distance
  state.at = (state.at + 1) & 3
  repeat(window, last.distance, last.length)
}

const far = (distance: number, from: number) =>
  (distance >= from ? 1 : 0) + (distance >= 0x40000 ? 1 : 0)

function readCodes(state: Lz20, input: Bits) {
  const isSound = take(input, 1) === 1
  if (take(input, 1) === 0) state.lengths.fill(0)
  const channels = isSound ? take(input, 2) + 1 : 0
  if (state.sound.current >= channels) state.sound.current = 0
  const count = isSound ? SOUND * channels : MAIN + DISTANCE + LENGTH
  const precode = new Uint8Array(PRECODE)
  for (let i = 0; i < PRECODE; i += 1) precode[i] = take(input, 4)
  const { lengths } = state
  readLengths(lengths, count, input, codes(precode))
  state.sounds = null
  if (isSound)
    state.sounds = Array.from({ length: channels }, (_, i) =>
      codes(lengths.slice(i * SOUND, (i + 1) * SOUND)),
    )
  else
    state.codes = {
      main: codes(lengths.subarray(0, MAIN)),
      distance: codes(lengths.subarray(MAIN, MAIN + DISTANCE)),
      length: codes(lengths.subarray(MAIN + DISTANCE, count)),
    }
}

function readLengths(lengths: Uint8Array, count: number, input: Bits, precode: Codes) {
  for (let i = 0; i < count; ) {
    const value = symbol(input, precode)
    if (value < 16) {
      lengths[i] = (lengths[i]! + value) & 15
      i += 1
      continue
    }
    const run =
      value === 16 ? take(input, 2) + 3 : value === 17 ? take(input, 3) + 3 : take(input, 7) + 11
    if (value === 16 && i === 0) throw damaged()
    lengths.fill(value === 16 ? lengths[i - 1]! : 0, i, Math.min(count, i + run))
    i += run
  }
}
