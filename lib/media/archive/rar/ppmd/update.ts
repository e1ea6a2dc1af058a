// Model update of PPMd: adds the decoded symbol to the contexts that did not contain it.
import {
  allocateContext,
  allocateUnits,
  freeBlock,
  type Memory,
  STATE_BYTES,
  sizeClass,
  UNIT_BYTES,
} from './allocator.ts'
import {
  countOf,
  findState,
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
  suffixOf,
  sumOf,
  swapStates,
} from './context.ts'

/** Updates the model after a decoded symbol; false when the memory is full. */
export function updateModel(model: Model): boolean {
  const { memory, foundState } = model
  const { u8 } = memory
  const symbol = u8[foundState]!
  const frequency = u8[foundState + 1]!
  if (frequency < MAX_FREQUENCY / 4 && suffixOf(memory, model.minContext) !== 0)
    raiseSuffixFrequency(memory, suffixOf(memory, model.minContext), symbol)
  if (model.orderFall === 0) {
    const context = createSuccessors(model, true)
    if (context === 0) return false
    model.minContext = context
    model.maxContext = context
    setSuccessor(memory, foundState, context)
    return true
  }
  u8[memory.text] = symbol
  memory.text += 1
  let successor = memory.text
  if (memory.text >= memory.unitsStart) return false
  let next = successorOf(memory, foundState)
  if (next === 0) {
    setSuccessor(memory, foundState, successor)
    next = model.minContext
  } else {
    if (next <= successor) {
      next = createSuccessors(model, false)
      if (next === 0) return false
    }
    model.orderFall -= 1
    if (model.orderFall === 0) {
      successor = next
      if (model.maxContext !== model.minContext) memory.text -= 1
    }
  }
  const count = countOf(memory, model.minContext)
  const rest = sumOf(memory, model.minContext) - count - (frequency - 1)
  for (let c = model.maxContext; c !== model.minContext; c = suffixOf(memory, c))
    if (!addState(model, c, { symbol, frequency, successor, count, rest })) return false
  model.maxContext = next
  model.minContext = next
  return true
}

function raiseSuffixFrequency(memory: Memory, context: number, symbol: number) {
  const { u8 } = memory
  let state = findState(memory, context, symbol)
  if (countOf(memory, context) === 1) {
    if (u8[state + 1]! < 32) u8[state + 1]! += 1
    return
  }
  if (state !== statesOf(memory, context) && u8[state + 1]! >= u8[state + 1 - STATE_BYTES]!) {
    swapStates(memory, state, state - STATE_BYTES)
    state -= STATE_BYTES
  }
  if (u8[state + 1]! < MAX_FREQUENCY - 9) {
    u8[state + 1]! += 2
    setSum(memory, context, sumOf(memory, context) + 2)
  }
}

type NewState = {
  symbol: number
  frequency: number
  successor: number
  count: number
  rest: number
}

function addState(model: Model, context: number, addition: NewState): boolean {
  const { memory } = model
  const own = countOf(memory, context)
  if (!reserveState(model, context, addition.count)) return false
  const sum = sumOf(memory, context)
  let frequency = 2 * addition.frequency * (sum + 6)
  const scale = addition.rest + sum
  if (frequency < 6 * scale) {
    frequency = 1 + (frequency > scale ? 1 : 0) + (frequency >= 4 * scale ? 1 : 0)
    setSum(memory, context, sum + 3)
  } else {
    const f = frequency
    frequency = 4 + (f >= 9 * scale ? 1 : 0) + (f >= 12 * scale ? 1 : 0) + (f >= 15 * scale ? 1 : 0)
    setSum(memory, context, sum + frequency)
  }
  const state = statesOf(memory, context) + own * STATE_BYTES
  memory.u8[state] = addition.symbol
  memory.u8[state + 1] = frequency
  setSuccessor(memory, state, addition.successor)
  setCount(memory, context, own + 1)
  return true
}

// A unit holds two states, so every second state needs a new unit.
function reserveState(model: Model, context: number, count: number): boolean {
  const { memory } = model
  const own = countOf(memory, context)
  if (own === 1) {
    const states = allocateUnits(memory, 0)
    if (states === 0) return false
    memory.u8.copyWithin(states, singleState(context), singleState(context) + STATE_BYTES)
    setStates(memory, context, states)
    const frequency = memory.u8[states + 1]!
    memory.u8[states + 1] = frequency < MAX_FREQUENCY / 4 - 1 ? frequency << 1 : MAX_FREQUENCY - 4
    setSum(memory, context, memory.u8[states + 1]! + model.initEscape + (count > 3 ? 1 : 0))
    return true
  }
  const units = own >> 1
  if ((own & 1) === 0 && sizeClass(units) !== sizeClass(units + 1)) {
    const states = allocateUnits(memory, sizeClass(units) + 1)
    if (states === 0) return false
    const old = statesOf(memory, context)
    memory.u8.copyWithin(states, old, old + units * UNIT_BYTES)
    freeBlock(memory, old, sizeClass(units))
    setStates(memory, context, states)
  }
  const sum = sumOf(memory, context)
  const isSmall = 4 * own <= count && sum <= 8 * own
  setSum(memory, context, sum + (2 * own < count ? 1 : 0) + (isSmall ? 2 : 0))
  return true
}

// Creates the successor contexts of the decoded symbol; 0 when the memory is full.
function createSuccessors(model: Model, isSkipping: boolean): number {
  const { memory, foundState } = model
  const { u8 } = memory
  const branch = successorOf(memory, foundState)
  const pending: number[] = isSkipping ? [] : [foundState]
  let context = model.minContext
  while (suffixOf(memory, context) !== 0) {
    context = suffixOf(memory, context)
    const state = findState(memory, context, u8[foundState]!)
    const successor = successorOf(memory, state)
    if (successor !== branch) {
      context = successor
      if (pending.length === 0) return context
      break
    }
    pending.push(state)
  }
  const symbol = u8[branch]!
  const frequency = initialFrequency(memory, context, symbol)
  for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
    const child = allocateContext(memory)
    if (child === 0) return 0
    setCount(memory, child, 1)
    u8[singleState(child)] = symbol
    u8[singleState(child) + 1] = frequency
    setSuccessor(memory, singleState(child), branch + 1)
    setSuffix(memory, child, context)
    setSuccessor(memory, state, child)
    context = child
  }
  return context
}

function initialFrequency(memory: Memory, context: number, symbol: number): number {
  const frequency = memory.u8[findState(memory, context, symbol) + 1]!
  const count = countOf(memory, context)
  if (count === 1) return frequency
  const own = frequency - 1
  const rest = sumOf(memory, context) - count - own
  if (2 * own <= rest) return 1 + (5 * own > rest ? 1 : 0)
  return 1 + Math.floor((2 * own + 3 * rest - 1) / (2 * rest))
}
