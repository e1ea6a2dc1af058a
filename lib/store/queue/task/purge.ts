// Purges ended tasks at a user's request.
import type { Viewer } from '../../../accounts/viewer.ts'
import type { Sql } from '../../postgres/db.ts'
import { deleteEndedJobs } from '../maintenance.ts'
import { isInScope, taskScope } from './scope.ts'

/** Deletes the tasks visible to the viewer that ended more than `days` ago; returns how many. */
export async function purgeTasks(sql: Sql, viewer: Viewer, days: number): Promise<number> {
  return await deleteEndedJobs(sql, { days, where: isInScope(sql, taskScope(viewer)) })
}
