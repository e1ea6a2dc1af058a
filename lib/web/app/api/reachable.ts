// Reachability of the server: after a request without an answer, one probe at a time waits for its return.
import { signal } from '@preact/signals'
import { basePath } from './address.ts'
import { ApiError } from './errors.ts'

/** False from a failed probe until the next successful one. */
export const isReachable = signal(true)

const minProbeMs = 1_000
const maxProbeMs = 10_000
const probeTimeoutMs = 15_000
const temporaryStatus = [0, 429, 502, 503, 504]

/** Whether a request may succeed later: the server is restarting, busy, limiting requests or unreachable. */
export const isTemporary = (error: unknown): error is ApiError =>
  error instanceof ApiError && temporaryStatus.includes(error.status)

/** Shares one execution among concurrent callers. */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null
  return async () => {
    running ??= work().finally(() => {
      running = null
    })
    return await running
  }
}

let wake = () => {}

/** Resolves when the server answers, with whether it was unreachable. One probe serves all failed requests. */
export const untilReachable = singleFlight(probe)

async function probe(): Promise<boolean> {
  for (let ms = minProbeMs; !(await answers()); ms = Math.min(maxProbeMs, ms * 2)) {
    isReachable.value = false
    await pause(ms * (0.7 + 0.6 * Math.random()))
  }
  const isBack = !isReachable.value
  isReachable.value = true
  return isBack
}

/** A status below 500: the database responds, too. */
async function answers(): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(probeTimeoutMs)
    const { status } = await fetch(`${basePath}/health`, { cache: 'no-store', signal })
    return status < 500
  } catch {
    return false
  }
}

/** Ends early when the browser is back online or in the foreground; background tabs wait for that. */
async function pause(ms: number): Promise<void> {
  await new Promise<void>(resolve => {
    wake = resolve
    setTimeout(() => {
      if (document.visibilityState === 'visible') resolve()
    }, ms)
  })
}

addEventListener('online', () => wake())
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') wake()
})

// A hung server or a network that drops packets neither answers nor reports an error.
const silentMs = 5_000
const maxSilentMs = 90_000

/** Like `fetch`, but a missing answer starts a probe. Reading requests time out eventually and can be repeated. */
export async function fetchWatched(request: Request): Promise<Response> {
  const controller = new AbortController()
  const abort = () => controller.abort(request.signal.reason)
  if (request.signal.aborted) abort()
  else request.signal.addEventListener('abort', abort, { once: true })
  const timers = [setTimeout(() => void untilReachable(), silentMs)]
  if (request.method === 'GET') timers.push(setTimeout(() => controller.abort(), maxSilentMs))
  try {
    return await fetch(request, { signal: controller.signal })
  } finally {
    for (const timer of timers) clearTimeout(timer)
  }
}

const minRetryMs = 2_000
const maxRetryMs = 30_000

/** Resolves when a request that failed `failures` times in a row may be repeated. */
export async function untilRetry({ retryAfter }: ApiError, failures: number): Promise<void> {
  const growing = Math.min(maxRetryMs, minRetryMs * 2 ** (failures - 1))
  const ms = Math.max((retryAfter ?? 0) * 1000, growing) * (0.8 + 0.4 * Math.random())
  await Promise.all([new Promise(resolve => setTimeout(resolve, ms)), untilReachable()])
}
