// Page of the task list that follows the event stream: progress is updated in place, new tasks cause a reload.
import { useRef } from 'preact/hooks'
import { api, body, type Schemas } from '../api/client.ts'
import { useEvents } from '../api/events.ts'
import { type Resource, useResource } from '../api/resource.ts'
import { useSoon } from '../ui/timing.ts'

export type Task = Schemas['Task']
export type TaskPage = Schemas['TaskPage']
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
