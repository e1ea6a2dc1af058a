// Contexts and states of a PPMd model as they lie in its memory; see ppmd-memory.ts for the layout.
import { type Memory, STATE } from './memory.ts'

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
  /** The state of the symbol found last. */
  found: number
  /** Probabilities of contexts with one symbol: 128 frequencies by 64 circumstances. */
  binary: Uint16Array
  /** Estimates of escapes: 25 by 16, and a dummy. */
  see: { sum: Uint16Array; shift: Uint8Array; count: Uint8Array }
}

export const MOST_FREQUENT = 124

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
/** The state inside a context that has only one. */
export const onlyState = (context: number) => context + 2

export const successorOf = ({ u16 }: Memory, state: number) =>
  u16[(state + 2) >> 1]! + u16[(state + 4) >> 1]! * 65_536
export function setSuccessor({ u16 }: Memory, state: number, value: number) {
  u16[(state + 2) >> 1] = value & 0xffff
  u16[(state + 4) >> 1] = value >>> 16
}

export function swap({ u16 }: Memory, a: number, b: number) {
  for (let i = 0; i < 3; i += 1) {
    const half = u16[(a >> 1) + i]!
    u16[(a >> 1) + i] = u16[(b >> 1) + i]!
    u16[(b >> 1) + i] = half
  }
}

export function stateOf(memory: Memory, context: number, symbol: number): number {
  if (countOf(memory, context) === 1) return onlyState(context)
  let state = statesOf(memory, context)
  while (memory.u8[state] !== symbol) state += STATE
  return state
}
