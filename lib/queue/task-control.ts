// Tasks called off and tried again by users.
import type { Sql, TransactionSql } from 'postgres'
import type { Viewer } from '../auth/viewer.ts'
import { tellScan } from '../catalog/scan/scan-events.ts'
import { callOffScan, refuseWhileScanned } from '../catalog/scan/scan-request.ts'
import { Invalid, NotFound } from '../errors.ts'
import { movedColumns } from './complete.ts'
import { stopWork } from './control.ts'
import { isOfScan, jobNames } from './jobs.ts'
import type { Queue } from './queue.ts'
import { type Moved, tellTasks } from './task-events.ts'
import { isSeen } from './task-record.ts'

type Asked = { sql: Sql; queue: Queue; viewer: Viewer; id: string }

/** Work at hand stops at its next safe point. Throws NotFound, Invalid when it is over or cannot be called off. */
export async function cancelTask({ sql, queue, viewer, id }: Asked): Promise<void> {
  await sql.begin(async tx => {
    const task = await lockTask(tx, viewer, id)
    if (!['created', 'retry', 'active'].includes(task.state))
      throw new Invalid('The task is over already')
    // Nobody sees the library any more; what is left of it has to go.
    if (task.name === 'erase') throw new Invalid('The removal of a library cannot be cancelled')
    if (isOfScan(task.name)) await callOffScan(tx, queue, id)
    const rows = await tx<Moved[]>`
      update pgboss.job j set state = 'cancelled', completed_on = now()
      where j.name = ${task.name} and j.id = ${id} and j.state < 'completed'
      returning ${movedColumns(tx)}`
    await tellTasks(tx, rows)
    if (task.state === 'active') await stopWork(tx, [id])
  })
}

/** Throws NotFound, Invalid when it did not fail, Conflict when its library is being scanned again. */
export async function retryTask({ sql, viewer, id }: Asked): Promise<void> {
  await sql.begin(async tx => {
    const task = await lockTask(tx, viewer, id)
    if (task.state !== 'failed') throw new Invalid('Only a task that failed can be tried again')
    if (isOfScan(task.name)) await queueAgain(tx, task)
    const rows = await tx<Moved[]>`
      update pgboss.job j
      set state = 'retry', retry_count = 0, started_on = null, completed_on = null,
        start_after = now(), output = null
      where j.name = ${task.name} and j.id = ${id}
      returning ${movedColumns(tx)}`
    await tellTasks(tx, rows)
    await tx`select pg_notify('work', ${task.name})`
  })
}

async function lockTask(tx: TransactionSql, viewer: Viewer, id: string): Promise<Moved> {
  const [task] = await tx<Moved[]>`
    select ${movedColumns(tx)} from pgboss.job j
    where name = any(${jobNames}) and id = ${id}
    for no key update`
  if (!task || !isSeen(viewer, task.data?.libraryId ?? null)) throw new NotFound('Task not found')
  return task
}

async function queueAgain(tx: TransactionSql, { id, data }: Moved) {
  await refuseWhileScanned(tx, data!.libraryId!)
  const { count } = await tx`
    update scan
    set state = 'queued', message = null, started_at = null, finished_at = null, indexed_at = null
    where id = ${id}`
  if (count === 0) throw new Invalid('The scan of this task is not known any more')
  await tellScan(tx, id, { force: true })
}
