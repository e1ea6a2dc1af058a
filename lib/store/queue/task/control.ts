// Cancels and retries tasks at a user's request.
import type { Viewer } from '../../../accounts/viewer.ts'
import { Invalid, NotFound } from '../../../base/errors.ts'
import { publishScan } from '../../../catalog/scan/scan-events.ts'
import { assertNotScanning, tryCancelScan } from '../../../catalog/scan/scan-request.ts'
import type { Sql, Transaction } from '../../postgres/db.ts'
import { jobChangeColumns } from '../complete.ts'
import { signalCancel } from '../control.ts'
import { isScanJob, jobNames } from '../jobs.ts'
import { deleteEndedJobs } from '../maintenance.ts'
import type { Queue } from '../queue.ts'
import { type JobChange, publishTasks } from '../task-events.ts'
import { isInScope, taskScope } from './scope.ts'

type TaskRequest = { sql: Sql; queue: Queue; viewer: Viewer; id: string }

/**
 * Cancels a task; a running one stops at its next safe point. Throws NotFound; Invalid if the task has ended
 * or cannot be canceled.
 */
export async function cancelTask({ sql, queue, viewer, id }: TaskRequest): Promise<void> {
  await sql.begin(async tx => {
    const task = await lockTask(tx, viewer, id)
    if (!['created', 'retry', 'active'].includes(task.state))
      throw new Invalid('The task has already ended')
    // The library is already hidden, and a partial removal could not be undone.
    if (task.name === 'erase') throw new Invalid('The removal of a library cannot be canceled')
    if (isScanJob(task.name)) await tryCancelScan(tx, queue, id)
    const rows = await tx<JobChange[]>`
      update pgboss.job j set state = 'cancelled', completed_on = now()
      where j.name = ${task.name} and j.id = ${id} and j.state < 'completed'
      returning ${jobChangeColumns(tx)}`
    await publishTasks(tx, rows)
    if (task.state === 'active') await signalCancel(tx, [id])
  })
}

/** Throws NotFound; Invalid if the task did not fail; Conflict while its library is being scanned. */
export async function retryTask({ sql, viewer, id }: Omit<TaskRequest, 'queue'>): Promise<void> {
  await sql.begin(async tx => {
    const task = await lockTask(tx, viewer, id)
    if (task.state !== 'failed') throw new Invalid('Only a failed task can be retried')
    if (isScanJob(task.name)) await requeueScan(tx, task)
    const rows = await tx<JobChange[]>`
      update pgboss.job j
      set state = 'retry', retry_count = 0, started_on = null, completed_on = null,
        start_after = now(), output = null
      where j.name = ${task.name} and j.id = ${id}
      returning ${jobChangeColumns(tx)}`
    await publishTasks(tx, rows)
    await tx`select pg_notify('work', ${task.name})`
  })
}

async function lockTask(tx: Transaction, viewer: Viewer, id: string): Promise<JobChange> {
  const [task] = await tx<JobChange[]>`
    select ${jobChangeColumns(tx)} from pgboss.job j
    where j.name = any(${jobNames}) and j.id = ${id} and ${isInScope(tx, taskScope(viewer))}
    for no key update of j`
  if (!task) throw new NotFound('Task not found')
  return task
}

async function requeueScan(tx: Transaction, { id, data }: JobChange) {
  await assertNotScanning(tx, data!.libraryId!)
  const { count } = await tx`
    update scan
    set state = 'queued', message = null, started_at = null, finished_at = null, indexed_at = null
    where id = ${id}`
  if (count === 0) throw new Invalid('The scan of this task no longer exists')
  await publishScan(tx, id, { force: true })
}

/** Deletes the tasks visible to the viewer that ended more than `days` ago; returns how many. */
export async function purgeTasks(sql: Sql, viewer: Viewer, days: number): Promise<number> {
  return await deleteEndedJobs(sql, { days, where: isInScope(sql, taskScope(viewer)) })
}
