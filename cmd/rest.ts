// Memory at rest: garbage collections when the process has become idle after work, and memory returned to the system.
import { readFile } from 'node:fs/promises'
import { setImmediate as otherEvents } from 'node:timers/promises'
import { releasedMemoryCount } from '../lib/released-memory.ts'

const intervalMs = 10_000
// Timers and polling take 1 to 2 %.
const maxIdleUtilization = 0.05
const minPauseMs = 60_000

/**
 * Starts watching the event loop. By itself V8 leaves 10 to 15 MB of garbage and empty pages, and does not collect
 * while nothing is allocated. Needs the flag --expose-gc of the launcher.
 */
export function collectAtRest(): Disposable {
  let last = performance.eventLoopUtilization()
  let collectedAt = Number.NEGATIVE_INFINITY
  let hasWorked = true
  let releases = 0
  const timer = setInterval(async () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    if (releases !== releasedMemoryCount()) hasWorked = true
    releases = releasedMemoryCount()
    if (utilization > maxIdleUtilization) hasWorked = true
    else if (hasWorked && performance.now() - collectedAt >= minPauseMs) {
      collectedAt = performance.now()
      hasWorked = false
      await collect()
      last = performance.eventLoopUtilization()
    }
  }, intervalMs)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** A request that arrives during it waits for one step of it at most. */
async function collect() {
  // The second one collects what the finalizers of the first one have released. A collection as for the last resort
  // frees 3 MB more, but stops the thread for twice as long.
  for (let i = 0; i < 2; i++) {
    globalThis.gc?.({ type: 'major', execution: 'sync' })
    await otherEvents()
  }
  await returnMemory()
}

// Of <sys/mman.h>.
const MADV_DONTNEED = 4

/**
 * Returns to the system the free memory of malloc, which glibc returns only from the end of the heap, and the read-only
 * data of the executable, 20 MB that the start reads. Whether it could: it needs Node 26, Linux and glibc.
 */
export async function returnMemory(): Promise<boolean> {
  // `import` would fail on an older Node.
  const ffi = process.platform === 'linux' ? process.getBuiltinModule('node:ffi') : undefined
  if (!ffi) return false
  try {
    const { lib: library, functions } = ffi.dlopen(null, {
      malloc_trim: { arguments: ['u64'], return: 'i32' },
      madvise: { arguments: ['u64', 'u64', 'i32'], return: 'i32' },
    })
    try {
      functions.malloc_trim(0n)
      await otherEvents()
      for (const { start, end } of unchangedData(await readFile('/proc/self/smaps', 'latin1')))
        functions.madvise(start, end - start, MADV_DONTNEED)
    } finally {
      library.close()
    }
    return true
  } catch {
    // Another C library.
    return false
  }
}

/**
 * Address ranges of the executable that hold data as it is in its file: they are read from there again, usually from
 * memory. Its code is not among them, because the system retains mapped code longest.
 */
function unchangedData(smaps: string): { start: bigint; end: bigint }[] {
  return smaps.split(/^(?=[0-9a-f]+-[0-9a-f]+ )/m).flatMap(mapping => {
    const [head = ''] = mapping.split('\n', 1)
    const [, start, end] = /^([0-9a-f]+)-([0-9a-f]+) r--p /.exec(head) ?? []
    const isUnchanged = head.endsWith(` ${process.execPath}`) && /^Anonymous: +0 kB$/m.test(mapping)
    if (start === undefined || end === undefined || !isUnchanged) return []
    return [{ start: BigInt(`0x${start}`), end: BigInt(`0x${end}`) }]
  })
}
