// Task in a list: type, progress, actions.
import { api } from '../api/client.ts'
import { can } from '../api/session.ts'
import { placeText } from '../manage/scan.ts'
import { Bar } from '../manage/scan-progress.tsx'
import { href } from '../routing/router.ts'
import { formatDuration, formatRelative, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { NameLink } from '../ui/name.tsx'
import type { Task } from './use-tasks.ts'

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
