// Memory allocator of a PPMd model, variant H (Shkarin, 2001, public domain). The model restarts when the
// memory is full, so compressor and decompressor must agree on every allocation:
//   memory = text → … ← units-start  lo-unit → … ← hi-unit        in units of 12 bytes
//   context = count:2 sum:2 states:4 suffix:4      with one state: count:2 state suffix:4
//   state   = symbol:1 frequency:1 successor:4     (two halves)
//   free    = next:4   |   while coalescing: stamp:2=0 units:2 next:4 previous:4

export const UNIT_BYTES = 12
export const STATE_BYTES = 6
const CLASS_COUNT = 38

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
const unitsOfClass = new Uint8Array(CLASS_COUNT)
const classOfUnits = new Uint8Array(128)
for (let i = 0, units = 0; i < CLASS_COUNT; i += 1) {
  const step = Math.min((i >> 2) + 1, 4)
  classOfUnits.fill(i, units, units + step)
  units += step
  unitsOfClass[i] = units
}

/** The smallest size class that holds `units`. */
export const sizeClass = (units: number) => classOfUnits[units - 1]!

// Offset 0 is the null pointer, so memory starts at 4; one extra unit for the head of the coalescing list.
const START = 4

export function createMemory(size: number): Memory {
  const buffer = new ArrayBuffer(START + size + UNIT_BYTES)
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
    free: new Uint32Array(CLASS_COUNT),
  }
  resetMemory(memory)
  return memory
}

export function resetMemory(memory: Memory): void {
  memory.free.fill(0)
  memory.text = START
  memory.hiUnit = START + memory.size
  memory.unitsStart = memory.hiUnit - Math.floor(memory.size / 8 / UNIT_BYTES) * 7 * UNIT_BYTES
  memory.loUnit = memory.unitsStart
  memory.glueCount = 0
}

export function freeBlock(memory: Memory, at: number, index: number): void {
  memory.u32[at >> 2] = memory.free[index]!
  memory.free[index] = at
}

function popFreeBlock(memory: Memory, index: number): number {
  const at = memory.free[index]!
  memory.free[index] = memory.u32[at >> 2]!
  return at
}

// Frees `units` units as at most two blocks.
function freeUnits(memory: Memory, at: number, units: number) {
  let index = sizeClass(units)
  if (unitsOfClass[index] !== units) {
    index -= 1
    const first = unitsOfClass[index]!
    freeBlock(memory, at + first * UNIT_BYTES, units - first - 1)
  }
  freeBlock(memory, at, index)
}

function splitBlock(memory: Memory, at: number, from: number, to: number) {
  const retained = unitsOfClass[to]!
  freeUnits(memory, at + retained * UNIT_BYTES, unitsOfClass[from]! - retained)
}

/** A block of class `index`, or 0 when the memory is full. */
export function allocateUnits(memory: Memory, index: number): number {
  if (memory.free[index] !== 0) return popFreeBlock(memory, index)
  const bytes = unitsOfClass[index]! * UNIT_BYTES
  if (bytes <= memory.hiUnit - memory.loUnit) {
    memory.loUnit += bytes
    return memory.loUnit - bytes
  }
  return allocateUnitsRare(memory, index)
}

/** A unit for a context, allocated from the high end. */
export function allocateContext(memory: Memory): number {
  if (memory.hiUnit !== memory.loUnit) {
    memory.hiUnit -= UNIT_BYTES
    return memory.hiUnit
  }
  return memory.free[0] !== 0 ? popFreeBlock(memory, 0) : allocateUnitsRare(memory, 0)
}

function allocateUnitsRare(memory: Memory, index: number): number {
  if (memory.glueCount === 0) {
    glueFreeBlocks(memory)
    if (memory.free[index] !== 0) return popFreeBlock(memory, index)
  }
  for (let larger = index + 1; larger < CLASS_COUNT; larger += 1) {
    if (memory.free[larger] === 0) continue
    const at = popFreeBlock(memory, larger)
    splitBlock(memory, at, larger, index)
    return at
  }
  const bytes = unitsOfClass[index]! * UNIT_BYTES
  memory.glueCount -= 1
  if (memory.unitsStart - memory.text <= bytes) return 0
  memory.unitsStart -= bytes
  return memory.unitsStart
}

/** Moves a block to a smaller class if that saves memory. */
export function shrinkUnits(memory: Memory, at: number, units: number, newUnits: number): number {
  const from = sizeClass(units)
  const to = sizeClass(newUnits)
  if (from === to) return at
  if (memory.free[to] === 0) {
    splitBlock(memory, at, from, to)
    return at
  }
  const moved = popFreeBlock(memory, to)
  memory.u8.copyWithin(moved, at, at + newUnits * UNIT_BYTES)
  freeBlock(memory, at, from)
  return moved
}

// Coalesces adjacent free blocks. A stamp of 0 marks a free block; contexts and states in use begin with
// another value.
function glueFreeBlocks(memory: Memory) {
  const { u16, u32, free } = memory
  const head = START + memory.size
  memory.glueCount = 255
  let last = head
  for (let index = 0; index < CLASS_COUNT; index += 1) {
    let at = free[index]!
    free[index] = 0
    while (at !== 0) {
      const next = u32[at >> 2]!
      u32[(at + 4) >> 2] = last
      u32[(last + 8) >> 2] = at
      u16[at >> 1] = 0
      u16[(at + 2) >> 1] = unitsOfClass[index]!
      last = at
      at = next
    }
  }
  u16[head >> 1] = 1
  u32[(head + 4) >> 2] = last
  u32[(last + 8) >> 2] = head
  if (memory.loUnit !== memory.hiUnit) u16[memory.loUnit >> 1] = 1
  for (let at = last; at !== head; at = u32[(at + 4) >> 2]!) mergeFollowing(memory, at)
  for (let at = u32[(head + 4) >> 2]!; at !== head; ) {
    const next = u32[(at + 4) >> 2]!
    let units = u16[(at + 2) >> 1]!
    for (; units > 128; units -= 128, at += 128 * UNIT_BYTES) freeBlock(memory, at, CLASS_COUNT - 1)
    freeUnits(memory, at, units)
    at = next
  }
}

function mergeFollowing({ u16, u32 }: Memory, at: number) {
  for (let units = u16[(at + 2) >> 1]!; ; ) {
    const next = at + units * UNIT_BYTES
    units += u16[(next + 2) >> 1]!
    if (u16[next >> 1] !== 0 || units >= 0x10000) return
    const after = u32[(next + 4) >> 2]!
    const before = u32[(next + 8) >> 2]!
    u32[(before + 4) >> 2] = after
    u32[(after + 8) >> 2] = before
    u16[(at + 2) >> 1] = units
  }
}
