// Decompression of RAR 2 (LZ77 and Huffman codes, or audio blocks):
//   block  = audio:1 keep-lengths:1 (channels:2)? precode:19 lengths codes
//   symbol = 0-255 byte | 256 repeat last match | 257-260 one of the last distances
//          | 261-268 short match of two bytes | 269 new block | 270-297 length, then a distance
//   audio  = 0-255 difference to a predicted sample | 256 new block
import {
  type BitReader,
  createHuffmanTable,
  damaged,
  type HuffmanTable,
  readBits,
  readSymbol,
} from './huffman.ts'
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

const MAIN_SYMBOLS = 298
const DISTANCE_SYMBOLS = 48
const LENGTH_SYMBOLS = 28
const AUDIO_SYMBOLS = 257
const PRECODE_SYMBOLS = 19

type Unpack20State = {
  codeLengths: Uint8Array
  tables: { main: HuffmanTable; distance: HuffmanTable; length: HuffmanTable } | null
  /** The codes of each channel in an audio block, otherwise null. */
  audioTables: HuffmanTable[] | null
  audio: AudioState
  oldDistances: number[]
  oldDistanceIndex: number
  lastMatch: { distance: number; length: number }
}

export const createUnpack20State = (): Unpack20State => ({
  codeLengths: new Uint8Array(AUDIO_SYMBOLS * 4),
  tables: null,
  audioTables: null,
  audio: {
    channels: [
      createAudioChannel(),
      createAudioChannel(),
      createAudioChannel(),
      createAudioChannel(),
    ],
    current: 0,
    delta: 0,
  },
  oldDistances: [0, 0, 0, 0],
  oldDistanceIndex: 0,
  lastMatch: { distance: 0, length: 0 },
})

/**
 * Decompresses one file into the window; in a solid archive the state carries over to the next file. Throws
 * Unreadable.
 */
export function unpack20(state: Unpack20State, input: BitReader, window: SlidingWindow): void {
  if (state.tables === null && state.audioTables === null) readTables(state, input)
  while (window.written < window.fileSize) decodeSymbol(state, input, window)
  // In a solid archive the tables of the next file may follow.
  if (input.position + 40 > input.bytes.length * 8) return
  const channel = state.audioTables?.[state.audio.current]
  const newBlock = channel === undefined ? 269 : 256
  if (readSymbol(input, channel ?? state.tables!.main) === newBlock) readTables(state, input)
}

function decodeSymbol(state: Unpack20State, input: BitReader, window: SlidingWindow) {
  if (state.audioTables !== null) {
    const value = readSymbol(input, state.audioTables[state.audio.current]!)
    if (value === 256) readTables(state, input)
    else {
      putByte(window, decodeSample(state.audio, value))
      state.audio.current = (state.audio.current + 1) % state.audioTables.length
    }
    return
  }
  const value = readSymbol(input, state.tables!.main)
  if (value < 256) putByte(window, value)
  else if (value === 269) readTables(state, input)
  else decodeMatch(state, input, window, value)
}

function decodeMatch(state: Unpack20State, input: BitReader, window: SlidingWindow, value: number) {
  const { lastMatch, oldDistances } = state
  if (value > 269) {
    const code = value - 270
    const length = lengthBase[code]! + 3 + readBits(input, lengthBits[code]!)
    const distanceCode = readSymbol(input, state.tables!.distance)
    lastMatch.distance =
      distanceBase[distanceCode]! + 1 + readBits(input, distanceBits[distanceCode]!)
    lastMatch.length = length + farMatchBonus(lastMatch.distance, 0x2000)
  } else if (value > 260) {
    lastMatch.distance = shortBase[value - 261]! + 1 + readBits(input, shortBits[value - 261]!)
    lastMatch.length = 2
  } else if (value > 256) {
    lastMatch.distance = oldDistances[(state.oldDistanceIndex - (value - 256)) & 3]!
    const code = readSymbol(input, state.tables!.length)
    const length = lengthBase[code]! + 2 + readBits(input, lengthBits[code]!)
    lastMatch.length =
      length + (lastMatch.distance >= 0x101 ? 1 : 0) + farMatchBonus(lastMatch.distance, 0x2000)
  }
  oldDistances[state.oldDistanceIndex & 3] = lastMatch.distance
  state.oldDistanceIndex = (state.oldDistanceIndex + 1) & 3
  copyMatch(window, lastMatch.distance, lastMatch.length)
}

const farMatchBonus = (distance: number, from: number) =>
  (distance >= from ? 1 : 0) + (distance >= 0x40000 ? 1 : 0)

function readTables(state: Unpack20State, input: BitReader) {
  const isAudio = readBits(input, 1) === 1
  if (readBits(input, 1) === 0) state.codeLengths.fill(0)
  const channels = isAudio ? readBits(input, 2) + 1 : 0
  if (state.audio.current >= channels) state.audio.current = 0
  const count = isAudio
    ? AUDIO_SYMBOLS * channels
    : MAIN_SYMBOLS + DISTANCE_SYMBOLS + LENGTH_SYMBOLS
  const precode = new Uint8Array(PRECODE_SYMBOLS)
  for (let i = 0; i < PRECODE_SYMBOLS; i += 1) precode[i] = readBits(input, 4)
  const { codeLengths } = state
  readLengths(codeLengths, count, input, createHuffmanTable(precode))
  state.audioTables = null
  if (isAudio)
    state.audioTables = Array.from({ length: channels }, (_, i) =>
      createHuffmanTable(codeLengths.slice(i * AUDIO_SYMBOLS, (i + 1) * AUDIO_SYMBOLS)),
    )
  else
    state.tables = {
      main: createHuffmanTable(codeLengths.subarray(0, MAIN_SYMBOLS)),
      distance: createHuffmanTable(
        codeLengths.subarray(MAIN_SYMBOLS, MAIN_SYMBOLS + DISTANCE_SYMBOLS),
      ),
      length: createHuffmanTable(codeLengths.subarray(MAIN_SYMBOLS + DISTANCE_SYMBOLS, count)),
    }
}

function readLengths(lengths: Uint8Array, count: number, input: BitReader, precode: HuffmanTable) {
  for (let i = 0; i < count; ) {
    const value = readSymbol(input, precode)
    if (value < 16) {
      lengths[i] = (lengths[i]! + value) & 15
      i += 1
      continue
    }
    const run =
      value === 16
        ? readBits(input, 2) + 3
        : value === 17
          ? readBits(input, 3) + 3
          : readBits(input, 7) + 11
    if (value === 16 && i === 0) throw damaged()
    lengths.fill(value === 16 ? lengths[i - 1]! : 0, i, Math.min(count, i + run))
    i += run
  }
}

// Audio is predicted linearly with five weights per channel, adapted every 32 samples.
type AudioChannel = {
  weights: number[]
  /** The last difference and its higher-order differences. */
  deltas: number[]
  errors: number[]
  count: number
  lastDelta: number
  lastSample: number
}
type AudioState = { channels: AudioChannel[]; current: number; delta: number }

const createAudioChannel = (): AudioChannel => ({
  weights: [0, 0, 0, 0, 0],
  deltas: [0, 0, 0, 0],
  errors: new Array<number>(11).fill(0),
  count: 0,
  lastDelta: 0,
  lastSample: 0,
})

const signed = (byte: number) => (byte << 24) >> 24

/** The next sample; `coded` is its difference from the prediction. */
function decodeSample(sound: AudioState, coded: number): number {
  const channel = sound.channels[sound.current]!
  const { weights, deltas, errors } = channel
  channel.count += 1
  deltas[3] = deltas[2]!
  deltas[2] = deltas[1]!
  deltas[1] = channel.lastDelta - deltas[0]!
  deltas[0] = channel.lastDelta
  const inputs = [...deltas, sound.delta]
  let predicted = 8 * channel.lastSample
  for (let i = 0; i < 5; i += 1) predicted += weights[i]! * inputs[i]!
  const value = (((predicted >> 3) & 0xff) - coded) & 0xff
  const error = signed(coded) << 3
  errors[0]! += Math.abs(error)
  for (let i = 0; i < 5; i += 1) {
    errors[2 * i + 1]! += Math.abs(error - inputs[i]!)
    errors[2 * i + 2]! += Math.abs(error + inputs[i]!)
  }
  channel.lastDelta = signed(value - channel.lastSample)
  sound.delta = channel.lastDelta
  channel.lastSample = value
  if ((channel.count & 31) === 0) adaptWeights(channel)
  return value
}

function adaptWeights({ weights, errors }: AudioChannel) {
  const best = errors.indexOf(Math.min(...errors))
  errors.fill(0)
  if (best === 0) return
  const i = (best - 1) >> 1
  if (best % 2 === 1) weights[i] = Math.max(-17, weights[i]! - 1)
  else weights[i] = Math.min(16, weights[i]! + 1)
}
