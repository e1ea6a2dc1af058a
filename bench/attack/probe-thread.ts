// Thread that requests /health/live, one request after another, until it is stopped; reports the longest answer.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

const { base, pid } = workerData as { base: string; pid: number }
let isStopped = false
parentPort!.once('message', () => {
  isStopped = true
})
const longest = { wallMs: 0, ownMs: 0, count: 0, failed: 0 }
while (!isStopped) {
  const began = performance.now()
  const waited = waitedMs()
  const isOk = await fetch(`${base}/health/live`)
    .then(async response => response.ok && (await response.arrayBuffer()))
    .catch(() => false)
  const wallMs = performance.now() - began
  const ownMs = wallMs - Math.min(wallMs, waitedMs() - waited)
  if (!isOk) longest.failed++
  longest.wallMs = Math.max(longest.wallMs, wallMs)
  longest.ownMs = Math.max(longest.ownMs, ownMs)
  longest.count++
  await sleep(10)
}
parentPort!.postMessage(longest)

/** How long the event loop of the server and this thread waited for a processor, where the system states it. */
function waitedMs(): number {
  return waitOf(`/proc/${pid}/task/${pid}`) + waitOf('/proc/thread-self')
}

function waitOf(task: string): number {
  try {
    return Number(readFileSync(`${task}/schedstat`, 'utf8').split(' ')[1]) / 1e6
  } catch {
    return 0
  }
}
