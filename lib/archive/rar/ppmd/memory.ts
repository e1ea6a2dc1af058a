// The memory of a PPMd model, variant H (Shkarin, 2001, public domain). When it is full the model starts
// anew, so packer and unpacker must agree on every allocation:
//   memory = text → … ← units-start  lo-unit → … ← hi-unit        in units of 12 bytes
//   context = count:2 sum:2 states:4 suffix:4      with one state: count:2 state suffix:4
//   state   = symbol:1 frequency:1 successor:4     (two halves)
//   free    = next:4   |   while glueing: stamp:2=0 units:2 next:4 previous:4

export const UNIT = 12
export const STATE = 6
const INDEXES = 38

export type Memory = {
  size: number
  u8: Uint8Array
  u16: Uint16Array
  u32: Uint32Array
  text: number
  loUnit: number
  hiUnit: number
  unitsStart: number
  glueCount: number
  /** First free block of each size class. */
  free: Uint32Array
}

// Sizes in units of the 38 classes: 1, 2, 3, 4, 6, 8, … 128.
const unitsOf = new Uint8Array(INDEXES)
const indexOf = new Uint8Array(128)
for (let i = 0, units = 0; i < INDEXES; i += 1) {
  const step = i >= 12 ? 4 : (i >> 2) + 1
  indexOf.fill(i, units, units + step)
  units += step
  unitsOf[i] = units
}

/** The class that holds `units`. */
export const classOf = (units: number) => indexOf[units - 1]!

// Offset zero means nothing, so everything starts at 4; one unit more for the head of the glueing list.
const START = 4

export function newMemory(size: number): Memory {
  const buffer = new ArrayBuffer(START + size + UNIT)
  const memory: Memory = {
    size,
    u8: new Uint8Array(buffer),
    u16: new Uint16Array(buffer),
    u32: new Uint32Array(buffer),
    text: 0,
    loUnit: 0,
    hiUnit: 0,
    unitsStart: 0,
    glueCount: 0,
    free: new Uint32Array(INDEXES),
  }
  clearMemory(memory)
  return memory
}

export function clearMemory(memory: Memory): void {
  memory.free.fill(0)
  memory.text = START
  memory.hiUnit = START + memory.size
  memory.unitsStart = memory.hiUnit - Math.floor(memory.size / 8 / UNIT) * 7 * UNIT
  memory.loUnit = memory.unitsStart
  memory.glueCount = 0
}

export function release(memory: Memory, at: number, index: number): void {
  memory.u32[at >> 2] = memory.free[index]!
  memory.free[index] = at
}

function reuse(memory: Memory, index: number): number {
  const at = memory.free[index]!
  memory.free[index] = memory.u32[at >> 2]!
  return at
}

// Gives `units` units back as at most two blocks.
function releaseUnits(memory: Memory, at: number, units: number) {
  let index = classOf(units)
  if (unitsOf[index] !== units) {
    index -= 1
    const kept = unitsOf[index]!
    release(memory, at + kept * UNIT, units - kept - 1)
  }
  release(memory, at, index)
}

function split(memory: Memory, at: number, from: number, to: number) {
  const kept = unitsOf[to]!
  releaseUnits(memory, at + kept * UNIT, unitsOf[from]! - kept)
}

/** A block of class `index`, or 0 when the memory is full. */
export function allocate(memory: Memory, index: number): number {
  if (memory.free[index] !== 0) return reuse(memory, index)
  const bytes = unitsOf[index]! * UNIT
  if (bytes <= memory.hiUnit - memory.loUnit) {
    memory.loUnit += bytes
    return memory.loUnit - bytes
  }
  return allocateRare(memory, index)
}

/** A unit for a context, taken from the other end. */
export function allocateContext(memory: Memory): number {
  if (memory.hiUnit !== memory.loUnit) {
    memory.hiUnit -= UNIT
    return memory.hiUnit
  }
  return memory.free[0] !== 0 ? reuse(memory, 0) : allocateRare(memory, 0)
}

function allocateRare(memory: Memory, index: number): number {
  if (memory.glueCount === 0) {
    glue(memory)
    if (memory.free[index] !== 0) return reuse(memory, index)
  }
  for (let larger = index + 1; larger < INDEXES; larger += 1) {
    if (memory.free[larger] === 0) continue
    const at = reuse(memory, larger)
    split(memory, at, larger, index)
    return at
  }
  const bytes = unitsOf[index]! * UNIT
  memory.glueCount -= 1
  if (memory.unitsStart - memory.text <= bytes) return 0
  memory.unitsStart -= bytes
  return memory.unitsStart
}

/** Moves a block into a smaller class when that saves memory. */
export function shrink(memory: Memory, at: number, units: number, wanted: number): number {
  const from = classOf(units)
  const to = classOf(wanted)
  if (from === to) return at
  if (memory.free[to] === 0) {
    split(memory, at, from, to)
    return at
  }
  const moved = reuse(memory, to)
  memory.u8.copyWithin(moved, at, at + wanted * UNIT)
  release(memory, at, from)
  return moved
}

// Joins free blocks that are neighbours. A stamp of zero marks a free block; contexts and states in use
// begin with something else.
function glue(memory: Memory) {
  const { u16, u32, free } = memory
  const head = START + memory.size
  memory.glueCount = 255
  let last = head
  for (let index = 0; index < INDEXES; index += 1) {
    let at = free[index]!
    free[index] = 0
    while (at !== 0) {
      const next = u32[at >> 2]!
      u32[(at + 4) >> 2] = last
      u32[(last + 8) >> 2] = at
      u16[at >> 1] = 0
      u16[(at + 2) >> 1] = unitsOf[index]!
      last = at
      at = next
    }
  }
  u16[head >> 1] = 1
  u32[(head + 4) >> 2] = last
  u32[(last + 8) >> 2] = head
  if (memory.loUnit !== memory.hiUnit) u16[memory.loUnit >> 1] = 1
  for (let at = last; at !== head; at = u32[(at + 4) >> 2]!) joinNext(memory, at)
  for (let at = u32[(head + 4) >> 2]!; at !== head; ) {
    const next = u32[(at + 4) >> 2]!
    let units = u16[(at + 2) >> 1]!
    for (; units > 128; units -= 128, at += 128 * UNIT) release(memory, at, INDEXES - 1)
    releaseUnits(memory, at, units)
    at = next
  }
}

function joinNext({ u16, u32 }: Memory, at: number) {
  for (let units = u16[(at + 2) >> 1]!; ; ) {
    const next = at + units * UNIT
    units += u16[(next + 2) >> 1]!
    if (u16[next >> 1] !== 0 || units >= 0x10000) return
    const after = u32[(next + 4) >> 2]!
    const before = u32[(next + 8) >> 2]!
    u32[(before + 4) >> 2] = after
    u32[(after + 8) >> 2] = before
    u16[(at + 2) >> 1] = units
  }
}
