// Purge of ended tasks on request of a user.
import type { Viewer } from '../../../accounts/viewer.ts'
import type { Sql } from '../../postgres/db.ts'
import { deleteEndedJobs } from '../maintenance.ts'
import { isInScope, taskScope } from './scope.ts'

/** Deletes the tasks that ended more than `days` ago and that the viewer may see; returns how many. */
export async function purgeTasks(sql: Sql, viewer: Viewer, days: number): Promise<number> {
  return await deleteEndedJobs(sql, { days, where: isInScope(sql, taskScope(viewer)) })
}
