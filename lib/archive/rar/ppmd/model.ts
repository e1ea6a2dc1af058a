// The model of PPMd variant H (Shkarin, 2001, public domain): contexts of falling order, each with the
// symbols that followed it. `memory` holds contexts and states.
import { grow } from './grow.ts'
import {
  allocate,
  allocateContext,
  classOf,
  clearMemory,
  newMemory,
  release,
  STATE,
  shrink,
} from './memory.ts'
import {
  countOf,
  MOST_FREQUENT,
  type Model,
  onlyState,
  setCount,
  setStates,
  setSuccessor,
  setSuffix,
  setSum,
  statesOf,
  successorOf,
  sumOf,
  swap,
} from './state.ts'

const BINARY_SCALE = 1 << 14
export const PERIOD_BITS = 7
export const DUMMY_SEE = 400
const initialEscapes = [0x3cdd, 0x1f3f, 0x59bf, 0x48f3, 0x64a1, 0x5abc, 0x6632, 0x6051]

export function newModel(order: number, size: number): Model {
  const model: Model = {
    memory: newMemory(size),
    order,
    orderFall: 0,
    initEscape: 0,
    previousSuccess: 0,
    highBits: 0,
    runLength: 0,
    initRunLength: 0,
    minContext: 0,
    maxContext: 0,
    found: 0,
    binary: new Uint16Array(128 * 64),
    see: {
      sum: new Uint16Array(DUMMY_SEE + 1),
      shift: new Uint8Array(DUMMY_SEE + 1),
      count: new Uint8Array(DUMMY_SEE + 1),
    },
  }
  restart(model)
  return model
}

/** Forgets everything; `order` may be a new one. */
export function restart(model: Model, order: number = model.order): void {
  model.order = order
  const { memory, see, binary } = model
  clearMemory(memory)
  model.orderFall = model.order
  model.initRunLength = -Math.min(model.order, 12) - 1
  model.runLength = model.initRunLength
  model.previousSuccess = 0
  const context = allocateContext(memory)
  model.minContext = context
  model.maxContext = context
  model.found = allocate(memory, classOf(128))
  setCount(memory, context, 256)
  setSum(memory, context, 257)
  setStates(memory, context, model.found)
  setSuffix(memory, context, 0)
  for (let i = 0; i < 256; i += 1) {
    memory.u8[model.found + i * STATE] = i
    memory.u8[model.found + i * STATE + 1] = 1
    setSuccessor(memory, model.found + i * STATE, 0)
  }
  for (let i = 0; i < 128; i += 1)
    for (let k = 0; k < 64; k += 1)
      binary[i * 64 + k] = BINARY_SCALE - Math.floor(initialEscapes[k & 7]! / (i + 2))
  for (let i = 0; i < DUMMY_SEE; i += 1) {
    see.shift[i] = PERIOD_BITS - 4
    see.sum[i] = (5 * (i >> 4) + 10) << (PERIOD_BITS - 4)
    see.count[i] = 4
  }
  see.shift[DUMMY_SEE] = PERIOD_BITS
  see.count[DUMMY_SEE] = 64
}

/** After the most likely symbol of a context. */
export function updateFirst(model: Model): void {
  const { memory, minContext: context } = model
  const frequency = memory.u8[model.found + 1]!
  model.previousSuccess = 2 * frequency > sumOf(memory, context) ? 1 : 0
  model.runLength += model.previousSuccess
  gain(model)
  if (memory.u8[model.found + 1]! > MOST_FREQUENT) rescale(model)
  nextContext(model)
}

/** After another symbol of the first context. */
export function updateLater(model: Model): void {
  const { memory, found } = model
  gain(model)
  if (memory.u8[found + 1]! > memory.u8[found + 1 - STATE]!) {
    swap(memory, found, found - STATE)
    model.found = found - STATE
    if (memory.u8[model.found + 1]! > MOST_FREQUENT) rescale(model)
  }
  nextContext(model)
}

/** After a symbol that was found behind an escape. */
export function updateEscaped(model: Model): void {
  gain(model)
  if (model.memory.u8[model.found + 1]! > MOST_FREQUENT) rescale(model)
  model.runLength = model.initRunLength
  updateModel(model)
}

/** After the only symbol of a context. */
export function updateOnly(model: Model): void {
  const { u8 } = model.memory
  if (u8[model.found + 1]! < 128) u8[model.found + 1]! += 1
  model.previousSuccess = 1
  model.runLength += 1
  nextContext(model)
}

function gain({ memory, minContext, found }: Model) {
  setSum(memory, minContext, sumOf(memory, minContext) + 4)
  memory.u8[found + 1]! += 4
}

function nextContext(model: Model) {
  const successor = successorOf(model.memory, model.found)
  if (model.orderFall === 0 && successor > model.memory.text) {
    model.minContext = successor
    model.maxContext = successor
  } else updateModel(model)
}

// Halves the frequencies of a context, keeps its states in order and drops those at zero.
function rescale(model: Model) {
  const { memory, minContext: context } = model
  const { u8 } = memory
  const count = countOf(memory, context)
  const states = statesOf(memory, context)
  for (let state = model.found; state !== states; state -= STATE) swap(memory, state, state - STATE)
  let escapeSum = sumOf(memory, context) - u8[states + 1]!
  const adder = model.orderFall !== 0 ? 1 : 0
  u8[states + 1] = (u8[states + 1]! + 4 + adder) >> 1
  let sum = u8[states + 1]!
  let zeros = 0
  for (let i = 1; i < count; i += 1) {
    let state = states + i * STATE
    escapeSum -= u8[state + 1]!
    const frequency = (u8[state + 1]! + adder) >> 1
    u8[state + 1] = frequency
    sum += frequency
    if (frequency === 0) zeros += 1
    for (; state !== states && frequency > u8[state + 1 - STATE]!; state -= STATE)
      swap(memory, state, state - STATE)
  }
  if (zeros > 0) {
    escapeSum += zeros
    const left = count - zeros
    setCount(memory, context, left)
    if (left === 1) return keepOnly(model, states, count, escapeSum)
    const [before, after] = [(count + 1) >> 1, (left + 1) >> 1]
    if (before !== after) setStates(memory, context, shrink(memory, states, before, after))
  }
  setSum(memory, context, sum + escapeSum - (escapeSum >> 1))
  model.found = statesOf(memory, context)
}

function keepOnly(model: Model, states: number, count: number, escapeSum: number) {
  const { memory } = model
  const symbol = memory.u8[states]!
  const successor = successorOf(memory, states)
  let frequency = memory.u8[states + 1]!
  let left = escapeSum
  do {
    frequency -= frequency >> 1
    left >>= 1
  } while (left > 1)
  release(memory, states, classOf((count + 1) >> 1))
  model.found = onlyState(model.minContext)
  memory.u8[model.found] = symbol
  memory.u8[model.found + 1] = frequency
  setSuccessor(memory, model.found, successor)
}

function updateModel(model: Model) {
  if (!grow(model)) restart(model)
}
