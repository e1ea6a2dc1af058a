// Background tasks: list, statistics, cancel, retry.
import { component, count, maybe, nullable, oneOf, record, Type, uuid } from '../../base/schema.ts'
import { forIdentity } from '../../http/client/host-access.ts'
import { paged, pagedResponse, pageQuery } from '../../http/pagination.ts'
import { Message, TaskId } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import { cancelTask, purgeTasks, retryTask } from '../../store/queue/task/control.ts'
import { listTasks, Task, type TaskFilter, taskById } from '../../store/queue/task/record.ts'
import { taskScope } from '../../store/queue/task/scope.ts'
import { openTaskStats, type TaskCounts } from '../../store/queue/task/stats.ts'
import { taskStatuses, taskTypes } from '../../store/queue/task-status.ts'

const counts = {
  pending: count(),
  running: count(),
  processing: count({ description: 'Same as `running`.' }),
  completed: count(),
  failed: count(),
  cancelled: count(),
  stale: count({ description: 'Running tasks that have had no heartbeat for a minute.' }),
  total: count(),
}
const milliseconds = nullable(
  Type.Integer({ description: 'Based on the last 1,000 completed tasks.' }),
)
const Stats = component('TaskStats', {
  ...counts,
  byType: Type.Record(
    Type.String(),
    component('TaskTypeStats', {
      ...counts,
      oldestPendingAgeSeconds: nullable(Type.Integer()),
      p50DurationMs: milliseconds,
      p95DurationMs: milliseconds,
    }),
  ),
})

const filters = {
  status: maybe(
    oneOf([...taskStatuses, 'processing'], {
      description: 'Limits the list to this status; `processing` means `running`.',
    }),
  ),
  taskType: maybe(
    oneOf(taskTypes, { aliases: ['type'], description: 'Limits the list to this type.' }),
  ),
  libraryId: maybe(uuid({ description: 'Limits the list to this library.' })),
}

export const tasks = [
  route('GET /tasks', {
    operationId: 'listTasks',
    permission: 'TasksRead',
    summary: 'List tasks',
    description:
      'Newest first, excluding tasks of hidden libraries. The total is cached if there are many tasks.',
    query: record({ ...filters, ...pageQuery }),
    responses: { 200: paged(Task) },
    handle: (input, { sql, services }) =>
      pagedResponse(input, async ({ offset, pageSize }) => {
        const { query, viewer, identity } = input
        const filter = filterOf(query)
        const [tasks, total] = await Promise.all([
          listTasks(sql, viewer, { filter, range: { offset, limit: pageSize } }),
          services(openTaskStats).count(taskScope(viewer, filter.libraryId), filter),
        ])
        return { data: tasks.map(task => forIdentity(identity, task)), total }
      }),
  }),
  route('GET /tasks/stats', {
    operationId: 'getTaskStats',
    permission: 'TasksRead',
    summary: 'Task statistics',
    description: 'Counts visible tasks. Cached for fifty times as long as the query took.',
    responses: { 200: Stats },
    async handle({ viewer }, { services }) {
      const types = await services(openTaskStats).all(taskScope(viewer))
      const sum = (name: keyof TaskCounts) => types.reduce((total, type) => total + type[name], 0)
      const totals = Object.fromEntries(
        Object.keys(counts).map(name => [name, sum(name as keyof TaskCounts)]),
      ) as TaskCounts
      return {
        ...totals,
        byType: Object.fromEntries(types.map(({ type, ...stats }) => [type, stats])),
      }
    },
  }),
  route('DELETE /tasks/purge', {
    operationId: 'purgeTasks',
    permission: 'TasksWrite',
    summary: 'Delete ended tasks',
    description: 'Deletes only tasks that the caller may see.',
    query: record({
      days: maybe(
        Type.Integer({
          minimum: 0,
          maximum: 10_000,
          default: 30,
          description: 'Deletes tasks that ended more than this many days ago.',
        }),
      ),
    }),
    responses: {
      200: component('Purged', { deleted: count({ description: 'Number of deleted tasks.' }) }),
    },
    handle: async ({ query, viewer }, { sql }) => ({
      deleted: await purgeTasks(sql, viewer, query.days ?? 30),
    }),
  }),
  route('GET /tasks/{id}', {
    operationId: 'getTask',
    permission: 'TasksRead',
    summary: 'Get a task',
    params: TaskId,
    responses: { 200: Task },
    handle: async ({ params, viewer, identity }, { sql }) =>
      forIdentity(identity, await taskById(sql, viewer, params.id)),
  }),
  route('POST /tasks/{id}/cancel', {
    operationId: 'cancelTask',
    permission: 'TasksWrite',
    summary: 'Cancel a pending or running task',
    description:
      'A running task stops at its next safe point. All jobs of a scan are cancelled; books already read are retained, and the next scan continues from there. 400 if the task has ended.',
    params: TaskId,
    responses: { 200: Message },
    async handle({ params, viewer }, { sql, queue }) {
      await cancelTask({ sql, queue, viewer, id: params.id })
      return { message: 'Task cancelled' }
    },
  }),
  route('POST /tasks/{id}/retry', {
    operationId: 'retryTask',
    permission: 'TasksWrite',
    summary: 'Retry a failed task',
    description: '400 if the task did not fail; 409 for a scan while its library is being scanned.',
    params: TaskId,
    responses: { 200: Message },
    async handle({ params, viewer }, { sql }) {
      await retryTask({ sql, viewer, id: params.id })
      return { message: 'Task queued again' }
    },
  }),
]

type TaskQuery = {
  status?: (typeof taskStatuses)[number] | 'processing'
  taskType?: (typeof taskTypes)[number]
  libraryId?: string
}

function filterOf({ status, taskType, libraryId }: TaskQuery): TaskFilter {
  return {
    ...(status ? { status: status === 'processing' ? 'running' : status } : {}),
    ...(taskType ? { type: taskType } : {}),
    ...(libraryId ? { libraryId } : {}),
  }
}
