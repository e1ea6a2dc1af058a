// PPMd variant H model (Shkarin, 2001, public domain): contexts of decreasing order, each with the symbols
// that followed it. Contexts and states are in `memory`.
import {
  allocateContext,
  allocateUnits,
  createMemory,
  freeBlock,
  resetMemory,
  STATE_BYTES,
  shrinkUnits,
  sizeClass,
} from './allocator.ts'
import {
  countOf,
  MAX_FREQUENCY,
  type Model,
  setCount,
  setStates,
  setSuccessor,
  setSuffix,
  setSum,
  singleState,
  statesOf,
  successorOf,
  sumOf,
  swapStates,
} from './context.ts'
import { updateModel } from './update.ts'

const BINARY_SCALE = 1 << 14
export const PERIOD_BITS = 7
export const DUMMY_SEE = 400
const initialEscapes = [0x3cdd, 0x1f3f, 0x59bf, 0x48f3, 0x64a1, 0x5abc, 0x6632, 0x6051]

export function createModel(order: number, size: number): Model {
  const model: Model = {
    memory: createMemory(size),
    order,
    orderFall: 0,
    initEscape: 0,
    previousSuccess: 0,
    highBits: 0,
    runLength: 0,
    initRunLength: 0,
    minContext: 0,
    maxContext: 0,
    foundState: 0,
    binaryProbabilities: new Uint16Array(128 * 64),
    see: {
      sum: new Uint16Array(DUMMY_SEE + 1),
      shift: new Uint8Array(DUMMY_SEE + 1),
      count: new Uint8Array(DUMMY_SEE + 1),
    },
  }
  restartModel(model)
  return model
}

/** Resets the model, optionally with another order. */
export function restartModel(model: Model, order: number = model.order): void {
  model.order = order
  const { memory, see, binaryProbabilities } = model
  resetMemory(memory)
  model.orderFall = model.order
  model.initRunLength = -Math.min(model.order, 12) - 1
  model.runLength = model.initRunLength
  model.previousSuccess = 0
  const context = allocateContext(memory)
  model.minContext = context
  model.maxContext = context
  model.foundState = allocateUnits(memory, sizeClass(128))
  setCount(memory, context, 256)
  setSum(memory, context, 257)
  setStates(memory, context, model.foundState)
  setSuffix(memory, context, 0)
  for (let i = 0; i < 256; i += 1) {
    memory.u8[model.foundState + i * STATE_BYTES] = i
    memory.u8[model.foundState + i * STATE_BYTES + 1] = 1
    setSuccessor(memory, model.foundState + i * STATE_BYTES, 0)
  }
  for (let i = 0; i < 128; i += 1)
    for (let k = 0; k < 64; k += 1)
      binaryProbabilities[i * 64 + k] = BINARY_SCALE - Math.floor(initialEscapes[k & 7]! / (i + 2))
  for (let i = 0; i < DUMMY_SEE; i += 1) {
    see.shift[i] = PERIOD_BITS - 4
    see.sum[i] = (5 * (i >> 4) + 10) << (PERIOD_BITS - 4)
    see.count[i] = 4
  }
  see.shift[DUMMY_SEE] = PERIOD_BITS
  see.count[DUMMY_SEE] = 64
}

/** Updates the model after the most probable symbol of a context. */
export function updateFirst(model: Model): void {
  const { memory, minContext: context } = model
  const frequency = memory.u8[model.foundState + 1]!
  model.previousSuccess = 2 * frequency > sumOf(memory, context) ? 1 : 0
  model.runLength += model.previousSuccess
  incrementFrequency(model)
  if (memory.u8[model.foundState + 1]! > MAX_FREQUENCY) rescale(model)
  advanceContext(model)
}

/** Updates the model after another symbol of the current context. */
export function updateLater(model: Model): void {
  const { memory, foundState } = model
  incrementFrequency(model)
  if (memory.u8[foundState + 1]! > memory.u8[foundState + 1 - STATE_BYTES]!) {
    swapStates(memory, foundState, foundState - STATE_BYTES)
    model.foundState = foundState - STATE_BYTES
    if (memory.u8[model.foundState + 1]! > MAX_FREQUENCY) rescale(model)
  }
  advanceContext(model)
}

/** Updates the model after a symbol that followed an escape. */
export function updateEscaped(model: Model): void {
  incrementFrequency(model)
  if (model.memory.u8[model.foundState + 1]! > MAX_FREQUENCY) rescale(model)
  model.runLength = model.initRunLength
  updateOrRestart(model)
}

/** Updates the model after the symbol of a binary context. */
export function updateSingle(model: Model): void {
  const { u8 } = model.memory
  if (u8[model.foundState + 1]! < 128) u8[model.foundState + 1]! += 1
  model.previousSuccess = 1
  model.runLength += 1
  advanceContext(model)
}

function incrementFrequency({ memory, minContext, foundState }: Model) {
  setSum(memory, minContext, sumOf(memory, minContext) + 4)
  memory.u8[foundState + 1]! += 4
}

function advanceContext(model: Model) {
  const successor = successorOf(model.memory, model.foundState)
  if (model.orderFall === 0 && successor > model.memory.text) {
    model.minContext = successor
    model.maxContext = successor
  } else updateOrRestart(model)
}

// Halves the frequencies of a context, keeps its states sorted and removes those with frequency 0.
function rescale(model: Model) {
  const { memory, minContext: context } = model
  const { u8 } = memory
  const count = countOf(memory, context)
  const states = statesOf(memory, context)
  for (let state = model.foundState; state !== states; state -= STATE_BYTES)
    swapStates(memory, state, state - STATE_BYTES)
  let escapeSum = sumOf(memory, context) - u8[states + 1]!
  const adder = model.orderFall !== 0 ? 1 : 0
  u8[states + 1] = (u8[states + 1]! + 4 + adder) >> 1
  let sum = u8[states + 1]!
  let zeros = 0
  for (let i = 1; i < count; i += 1) {
    let state = states + i * STATE_BYTES
    escapeSum -= u8[state + 1]!
    const frequency = (u8[state + 1]! + adder) >> 1
    u8[state + 1] = frequency
    sum += frequency
    if (frequency === 0) zeros += 1
    for (; state !== states && frequency > u8[state + 1 - STATE_BYTES]!; state -= STATE_BYTES)
      swapStates(memory, state, state - STATE_BYTES)
  }
  if (zeros > 0) {
    escapeSum += zeros
    const left = count - zeros
    setCount(memory, context, left)
    if (left === 1) return reduceToSingle(model, states, count, escapeSum)
    const [before, after] = [(count + 1) >> 1, (left + 1) >> 1]
    if (before !== after) setStates(memory, context, shrinkUnits(memory, states, before, after))
  }
  setSum(memory, context, sum + escapeSum - (escapeSum >> 1))
  model.foundState = statesOf(memory, context)
}

function reduceToSingle(model: Model, states: number, count: number, escapeSum: number) {
  const { memory } = model
  const symbol = memory.u8[states]!
  const successor = successorOf(memory, states)
  let frequency = memory.u8[states + 1]!
  let left = escapeSum
  do {
    frequency -= frequency >> 1
    left >>= 1
  } while (left > 1)
  freeBlock(memory, states, sizeClass((count + 1) >> 1))
  model.foundState = singleState(model.minContext)
  memory.u8[model.foundState] = symbol
  memory.u8[model.foundState + 1] = frequency
  setSuccessor(memory, model.foundState, successor)
}

function updateOrRestart(model: Model) {
  if (!updateModel(model)) restartModel(model)
}
