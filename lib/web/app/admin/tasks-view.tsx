// Background tasks: live list with filters, statistics, cancellation, retries, purge.

import { useRef, useState } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { taskStatuses, taskTypes } from '../api/enumerations.ts'
import { haveLoaded, useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { address, setQuery } from '../routing/router.ts'
import { formatNumber, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/dialog.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { ErrorState } from '../ui/error-state.tsx'
import { Select } from '../ui/field.tsx'
import { Loading } from '../ui/loading.tsx'
import { Pagination } from '../ui/pagination.tsx'
import { showNotice } from '../ui/toast.tsx'
import { AdminFrame } from './admin-frame.tsx'
import { FilterLinks } from './filter-links.tsx'
import { TaskRow } from './task-row.tsx'
import { useInterval } from './use-interval.ts'
import { useLibraries } from './use-libraries.ts'
import { type Task, type TaskFilter, useTasks } from './use-tasks.ts'

const statsEveryMs = 5_000
const purgeAfterDays = 1

export function View() {
  const { query } = address.value
  const filter: TaskFilter = {
    status: taskStatuses.find(name => name === query.get('status')),
    type: taskTypes.find(name => name === query.get('type')),
    libraryId: query.get('library') ?? undefined,
  }
  const page = Math.max(1, Number(query.get('page')) || 1)
  const list = useRef<HTMLUListElement>(null)
  const { data, error, reload } = useTasks(filter, page, { isHeld: () => isUsed(list.current) })
  const libraries = useLibraries()
  const stats = useResource('task-stats', signal =>
    body(api.GET('/api/v1/tasks/stats', { signal })),
  )
  useInterval(stats.reload, statsEveryMs)
  const changed = () => {
    reload()
    stats.reload()
  }
  const frame = {
    title: t('admin.tasks'),
    actions: can('TasksWrite') && <PurgeButton onDone={changed} />,
  }
  if (!haveLoaded(stats, libraries))
    return (
      <AdminFrame {...frame}>
        <Loading />
      </AdminFrame>
    )
  return (
    <AdminFrame {...frame}>
      <FilterLinks<Task['status']>
        label={t('field.status')}
        name="status"
        selected={filter.status}
        all={{ count: stats.data?.total }}
        options={taskStatuses.map(value => ({
          value,
          text: t(`task.status.${value}`),
          count: stats.data?.[value],
        }))}
      />
      <Filters filter={filter} libraries={libraries.data ?? []} />
      {error && !data && <ErrorState error={error} onRetry={reload} />}
      {data?.data.length === 0 && (
        <EmptyState icon="tasks" title={t('task.none')} text={t('task.noneText')} />
      )}
      {data && data.data.length > 0 && (
        <ul class="task-list card" ref={list}>
          {data.data.map(task => (
            <TaskRow
              key={task.id}
              task={task}
              libraryName={libraries.data?.find(({ id }) => id === task.libraryId)?.name}
              onChange={changed}
            />
          ))}
        </ul>
      )}
      {data && (
        <Pagination
          page={page}
          totalPages={data.totalPages}
          onChange={page => setQuery({ page: page === 1 ? null : String(page) })}
        />
      )}
      {stats.data && <Durations byType={stats.data.byType} />}
    </AdminFrame>
  )
}

/** Whether the pointer is over the list or the keyboard focus is in it. */
const isUsed = (list: HTMLElement | null): boolean =>
  list !== null &&
  ((matchMedia('(hover: hover)').matches && list.matches(':hover')) ||
    list.querySelector(':focus-visible') !== null)

type FiltersProps = { filter: TaskFilter; libraries: readonly { id: string; name: string }[] }

function Filters({ filter, libraries }: FiltersProps) {
  return (
    <div class="admin-filters">
      <Select<string>
        label={t('task.type')}
        value={filter.type ?? ''}
        options={[
          { value: '', text: t('filter.all') },
          ...taskTypes.map(value => ({ value, text: t(`task.${value}`) })),
        ]}
        onChange={type => setQuery({ type: type || null, page: null })}
      />
      <Select<string>
        label={t('field.libraryId')}
        value={filter.libraryId ?? ''}
        options={[
          { value: '', text: t('filter.all') },
          ...libraries.map(({ id, name }) => ({ value: id, text: name })),
        ]}
        onChange={library => setQuery({ library: library || null, page: null })}
      />
    </div>
  )
}

function PurgeButton({ onDone }: { onDone: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const purge = async () => {
    const query = { days: purgeAfterDays }
    const { deleted } = await body(api.DELETE('/api/v1/tasks/purge', { params: { query } }))
    showNotice(t('task.purged', { count: deleted }))
    onDone()
  }
  return (
    <>
      <Button icon="delete" onClick={() => setOpen(true)}>
        {t('task.purge')}
      </Button>
      {isOpen && (
        <ConfirmDialog
          title={t('task.purge')}
          text={t('task.purgeText')}
          action={t('task.purge')}
          onConfirm={purge}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  )
}

type TypeStats = { total: number; p50DurationMs: number | null; p95DurationMs: number | null }

function Durations({ byType }: { byType: object }) {
  const rows = taskTypes
    .map(type => ({ type, stats: (byType as Record<string, TypeStats>)[type] }))
    .filter(({ stats }) => (stats?.total ?? 0) > 0)
  if (rows.length === 0) return null
  const duration = (ms: number | null) =>
    ms === null ? '–' : ms < 1000 ? t('unit.ms', { count: Math.round(ms) }) : seconds(ms)
  return (
    <details class="admin-section">
      <summary>{t('nav.statistics')}</summary>
      <div class="table-scroll card">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">{t('task.type')}</th>
              <th scope="col" class="number">
                {t('task.count')}
              </th>
              <th scope="col" class="number">
                {t('task.median')}
              </th>
              <th scope="col" class="number">
                {t('task.p95')}
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ type, stats }) => (
              <tr key={type}>
                <td>{t(`task.${type}`)}</td>
                <td class="number">{formatNumber(stats!.total)}</td>
                <td class="number">{duration(stats!.p50DurationMs)}</td>
                <td class="number">{duration(stats!.p95DurationMs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}

const seconds = (ms: number) =>
  formatNumber(ms / 1000, { style: 'unit', unit: 'second', maximumFractionDigits: 1 })
