// Page of the task list that follows the event stream, and its rows.

import { useRef } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { useEvents } from '../api/events.ts'
import { type Resource, useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { Bar, placeText } from '../manage/scan.tsx'
import { href } from '../routing/router.ts'
import { formatDuration, formatRelative, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { NameLink } from '../ui/name.tsx'
import { useSoon } from '../ui/timing.ts'

const badges: Partial<Record<Task['status'], string>> = {
  failed: 'danger',
  running: 'accent',
  completed: 'success',
}

type TaskRowProps = {
  task: Task
  /** Name of the library, if the task has one. */
  libraryName: string | undefined
  onChange: () => void
}

export function TaskRow({ task, libraryName, onChange }: TaskRowProps) {
  const { id, type, status, progress, libraryId, bookId, error } = task
  const params = { path: { id } }
  const cancel = async () => {
    await api.POST('/api/v1/tasks/{id}/cancel', { params })
    onChange()
  }
  const retry = async () => {
    await api.POST('/api/v1/tasks/{id}/retry', { params })
    onChange()
  }
  const isOpen = status === 'pending' || status === 'running'
  return (
    <li class="task-row">
      <div class="task-what">
        <span class="task-name">{t(`task.${type}`)}</span>
        <span class="secondary-text">
          {libraryId !== null && (
            <NameLink path={`admin/libraries/${libraryId}`} name={libraryName ?? '…'} />
          )}
          {bookId !== null && [' · ', <a href={href(`books/${bookId}`)}>{t('task.book')}</a>]}
        </span>
      </div>
      <span class={`badge ${badges[status] ?? ''}`}>{t(`task.status.${status}`)}</span>
      <div class="task-progress">
        {status === 'running' && progress.total > 1 ? (
          <>
            <span class="secondary-text">{progressText(task)}</span>
            <Bar
              share={progress.total > 0 ? progress.current / progress.total : null}
              label={t(`task.${type}`)}
            />
          </>
        ) : (
          <span class="secondary-text">{timeText(task)}</span>
        )}
      </div>
      {can('TasksWrite') && (
        <div class="task-actions">
          {isOpen && <Button text={t('action.cancel')} onClick={cancel} class="small" />}
          {status === 'failed' && <Button text={t('task.retry')} onClick={retry} class="small" />}
        </div>
      )}
      {error !== null && status !== 'completed' && <p class="task-error">{error}</p>}
    </li>
  )
}

function progressText(task: Task) {
  const { current, total } = task.progress
  return joined([t('scan.of', { made: current, total }), placeText(task)])
}

const joined = (parts: (string | false)[]) => parts.filter(Boolean).join(' · ')

/** End or start time, duration, and the process that runs or ran it. */
function timeText(task: Task) {
  const { status, startedAt, completedAt, scheduledFor, createdAt, attempts } = task
  if (status === 'pending')
    return new Date(scheduledFor).getTime() > Date.now() + 1_000
      ? t('task.starts', { time: formatRelative(scheduledFor) })
      : t('task.created', { time: formatRelative(createdAt) })
  if (completedAt === null)
    return joined([startedAt !== null && formatRelative(startedAt), placeText(task)])
  const seconds = startedAt && (Date.parse(completedAt) - Date.parse(startedAt)) / 1000
  return joined([
    formatRelative(completedAt),
    seconds !== null && seconds !== '' && seconds >= 1 && formatDuration(seconds),
    attempts > 1 && t('task.attempts', { count: attempts }),
    placeText(task),
  ])
}

export type Task = Schemas['Task']
type TaskPage = Schemas['TaskPage']
export type TaskFilter = {
  status?: Task['status'] | undefined
  type?: Task['type'] | undefined
  libraryId?: string | undefined
}

const shownEveryMs = 500
const reloadEveryMs = 2_000

/** While `isHeld`, rows change in place but do not move, so that a click hits the row under the pointer. */
export function useTasks(
  filter: TaskFilter,
  page: number,
  { pageSize = 50, isHeld = () => false }: { pageSize?: number; isHeld?: () => boolean } = {},
): Resource<TaskPage> {
  const query = { ...filter, page, pageSize }
  const resource = useResource(`tasks:${JSON.stringify(query)}`, signal =>
    body(api.GET('/api/v1/tasks', { params: { query }, signal })),
  )
  const latest = useRef(resource)
  latest.current = resource
  const waiting = useRef(new Map<string, Record<string, unknown>>())
  const showSoon = useSoon(shownEveryMs, () => {
    const events = new Map(waiting.current)
    waiting.current.clear()
    const { data, replace } = latest.current
    if (data?.data.some(task => events.has(task.id)))
      replace({ ...data, data: data.data.map(task => updated(task, events.get(task.id))) })
  })
  const reloadSoon = useSoon(reloadEveryMs, () => {
    if (isHeld()) reloadSoon()
    else latest.current.reload()
  })
  useEvents('tasks', event => {
    if (event.type === 'resync' || event.type === 'opened') return latest.current.reload()
    if (event.type !== 'task_progress') return
    const task = latest.current.data?.data.find(task => task.id === event.taskId)
    if (task) {
      waiting.current.set(task.id, event)
      showSoon()
    }
    // New tasks, and tasks that enter or leave a filtered list.
    if (!task || (filter.status && event.status !== task.status)) reloadSoon()
  })
  return resource
}

function updated(task: Task, event: Record<string, unknown> | undefined): Task {
  if (!event) return task
  const progress = (event.progress ?? task.progress) as Task['progress']
  return {
    ...task,
    progress: { ...task.progress, ...progress },
    status: event.status as Task['status'],
    error: (event.error as string | undefined) ?? task.error,
    startedAt: (event.startedAt as string | null | undefined) ?? task.startedAt,
    completedAt: (event.completedAt as string | null | undefined) ?? task.completedAt,
  }
}
