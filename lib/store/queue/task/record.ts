// Tasks as resources of the API: lists, newest first, and single tasks by id.
import type { Fragment } from 'postgres'
import { isLimited, type Viewer } from '../../../accounts/viewer.ts'
import { NotFound } from '../../../base/errors.ts'
import {
  component,
  count,
  nullable,
  oneOf,
  record,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../../base/schema.ts'
import { scanProgressColumns, scansWithTotals } from '../../../catalog/scan/scan-progress.ts'
import type { Queryable } from '../../postgres/db.ts'
import { isScanJob, type JobName, jobNames, jobTypes } from '../jobs.ts'
import {
  type JobState,
  jobNameOf,
  type Payload,
  statesOf,
  statusOf,
  type TaskStatus,
  type TaskType,
  taskStatuses,
  taskTypes,
} from '../task-status.ts'
import { isInScope, taskScope } from './scope.ts'
import { selectTasks } from './select.ts'

const errorText = {
  description: 'Reason for the last failure, even while the task waits for a retry.',
}

/** Response to a request that is processed in the background. */
export const TaskStarted = component('TaskStarted', {
  taskId: uuid({ description: 'Id of the background task.' }),
})

export const Task = component('Task', {
  id: uuid({ description: 'For a scan: the id of the scan.' }),
  taskType: oneOf(taskTypes),
  type: oneOf(taskTypes, { description: 'The same as `taskType`.' }),
  status: oneOf(taskStatuses),
  priority: Type.Integer({ description: 'Tasks of the same type run by descending priority.' }),
  libraryId: nullable(uuid()),
  seriesId: nullable(uuid()),
  bookId: nullable(uuid({ description: 'If the task is about a single book.' })),
  progress: record({
    current: count(),
    total: count({
      description:
        'Files of a scan, books of a batch; otherwise 1. For accounts with an age limit or sharing tags, a scan has 0 files.',
    }),
    message: Type.String({ description: 'Current activity.' }),
  }),
  attempts: count({ description: 'Number of attempts so far.' }),
  maxAttempts: count(),
  error: nullable(Type.String(errorText)),
  lastError: nullable(Type.String({ description: 'The same as `error`.' })),
  createdAt: timestamp(),
  scheduledFor: timestamp({ description: 'The task does not start before this time.' }),
  startedAt: nullable(timestamp()),
  host: nullable(
    Type.String({
      description: 'Name of the host that ran it last; null for accounts without SystemAdmin.',
    }),
  ),
  pid: nullable(count({ description: 'Id of the process there; null like `host`.' })),
  completedAt: nullable(timestamp({ description: 'When it ended, regardless of the result.' })),
  params: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
    description: 'Parameters of the task, in snake_case.',
  }),
})
export type Task = Static<typeof Task>

export type TaskFilter = { status?: TaskStatus; type?: TaskType; libraryId?: string }
type Range = { offset: number; limit: number }

/** The tasks that the viewer may see, newest first. */
export async function listTasks(
  sql: Queryable,
  viewer: Viewer,
  { filter, range }: { filter: TaskFilter; range: Range },
): Promise<Task[]> {
  const rows = selectTasks(sql, {
    scope: taskScope(viewer, filter.libraryId),
    names: filter.type ? [jobNameOf(filter.type)] : jobNames,
    states: statesOf(filter.status),
    limit: range.offset + range.limit,
  })
  return await loadTasks(
    sql,
    viewer,
    sql`select id, name from (${rows}) w order by id desc limit ${range.limit} offset ${range.offset}`,
  )
}

/** Throws NotFound, also for a task about something that the viewer may not see. */
export async function taskById(sql: Queryable, viewer: Viewer, id: string): Promise<Task> {
  const [task] = await loadTasks(
    sql,
    viewer,
    sql`select j.id, j.name from pgboss.job_common j
      where j.name = any(${jobNames}) and j.id = ${id} and ${isInScope(sql, taskScope(viewer))}`,
  )
  if (!task) throw new NotFound('Task not found')
  return task
}

type Derived = 'taskType' | 'type' | 'status' | 'progress' | 'lastError' | 'params'
type Row = Omit<Task, Derived | 'libraryId' | 'seriesId' | 'bookId'> & {
  name: JobName
  state: JobState
  data: Omit<Payload, 'ids' | 'books'>
  /** Number of ids in a batch, and the id if it is a single one. */
  size: number | null
  singleId: string | null
  mode: string | null
  current: number | null
  total: number | null
  stage: string | null
}

/** `selected` has the columns id and name. */
async function loadTasks(sql: Queryable, viewer: Viewer, selected: Fragment): Promise<Task[]> {
  const rows = await sql<Row[]>`
    with w as materialized (${selected})
    select j.id, j.name, j.state, j.priority, j.data - 'ids' as data,
      coalesce(jsonb_array_length(j.data->'ids'), (j.data->>'books')::integer) as size,
      case when jsonb_array_length(j.data->'ids') = 1 then j.data->'ids'->>0 end as "singleId",
      j.retry_count + (j.started_on is not null)::integer as attempts,
      j.retry_limit + 1 as "maxAttempts", j.output->>'message' as error,
      j.created_on as "createdAt", j.start_after as "scheduledFor",
      case when j.state >= 'active' then j.started_on end as "startedAt",
      case when j.state >= 'active' then j.host end as host,
      case when j.state >= 'active' then j.pid end as pid,
      j.completed_on as "completedAt", f.mode, f."filesProcessed" as current,
      f."filesTotal" as total, f.stage
    from w
    join pgboss.job_common j on j.name = w.name and j.id = w.id
    left join lateral (
      select ${scanProgressColumns(sql)} from ${scansWithTotals(sql)} s where s.id = w.id
    ) f on w.name in ('scan', 'analyze')
    order by j.id desc`
  return rows.map(row => toTask(isLimited(viewer) ? withoutHidden(row) : row))
}

/** A task on many books, without counts, and without an error that may mention hidden ones. */
function withoutHidden(row: Row): Row {
  if (row.data.bookId) return row
  const error = row.error === null ? null : 'The task failed'
  return { ...row, current: null, total: null, error }
}

function toTask(row: Row): Task {
  const { name, state, data, size: _, singleId, mode, current, total, stage, ...columns } = row
  const { task: type } = jobTypes[name]
  const status = statusOf(state)
  const isOfBooks = name === 'cover' || name === 'hash'
  return {
    ...columns,
    taskType: type,
    type,
    status,
    libraryId: data.libraryId ?? null,
    seriesId: data.seriesId ?? null,
    bookId: data.bookId ?? (isOfBooks ? singleId : null),
    progress: progressOf(row, status),
    lastError: row.error,
    params: paramsOf(row),
  }
}

function progressOf({ name, size, current, total, stage }: Row, status: TaskStatus) {
  const activity = status === 'running' ? jobTypes[name].activity : status
  if (isScanJob(name))
    return { current: current ?? 0, total: total ?? 0, message: stage ?? activity }
  const items = size ?? 1
  const message = status === 'pending' ? 'waiting' : activity
  return { current: status === 'completed' ? items : 0, total: items, message }
}

function paramsOf({ name, data, size, mode }: Row) {
  const { libraryId, seriesId, bookId, scanId, requested, again } = data
  return {
    ...(libraryId ? { library_id: libraryId } : {}),
    ...(seriesId ? { series_id: seriesId } : {}),
    ...(bookId ? { book_id: bookId } : {}),
    ...(scanId && !isScanJob(name) ? { scan_id: scanId } : {}),
    ...(mode ? { mode } : {}),
    ...(size === null ? {} : { books: size }),
    ...(requested ? { requested } : {}),
    ...(again ? { again } : {}),
  }
}
