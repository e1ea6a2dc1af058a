// Response to a request that starts background work on many books or series.

import { component, count, list, nullable, Type, uuid } from '../base/schema.ts'
import type { StartedWork } from '../catalog/scan/work-on-many.ts'

export const WorkStarted = component('WorkStarted', {
  success: Type.Boolean(),
  tasksEnqueued: count({ description: 'Number of tasks: one for each affected library.' }),
  taskIds: list(uuid()),
  taskId: nullable(uuid({ description: 'The first task; null if there is nothing to do.' })),
  message: Type.String(),
})

/** `noun` in the plural: `files to be read`. */
export function workStarted({ taskIds, count }: StartedWork, noun: string) {
  return {
    success: true,
    tasksEnqueued: taskIds.length,
    taskIds,
    taskId: taskIds[0] ?? null,
    message: count === 0 ? `There are no ${noun}` : `${count} ${noun}`,
  }
}
