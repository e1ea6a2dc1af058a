// Failure hook of the queue: a scan fails together with its job.
import type { Transaction } from '../../store/postgres/db.ts'
import { isScanJob } from '../../store/queue/jobs.ts'
import type { JobChange } from '../../store/queue/task-events.ts'
import { publishScans } from './scan-events.ts'

/** Fails the scans whose jobs have no attempts left. */
export async function failScans(tx: Transaction, failedJobs: readonly JobChange[]): Promise<void> {
  const jobs = failedJobs.filter(job => isScanJob(job.name))
  if (jobs.length === 0) return
  const reasons = jobs.map(job => ({ id: job.id, reason: job.error }))
  const scans = await tx<{ id: string }[]>`
    update scan s
    set state = 'failed', message = f.reason, finished_at = now()
    from jsonb_to_recordset(${tx.json(reasons as never)}) as f(id uuid, reason text)
    where s.id = f.id and s.state in ('queued', 'running')
    returning s.id`
  const ids = scans.map(scan => scan.id)
  await publishScans(tx, ids)
}
