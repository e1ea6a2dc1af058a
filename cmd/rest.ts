// Memory at rest: a complete garbage collection when the process has become idle after work.
const intervalMs = 10_000
// Timers and polling take 1 to 2 %.
const maxIdleUtilization = 0.05
// It stops the main thread for 100 ms.
const minPauseMs = 60_000

/**
 * Starts watching the event loop. By itself V8 leaves 10 to 15 MB of garbage and empty pages, and does not collect
 * while nothing is allocated. Needs the flag --expose-gc of the launcher.
 */
export function collectAtRest(): Disposable {
  const { gc } = globalThis
  let last = performance.eventLoopUtilization()
  let collectedAt = Number.NEGATIVE_INFINITY
  let hasWorked = true
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    if (utilization > maxIdleUtilization) hasWorked = true
    else if (hasWorked && performance.now() - collectedAt >= minPauseMs) {
      gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
      collectedAt = performance.now()
      last = performance.eventLoopUtilization()
      hasWorked = false
    }
  }, intervalMs)
  timer.unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
