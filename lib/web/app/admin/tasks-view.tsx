// Background tasks: live list with filters, statistics, cancellation, retries, purge.
import { useRef } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { taskStatuses, taskTypes } from '../api/enumerations.ts'
import { haveLoaded, useGet, useLibraries } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { address } from '../routing/router.ts'
import { formatNumber, t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { useConfirm } from '../ui/dialog.tsx'
import { currentPage, Pagination } from '../ui/pagination.tsx'
import { EmptyState, ErrorState, Loading } from '../ui/state.tsx'
import { Table } from '../ui/table.tsx'
import { useInterval } from '../ui/timing.ts'
import { showNotice } from '../ui/toast.tsx'
import { AdminFrame } from './admin-frame.tsx'
import { FilterLinks, FilterSelect, LibraryFilter } from './filter-links.tsx'
import { type Task, type TaskFilter, TaskRow, useTasks } from './task-list.tsx'

const statsEveryMs = 5_000
const purgeAfterDays = 1

export function View() {
  const { query } = address.value
  const filter: TaskFilter = {
    status: taskStatuses.find(name => name === query.get('status')),
    type: taskTypes.find(name => name === query.get('type')),
    libraryId: query.get('library') ?? undefined,
  }
  const list = useRef<HTMLUListElement>(null)
  const { data, error, reload } = useTasks(filter, currentPage(), {
    isHeld: () => isUsed(list.current),
  })
  const libraries = useLibraries()
  const stats = useGet('/api/v1/tasks/stats')
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
      <div class="admin-filters">
        <FilterSelect
          label={t('task.type')}
          name="type"
          selected={filter.type}
          options={taskTypes.map(value => ({ value, text: t(`task.${value}`) }))}
        />
        <LibraryFilter libraries={libraries.data ?? []} selected={filter.libraryId} />
      </div>
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
      <Pagination totalPages={data?.totalPages} />
      {stats.data && <Durations byType={stats.data.byType} />}
    </AdminFrame>
  )
}

/** Whether the pointer is over the list or the keyboard focus is in it. */
const isUsed = (list: HTMLElement | null): boolean =>
  list !== null &&
  ((matchMedia('(hover: hover)').matches && list.matches(':hover')) ||
    list.querySelector(':focus-visible') !== null)

function PurgeButton({ onDone }: { onDone: () => void }) {
  const purge = async () => {
    const query = { days: purgeAfterDays }
    const { deleted } = await body(api.DELETE('/api/v1/tasks/purge', { params: { query } }))
    showNotice(t('task.purged', { count: deleted }))
    onDone()
  }
  const title = t('task.purge')
  const { ask, dialog } = useConfirm({
    ...{ title, action: title },
    text: t('task.purgeText'),
    onConfirm: purge,
  })
  return (
    <>
      <Button icon="delete" text={title} onClick={ask} />
      {dialog}
    </>
  )
}

type TypeStats = { total: number; p50DurationMs: number | null; p95DurationMs: number | null }

function Durations({ byType }: { byType: object }) {
  const rows = taskTypes
    .map(type => ({ type, stats: (byType as Record<string, TypeStats>)[type] }))
    .filter(({ stats }) => (stats?.total ?? 0) > 0)
  if (rows.length === 0) return null
  const columns = ['task.type', 'task.count', 'task.median', 'task.p95'] as const
  const duration = (ms: number | null) =>
    ms === null ? '–' : ms < 1000 ? t('unit.ms', { count: Math.round(ms) }) : seconds(ms)
  return (
    <details class="stack admin-section">
      <summary>{t('nav.statistics')}</summary>
      <div class="table-scroll card">
        <Table columns={columns.map(name => t(name))} class="numbers">
          {rows.map(({ type, stats }) => (
            <tr key={type}>
              <td>{t(`task.${type}`)}</td>
              <td>{formatNumber(stats!.total)}</td>
              <td>{duration(stats!.p50DurationMs)}</td>
              <td>{duration(stats!.p95DurationMs)}</td>
            </tr>
          ))}
        </Table>
      </div>
    </details>
  )
}

const seconds = (ms: number) =>
  formatNumber(ms / 1000, { style: 'unit', unit: 'second', maximumFractionDigits: 1 })
