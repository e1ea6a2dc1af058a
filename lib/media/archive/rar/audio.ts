// Audio decompression of RAR 2: linear prediction with five weights per channel, adapted every 32 samples.

export type AudioChannel = {
  weights: number[]
  /** The last difference and its higher-order differences. */
  deltas: number[]
  errors: number[]
  count: number
  lastDelta: number
  lastSample: number
}
export type AudioState = { channels: AudioChannel[]; current: number; delta: number }

export const createAudioChannel = (): AudioChannel => ({
  weights: [0, 0, 0, 0, 0],
  deltas: [0, 0, 0, 0],
  errors: new Array<number>(11).fill(0),
  count: 0,
  lastDelta: 0,
  lastSample: 0,
})

const signed = (byte: number) => (byte << 24) >> 24

/** The next sample; `coded` is its difference from the prediction. */
export function decodeSample(sound: AudioState, coded: number): number {
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
