// Bitmaps: sets of small integers, one bit each, and the shorter lists that few of them are stored as.

export type Bitmap = Uint32Array<ArrayBuffer>

export const emptyBitmap = (size: number): Bitmap => new Uint32Array(Math.ceil(size / 32))

/** With all integers below `size`. */
export function fullBitmap(size: number): Bitmap {
  const bitmap = emptyBitmap(size)
  setRange(bitmap, 0, size)
  return bitmap
}

export const has = (bitmap: Bitmap, i: number): boolean =>
  ((bitmap[i >>> 5]! >>> (i & 31)) & 1) === 1

export function add(bitmap: Bitmap, i: number): void {
  bitmap[i >>> 5]! |= 1 << (i & 31)
}

export function remove(bitmap: Bitmap, i: number): void {
  bitmap[i >>> 5]! &= ~(1 << (i & 31))
}

/** Adds all from `start` to before `end`. */
export function setRange(bitmap: Bitmap, start: number, end: number): void {
  let i = start
  while (i < end && (i & 31) !== 0) add(bitmap, i++)
  const words = (end - i) >>> 5
  if (words > 0) bitmap.fill(0xffffffff, i >>> 5, (i >>> 5) + words)
  for (i += Math.max(words, 0) * 32; i < end; i++) add(bitmap, i)
}

/** The functions below change the first bitmap and return it: nothing else may hold it. */
export function intersect(bitmap: Bitmap, other: Bitmap): Bitmap {
  for (let i = 0; i < bitmap.length; i++) bitmap[i]! &= other[i]!
  return bitmap
}

export function unite(bitmap: Bitmap, other: Bitmap): Bitmap {
  for (let i = 0; i < bitmap.length; i++) bitmap[i]! |= other[i]!
  return bitmap
}

export function subtract(bitmap: Bitmap, other: Bitmap): Bitmap {
  for (let i = 0; i < bitmap.length; i++) bitmap[i]! &= ~other[i]!
  return bitmap
}

/** The unused bits of the last word are set, too. */
export function invert(bitmap: Bitmap): Bitmap {
  for (let i = 0; i < bitmap.length; i++) bitmap[i] = ~bitmap[i]!
  return bitmap
}

export function countOf(bitmap: Bitmap): number {
  let count = 0
  for (let i = 0; i < bitmap.length; i++) count += bitsOf(bitmap[i]!)
  return count
}

function bitsOf(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** How many there are from `start` to before `end`. */
export function countRange(bitmap: Bitmap, start: number, end: number): number {
  if (start >= end) return 0
  const [first, last] = [start >>> 5, (end - 1) >>> 5]
  const head = 0xffffffff << (start & 31)
  const tail = 0xffffffff >>> (31 - ((end - 1) & 31))
  if (first === last) return bitsOf(bitmap[first]! & head & tail)
  let count = bitsOf(bitmap[first]! & head) + bitsOf(bitmap[last]! & tail)
  for (let i = first + 1; i < last; i++) count += bitsOf(bitmap[i]!)
  return count
}

export function membersOf(bitmap: Bitmap, count = countOf(bitmap)): Uint32Array<ArrayBuffer> {
  const members = new Uint32Array(count)
  let found = 0
  for (let i = 0; i < bitmap.length; i++)
    for (let bits = bitmap[i]!; bits !== 0; bits &= bits - 1)
      members[found++] = i * 32 + 31 - Math.clz32(bits & -bits)
  return members
}

/** A bitmap, or the members of it where that is shorter. */
export type Postings = { bitmap: Bitmap } | { docs: Uint32Array<ArrayBuffer> }

export function pack(bitmap: Bitmap): Postings {
  const count = countOf(bitmap)
  return count >= bitmap.length ? { bitmap } : { docs: membersOf(bitmap, count) }
}

/** A copy for integers below `size`, without those from `count` on. */
export function resize(bitmap: Bitmap, count: number, size: number): Bitmap {
  const copy = emptyBitmap(size)
  copy.set(bitmap.length > copy.length ? bitmap.subarray(0, copy.length) : bitmap)
  for (let i = count; (i & 31) !== 0; i++) remove(copy, i)
  copy.fill(0, Math.ceil(count / 32))
  return copy
}

/** A new bitmap. */
export function unpack(packed: Postings, size: number): Bitmap {
  if ('bitmap' in packed) return packed.bitmap.slice()
  const bitmap = emptyBitmap(size)
  for (const member of packed.docs) add(bitmap, member)
  return bitmap
}

/** Overhead of a cache entry besides its numbers. */
export const entryBytes = 100

export const bytesOf = (packed: Postings): number =>
  ('bitmap' in packed ? packed.bitmap : packed.docs).byteLength + entryBytes
