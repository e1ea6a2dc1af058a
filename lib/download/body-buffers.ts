// Reusable buffers for response bodies. V8 counts memory outside its heap: a new buffer for each one-megabyte
// page would trigger a full garbage collection, which pauses all requests, every twenty pages.

/** Smaller buffers are not worth it. */
const minBytes = 64 * 1024
const maxUnusedBytes = 16 * 1024 * 1024
/** All are freed when none has been returned for this long. */
const unusedMs = 10_000

/** Unused memory by size, a power of two. */
const unused = new Map<number, ArrayBuffer[]>()
let unusedBytes = 0
const lent = new WeakSet<ArrayBufferLike>()
let timer: NodeJS.Timeout | undefined

/** A buffer of that length, with arbitrary content. */
export function takeBuffer(length: number): Buffer {
  if (length < minBytes) return Buffer.allocUnsafeSlow(length)
  const capacity = 2 ** Math.ceil(Math.log2(length))
  const known = unused.get(capacity)?.pop()
  if (known) unusedBytes -= capacity
  const memory = known ?? Buffer.allocUnsafeSlow(capacity).buffer
  lent.add(memory)
  return Buffer.from(memory, 0, length)
}

/**
 * Takes back the memory of a buffer that is no longer referenced. Ignores buffers that are not from
 * `takeBuffer`.
 */
export function giveBack({ buffer: memory }: Buffer): void {
  const capacity = memory.byteLength
  if (!lent.delete(memory) || unusedBytes + capacity > maxUnusedBytes) return
  const others = unused.get(capacity)
  if (others) others.push(memory as ArrayBuffer)
  else unused.set(capacity, [memory as ArrayBuffer])
  unusedBytes += capacity
  timer ??= setTimeout(freeUnused, unusedMs).unref()
  timer.refresh()
}

function freeUnused() {
  unused.clear()
  unusedBytes = 0
}
