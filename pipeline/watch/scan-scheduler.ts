// Asks for scans of what changed in a library: one at a time, and none while another one of the library
// waits or runs.
import type { Sql } from 'postgres'
import { requestScan } from '../../lib/catalog/scan/scan-request.ts'
import type { Queue } from '../../lib/queue/queue.ts'
import { type Changes, isEmpty, noteChanges, quietMs, takeDue } from './changes.ts'

const restMs = 60_000

export type AskDeps = { sql: Sql; queue: Queue; wake: () => void }

/** `paths` as in changes; '' is the whole library. */
export async function askForScan(
  { sql, queue, wake }: AskDeps,
  libraryId: string,
  paths: string[],
) {
  const scanId = await requestScan(sql, queue, {
    libraryId,
    mode: 'normal',
    paths: paths.includes('') ? [] : paths.map(path => Buffer.from(path, 'latin1')),
    options: { quietMs },
  })
  wake()
  return scanId
}

/** True while a scan of the library waits or runs, whoever asked for it. */
export async function isScanned(sql: Sql, libraryId: string): Promise<boolean> {
  const [row] = await sql`
    select from scan where library_id = ${libraryId} and state in ('queued', 'running') limit 1`
  return row !== undefined
}

/** A function that asks for what is due of the changes; true while something waits for a scan's end. */
export function asker(deps: AskDeps, libraryId: string) {
  let asked: { scanId: string; paths: string[] } | null = null
  let restsUntil = 0
  return async (changes: Changes): Promise<boolean> => {
    if (asked !== null) {
      const left = await leftOut(deps.sql, asked.scanId)
      if (left === null) return true
      // What a scan did not get to is asked for again, in a while: it may fail again.
      if (left === 'all') restsUntil = performance.now() + restMs
      noteChanges(changes, left === 'all' ? asked.paths : left)
      asked = null
    }
    if (performance.now() < restsUntil) return true
    if (isEmpty(changes)) return false
    if (await isScanned(deps.sql, libraryId)) return true
    const due = takeDue(changes)
    if (due.length === 0) return false
    try {
      asked = { scanId: await askForScan(deps, libraryId, due), paths: due }
    } catch (error) {
      noteChanges(changes, due)
      throw error
    }
    return true
  }
}

/**
 * What a scan left out because it was still being written, 'all' when it was broken off; null while it
 * waits or runs. One that could not reach the library leaves nothing: whoever watches sees it come back.
 */
async function leftOut(sql: Sql, scanId: string): Promise<string[] | 'all' | null> {
  const [row] = await sql<{ state: string; paths: string[] | null }[]>`
    select state, options->'leftOut' as paths from scan where id = ${scanId}`
  const state = row?.state ?? 'completed'
  if (state === 'queued' || state === 'running') return null
  if (state === 'cancelled' || state === 'failed') return 'all'
  return (row?.paths ?? []).map(path => Buffer.from(path, 'hex').toString('latin1'))
}
