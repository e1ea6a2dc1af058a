// Results of a page thread in the form sent to the main thread.
import { isMarkedAsUntransferable } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { WorkerResult } from './messages.ts'

/** Transfers byte arrays instead of copying them, if nothing else shares their buffer. */
export function transferable<T>(results: WorkerResult<T>[]): WorkerResult<T>[] {
  const transfer: ArrayBuffer[] = []
  for (const result of results) {
    if (!('value' in result)) continue
    for (const part of Object.values(result.value as object)) {
      if (!(part instanceof Uint8Array || part instanceof Float64Array)) continue
      const { buffer } = part
      const isAlone = buffer instanceof ArrayBuffer && part.byteLength === buffer.byteLength
      if (isAlone && !isMarkedAsUntransferable(buffer)) transfer.push(buffer as ArrayBuffer)
    }
  }
  if (transfer.length === 0) return results
  return Piscina.move({
    [Piscina.transferableSymbol]: transfer,
    [Piscina.valueSymbol]: results,
  } as never) as never
}
