// The job of a scan: it ends as its scan did.
import type { Jobs } from '../../lib/queue/queue.ts'
import type { Outcome } from '../work/job-runs.ts'
import { runScan, type ScanDeps } from './scan.ts'

const otherScanSeconds = 1

/** Runs the scan. Put off while another one of the library runs, so that the lane is free meanwhile. */
export async function scanTask(
  deps: ScanDeps,
  job: Jobs['scan'],
  stop: () => boolean,
): Promise<Outcome | undefined> {
  const ran = await runScan(deps, job, stop)
  if (!ran) return { end: 'later', seconds: otherScanSeconds }
  const [scan] = await deps.sql<{ state: string; message: string | null }[]>`
    select state, message from scan where id = ${job.scanId}`
  switch (scan?.state ?? 'cancelled') {
    case 'completed':
      return undefined
    case 'cancelled':
      return { end: 'cancelled' }
    case 'queued':
    case 'running':
      return { end: 'later', seconds: otherScanSeconds }
    default:
      return { end: 'failed', reason: scan?.message ?? 'The scan failed' }
  }
}
