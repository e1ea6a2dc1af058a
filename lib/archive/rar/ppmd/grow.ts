// How a PPMd model learns: the found symbol is added to the contexts that lacked it.
import { allocate, allocateContext, classOf, type Memory, release, STATE, UNIT } from './memory.ts'
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
  stateOf,
  statesOf,
  successorOf,
  suffixOf,
  sumOf,
  swap,
} from './state.ts'

/** Follows the found symbol to its contexts; false when the memory is full. */
export function grow(model: Model): boolean {
  const { memory, found } = model
  const { u8 } = memory
  const symbol = u8[found]!
  const frequency = u8[found + 1]!
  if (frequency < MOST_FREQUENT / 4 && suffixOf(memory, model.minContext) !== 0)
    strengthen(memory, suffixOf(memory, model.minContext), symbol)
  if (model.orderFall === 0) {
    const context = createSuccessors(model, true)
    if (context === 0) return false
    model.minContext = context
    model.maxContext = context
    setSuccessor(memory, found, context)
    return true
  }
  u8[memory.text] = symbol
  memory.text += 1
  let successor = memory.text
  if (memory.text >= memory.unitsStart) return false
  let next = successorOf(memory, found)
  if (next === 0) {
    setSuccessor(memory, found, successor)
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

function strengthen(memory: Memory, context: number, symbol: number) {
  const { u8 } = memory
  let state = stateOf(memory, context, symbol)
  if (countOf(memory, context) === 1) {
    if (u8[state + 1]! < 32) u8[state + 1]! += 1
    return
  }
  if (state !== statesOf(memory, context) && u8[state + 1]! >= u8[state + 1 - STATE]!) {
    swap(memory, state, state - STATE)
    state -= STATE
  }
  if (u8[state + 1]! < MOST_FREQUENT - 9) {
    u8[state + 1]! += 2
    setSum(memory, context, sumOf(memory, context) + 2)
  }
}

type Addition = {
  symbol: number
  frequency: number
  successor: number
  count: number
  rest: number
}

function addState(model: Model, context: number, addition: Addition): boolean {
  const { memory } = model
  const own = countOf(memory, context)
  if (!makeRoom(model, context, addition.count)) return false
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
  const state = statesOf(memory, context) + own * STATE
  memory.u8[state] = addition.symbol
  memory.u8[state + 1] = frequency
  setSuccessor(memory, state, addition.successor)
  setCount(memory, context, own + 1)
  return true
}

// Two states fill a unit, so every second one needs another.
function makeRoom(model: Model, context: number, count: number): boolean {
  const { memory } = model
  const own = countOf(memory, context)
  if (own === 1) {
    const states = allocate(memory, 0)
    if (states === 0) return false
    memory.u8.copyWithin(states, onlyState(context), onlyState(context) + STATE)
    setStates(memory, context, states)
    const frequency = memory.u8[states + 1]!
    memory.u8[states + 1] = frequency < MOST_FREQUENT / 4 - 1 ? frequency << 1 : MOST_FREQUENT - 4
    setSum(memory, context, memory.u8[states + 1]! + model.initEscape + (count > 3 ? 1 : 0))
    return true
  }
  const units = own >> 1
  if ((own & 1) === 0 && classOf(units) !== classOf(units + 1)) {
    const states = allocate(memory, classOf(units) + 1)
    if (states === 0) return false
    const old = statesOf(memory, context)
    memory.u8.copyWithin(states, old, old + units * UNIT)
    release(memory, old, classOf(units))
    setStates(memory, context, states)
  }
  const sum = sumOf(memory, context)
  const isSmall = 4 * own <= count && sum <= 8 * own
  setSum(memory, context, sum + (2 * own < count ? 1 : 0) + (isSmall ? 2 : 0))
  return true
}

// Makes the contexts that the text after the found symbol leads to; 0 when the memory is full.
function createSuccessors(model: Model, isSkipping: boolean): number {
  const { memory, found } = model
  const { u8 } = memory
  const branch = successorOf(memory, found)
  const waiting: number[] = isSkipping ? [] : [found]
  let context = model.minContext
  while (suffixOf(memory, context) !== 0) {
    context = suffixOf(memory, context)
    const state = stateOf(memory, context, u8[found]!)
    const successor = successorOf(memory, state)
    if (successor !== branch) {
      context = successor
      if (waiting.length === 0) return context
      break
    }
    waiting.push(state)
  }
  const symbol = u8[branch]!
  const frequency = firstFrequency(memory, context, symbol)
  for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
    const child = allocateContext(memory)
    if (child === 0) return 0
    setCount(memory, child, 1)
    u8[onlyState(child)] = symbol
    u8[onlyState(child) + 1] = frequency
    setSuccessor(memory, onlyState(child), branch + 1)
    setSuffix(memory, child, context)
    setSuccessor(memory, state, child)
    context = child
  }
  return context
}

function firstFrequency(memory: Memory, context: number, symbol: number): number {
  const frequency = memory.u8[stateOf(memory, context, symbol) + 1]!
  const count = countOf(memory, context)
  if (count === 1) return frequency
  const own = frequency - 1
  const rest = sumOf(memory, context) - count - own
  if (2 * own <= rest) return 1 + (5 * own > rest ? 1 : 0)
  return 1 + Math.floor((2 * own + 3 * rest - 1) / (2 * rest))
}
