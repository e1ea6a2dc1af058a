// Accessors for contexts and states in the memory of a PPMd model; layout in allocator.ts.
import { type Memory, STATE_BYTES } from './allocator.ts'

export type Model = {
  memory: Memory
  order: number
  orderFall: number
  initEscape: number
  previousSuccess: number
  highBits: number
  runLength: number
  initRunLength: number
  minContext: number
  maxContext: number
  /** The state of the last decoded symbol. */
  foundState: number
  /** Probabilities of binary contexts (one symbol): 128 frequencies by 64 situations. */
  binaryProbabilities: Uint16Array
  /** SEE (secondary escape estimation): 25 by 16 contexts, and a dummy. */
  see: { sum: Uint16Array; shift: Uint8Array; count: Uint8Array }
}

export const MAX_FREQUENCY = 124

export const countOf = ({ u16 }: Memory, context: number) => u16[context >> 1]!
export const setCount = ({ u16 }: Memory, context: number, value: number) =>
  void (u16[context >> 1] = value)
export const sumOf = ({ u16 }: Memory, context: number) => u16[(context + 2) >> 1]!
export const setSum = ({ u16 }: Memory, context: number, value: number) =>
  void (u16[(context + 2) >> 1] = value)
export const statesOf = ({ u32 }: Memory, context: number) => u32[(context + 4) >> 2]!
export const setStates = ({ u32 }: Memory, context: number, at: number) =>
  void (u32[(context + 4) >> 2] = at)
export const suffixOf = ({ u32 }: Memory, context: number) => u32[(context + 8) >> 2]!
export const setSuffix = ({ u32 }: Memory, context: number, at: number) =>
  void (u32[(context + 8) >> 2] = at)
/** The state embedded in a context with a single symbol. */
export const singleState = (context: number) => context + 2

export const successorOf = ({ u16 }: Memory, state: number) =>
  u16[(state + 2) >> 1]! + u16[(state + 4) >> 1]! * 65_536
export function setSuccessor({ u16 }: Memory, state: number, value: number) {
  u16[(state + 2) >> 1] = value & 0xffff
  u16[(state + 4) >> 1] = value >>> 16
}

export function swapStates({ u16 }: Memory, a: number, b: number) {
  for (let i = 0; i < 3; i += 1) {
    const half = u16[(a >> 1) + i]!
    u16[(a >> 1) + i] = u16[(b >> 1) + i]!
    u16[(b >> 1) + i] = half
  }
}

export function findState(memory: Memory, context: number, symbol: number): number {
  if (countOf(memory, context) === 1) return singleState(context)
  let state = statesOf(memory, context)
  while (memory.u8[state] !== symbol) state += STATE_BYTES
  return state
}
