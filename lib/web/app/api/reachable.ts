// Whether the server can be reached: after a request without an answer one probe at a time finds out when it can be again.
import { signal } from '@preact/signals'
import { basePath } from './address.ts'
import { ApiError } from './errors.ts'

/** False from a probe that failed to the next one that succeeds. */
export const isReachable = signal(true)

const minProbeMs = 1_000
const maxProbeMs = 10_000
const probeTimeoutMs = 15_000
const temporaryStatus = [0, 429, 502, 503, 504]

/** Whether a request may succeed later: the server restarts, is busy or limits requests, or cannot be reached. */
export const isTemporary = (error: unknown): error is ApiError =>
  error instanceof ApiError && temporaryStatus.includes(error.status)

let probing: Promise<boolean> | null = null
let wake = () => {}

/** Resolves when the server answers, with whether it did not before. However many requests failed, one at a time finds out. */
export async function untilReachable(): Promise<boolean> {
  probing ??= probe().finally(() => {
    probing = null
  })
  return await probing
}

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

/** Ends early when the browser is back on a network or in the foreground; tabs in the background wait for that. */
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

// A server that stands still and a network that swallows requests answer nothing, and report nothing either.
const silentMs = 5_000
const maxSilentMs = 90_000

/** Like `fetch`. Without an answer a probe finds out about the server; what only reads fails at last, and can be repeated. */
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

/** Resolves when a request may be sent again that failed for the `failures`th time in a row. */
export async function untilRetry({ retryAfter }: ApiError, failures: number): Promise<void> {
  const growing = Math.min(maxRetryMs, minRetryMs * 2 ** (failures - 1))
  const ms = Math.max((retryAfter ?? 0) * 1000, growing) * (0.8 + 0.4 * Math.random())
  await Promise.all([new Promise(resolve => setTimeout(resolve, ms)), untilReachable()])
}
