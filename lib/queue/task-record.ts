// Tasks as they are shown: newest first, or one by its id.
import type { Fragment, Sql, TransactionSql } from 'postgres'
import type { Viewer } from '../auth/viewer.ts'
import { countedScans, scanFigures } from '../catalog/scan/scan-figures.ts'
import { NotFound } from '../errors.ts'
import { count, nullable, oneOf, record, type Static, Type, timestamp, uuid } from '../schema.ts'
import { isOfScan, type JobName, jobNames } from './jobs.ts'
import { scopeOf, walked } from './task-cursor.ts'
import {
  type JobState,
  kinds,
  nameOf,
  statesOf,
  statusOf,
  type TaskStatus,
  type TaskType,
  taskStatuses,
  taskTypes,
} from './task-kind.ts'

const reason = { description: 'Why it failed last, also while it waits to be tried again.' }

/** The answer to a request that is worked on afterwards. */
export const TaskStarted = record(
  { taskId: uuid({ description: 'Of the work in the background.' }) },
  { component: 'TaskStarted' },
)

export const Task = record(
  {
    id: uuid({ description: 'Of a scan: the id of the scan.' }),
    taskType: oneOf(taskTypes),
    type: oneOf(taskTypes, { description: 'The same as `taskType`.' }),
    status: oneOf(taskStatuses),
    priority: Type.Integer({ description: 'Higher goes first, within its type.' }),
    libraryId: nullable(uuid()),
    seriesId: nullable(uuid()),
    bookId: nullable(uuid({ description: 'When it is about one book.' })),
    progress: record({
      current: count(),
      total: count({ description: 'Files of a scan, books of a batch; else 1.' }),
      message: Type.String({ description: 'What is done now.' }),
    }),
    attempts: count({ description: 'How often it was begun.' }),
    maxAttempts: count(),
    error: nullable(Type.String(reason)),
    lastError: nullable(Type.String({ description: 'The same as `error`.' })),
    createdAt: timestamp(),
    scheduledFor: timestamp({ description: 'Not begun before.' }),
    startedAt: nullable(timestamp()),
    completedAt: nullable(timestamp({ description: 'When it ended, in whatever way.' })),
    params: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
      description: 'What it was asked to do, in snake_case.',
    }),
  },
  { component: 'Task' },
)
export type Task = Static<typeof Task>

type Db = Sql | TransactionSql

export type TaskFilter = { status?: TaskStatus; type?: TaskType; libraryId?: string }
type Part = { offset: number; limit: number }

/** The tasks that the viewer sees, the newest first. */
export async function listTasks(
  sql: Db,
  viewer: Viewer,
  { filter, part }: { filter: TaskFilter; part: Part },
): Promise<Task[]> {
  const rows = walked(sql, {
    scope: scopeOf(viewer, filter.libraryId),
    names: filter.type ? [nameOf(filter.type)] : jobNames,
    states: statesOf(filter.status),
    most: part.offset + part.limit,
  })
  return await load(
    sql,
    sql`select id, name from (${rows}) w order by id desc limit ${part.limit} offset ${part.offset}`,
  )
}

/** Throws NotFound, also for a task of a library that the viewer does not see. */
export async function taskById(sql: Db, viewer: Viewer, id: string): Promise<Task> {
  const [task] = await load(
    sql,
    sql`select id, name from pgboss.job_common where name = any(${jobNames}) and id = ${id}`,
  )
  if (!task || !isSeen(viewer, task.libraryId)) throw new NotFound('Task not found')
  return task
}

export function isSeen({ libraries }: Pick<Viewer, 'libraries'>, libraryId: string | null) {
  return libraries === null || libraryId === null || libraries.includes(libraryId)
}

type Row = {
  id: string
  name: JobName
  state: JobState
  priority: number
  data: { libraryId?: string; bookId?: string; scanId?: string; asked?: true; again?: true }
  /** Ids of a batch, and the only one. */
  size: number | null
  only: string | null
  attempts: number
  maxAttempts: number
  error: string | null
  createdAt: Date
  scheduledFor: Date
  startedAt: Date | null
  completedAt: Date | null
  mode: string | null
  current: number | null
  total: number | null
  stage: string | null
}

async function load(sql: Db, which: Fragment): Promise<Task[]> {
  const rows = await sql<Row[]>`
    with w as materialized (${which})
    select j.id, j.name, j.state, j.priority, j.data - 'ids' as data,
      coalesce(jsonb_array_length(j.data->'ids'), (j.data->>'books')::integer) as size,
      case when jsonb_array_length(j.data->'ids') = 1 then j.data->'ids'->>0 end as only,
      j.retry_count + (j.started_on is not null)::integer as attempts,
      j.retry_limit + 1 as "maxAttempts", j.output->>'message' as error,
      j.created_on as "createdAt", j.start_after as "scheduledFor",
      case when j.state >= 'active' then j.started_on end as "startedAt",
      j.completed_on as "completedAt", f.mode, f."filesProcessed" as current,
      f."filesTotal" as total, f.stage
    from w
    join pgboss.job_common j on j.name = w.name and j.id = w.id
    left join lateral (
      select ${scanFigures(sql)} from ${countedScans(sql)} s where s.id = w.id
    ) f on w.name in ('scan', 'analyze')
    order by j.id desc`
  return rows.map(taskOf)
}

function taskOf(row: Row): Task {
  const { name, data, error } = row
  const { type } = kinds[name]
  const { libraryId = null } = data
  const status = statusOf(row.state)
  const isBookId = name === 'cover' || name === 'hash'
  return {
    id: row.id,
    taskType: type,
    type,
    status,
    priority: row.priority,
    libraryId,
    seriesId: null,
    bookId: data.bookId ?? (isBookId ? row.only : null),
    progress: progressOf(row, status),
    attempts: row.attempts,
    maxAttempts: row.maxAttempts,
    error,
    lastError: error,
    createdAt: row.createdAt,
    scheduledFor: row.scheduledFor,
    startedAt: row.startedAt,
    completedAt: row.completedAt,
    params: paramsOf(row),
  }
}

function progressOf({ name, size, current, total, stage }: Row, status: TaskStatus) {
  const doing = status === 'running' ? kinds[name].doing : status
  if (isOfScan(name)) return { current: current ?? 0, total: total ?? 0, message: stage ?? doing }
  const all = size ?? 1
  const message = status === 'pending' ? 'waiting' : doing
  return { current: status === 'completed' ? all : 0, total: all, message }
}

function paramsOf({ name, data, size, mode }: Row) {
  const { libraryId, bookId, scanId, asked, again } = data
  return {
    ...(libraryId ? { library_id: libraryId } : {}),
    ...(bookId ? { book_id: bookId } : {}),
    ...(scanId && !isOfScan(name) ? { scan_id: scanId } : {}),
    ...(mode ? { mode } : {}),
    ...(size === null ? {} : { books: size }),
    ...(asked ? { asked } : {}),
    ...(again ? { again } : {}),
  }
}
