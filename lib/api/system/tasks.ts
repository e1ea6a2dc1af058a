// Tasks: the work in the background, seen and steered.

import { paged, pageOf, pageQuery, paging } from '../../http/pagination.ts'
import { route } from '../../http/route.ts'
import { cancelTask, retryTask } from '../../queue/task-control.ts'
import { scopeOf } from '../../queue/task-cursor.ts'
import { taskStatuses, taskTypes } from '../../queue/task-kind.ts'
import { listTasks, Task, type TaskFilter, taskById } from '../../queue/task-record.ts'
import { countTasksOf, type TaskCounts, taskStats } from '../../queue/task-stats.ts'
import { count, Id, list, maybe, nullable, oneOf, record, Type, uuid } from '../../schema.ts'
import { isPaged } from '../books/lists.ts'

const usual = 50
const most = 500
const Told = record({ message: Type.String() })

const counts = {
  pending: count(),
  running: count(),
  processing: count({ description: 'The same as `running`.' }),
  completed: count(),
  failed: count(),
  cancelled: count(),
  stale: count({ description: 'Of those that run: without a sign of life for a minute.' }),
  total: count(),
}
const milliseconds = nullable(
  Type.Integer({ description: 'Of the latest 1,000 that were completed.' }),
)
const Stats = record(
  {
    ...counts,
    byType: Type.Record(
      Type.String(),
      record(
        {
          ...counts,
          oldestPendingAgeSeconds: nullable(Type.Integer()),
          p50DurationMs: milliseconds,
          p95DurationMs: milliseconds,
        },
        { component: 'TaskTypeStats' },
      ),
    ),
  },
  { component: 'TaskStats' },
)

const filters = {
  status: maybe(
    oneOf([...taskStatuses, 'processing'], { description: '`processing` means `running`.' }),
  ),
  taskType: maybe(oneOf(taskTypes, { aliases: ['type'] })),
  libraryId: maybe(uuid()),
}

export const tasks = [
  route({
    method: 'GET',
    path: '/tasks',
    permission: 'TasksRead',
    summary: 'Tasks, the newest first',
    description:
      'With `page` or `pageSize` the wrapper of paged lists, whose totals are remembered for a while when there are many tasks. Tasks of libraries that the caller does not see are left out.',
    query: record({
      ...filters,
      limit: maybe(Type.Integer({ minimum: 1, maximum: most, default: usual })),
      ...pageQuery,
    }),
    responses: { 200: Type.Union([list(Task), paged(Task)]) },
    async handle({ query, viewer, request, reply }, { sql }) {
      const filter = filterOf(query)
      if (!isPaged(query)) {
        const part = { offset: 0, limit: query.limit ?? usual }
        return await listTasks(sql, viewer, { filter, part })
      }
      const page = paging(query)
      const part = { offset: page.offset, limit: page.pageSize }
      const scope = scopeOf(viewer, filter.libraryId)
      const [data, total] = await Promise.all([
        listTasks(sql, viewer, { filter, part }),
        countTasksOf(sql, scope, filter),
      ])
      return pageOf({ request, reply, query }, { data, total, paging: page })
    },
  }),
  route({
    method: 'GET',
    path: '/tasks/stats',
    permission: 'TasksRead',
    summary: 'How many tasks there are and how long they take',
    description:
      'Remembered for fifty times as long as the counting took. Of tasks that the caller may see.',
    responses: { 200: Stats },
    async handle({ viewer }, { sql }) {
      const types = await taskStats(sql, scopeOf(viewer))
      const sum = (name: keyof TaskCounts) => types.reduce((all, one) => all + one[name], 0)
      const totals = Object.fromEntries(
        Object.keys(counts).map(name => [name, sum(name as keyof TaskCounts)]),
      ) as TaskCounts
      return { ...totals, byType: Object.fromEntries(types.map(({ type, ...of }) => [type, of])) }
    },
  }),
  route({
    method: 'GET',
    path: '/tasks/{id}',
    permission: 'TasksRead',
    summary: 'One task',
    params: Id,
    responses: { 200: Task },
    handle: ({ params, viewer }, { sql }) => taskById(sql, viewer, params.id),
  }),
  route({
    method: 'POST',
    path: '/tasks/{id}/cancel',
    permission: 'TasksWrite',
    summary: 'Cancel a task that waits or runs',
    description:
      'Running work stops at its next safe point. Of a scan all work is called off; what was read stays, and the next scan goes on from there. 400 when the task is over already.',
    params: Id,
    responses: { 200: Told },
    async handle({ params, viewer }, { sql, queue }) {
      await cancelTask({ sql, queue, viewer, id: params.id })
      return { message: 'Task cancelled' }
    },
  }),
  route({
    method: 'POST',
    path: '/tasks/{id}/retry',
    permission: 'TasksWrite',
    summary: 'Try a failed task again',
    description: '400 when it did not fail; 409 for a scan while its library is being scanned.',
    params: Id,
    responses: { 200: Told },
    async handle({ params, viewer }, { sql, queue }) {
      await retryTask({ sql, queue, viewer, id: params.id })
      return { message: 'Task queued again' }
    },
  }),
]

type Query = {
  status?: (typeof taskStatuses)[number] | 'processing'
  taskType?: (typeof taskTypes)[number]
  libraryId?: string
}

function filterOf({ status, taskType, libraryId }: Query): TaskFilter {
  return {
    ...(status ? { status: status === 'processing' ? 'running' : status } : {}),
    ...(taskType ? { type: taskType } : {}),
    ...(libraryId ? { libraryId } : {}),
  }
}
