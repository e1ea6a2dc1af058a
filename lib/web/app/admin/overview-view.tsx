// Administration overview: inventory, queue, errors, disk space, active scans, recent failures.
import type { ComponentChildren } from 'preact'
import { api, body, type Schemas } from '../api/client.ts'
import { haveLoaded, type Library, useGet, useLibraries, useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { isActive, ScanLine, useScans } from '../manage/scan.tsx'
import { href } from '../routing/router.ts'
import { formatBytes, formatNumber, t } from '../text/translate.ts'
import { ButtonLink } from '../ui/button.tsx'
import { NameLink } from '../ui/name.tsx'
import { EmptyState, ErrorState, Loading } from '../ui/state.tsx'
import { useInterval } from '../ui/timing.ts'
import { AdminFrame } from './admin-frame.tsx'
import {
  libraryProblem,
  loadServerMetrics,
  metricOf,
  type ServerMetrics,
} from './server-metrics.ts'
import { TaskRow, useTasks } from './task-list.tsx'

type Metrics = Schemas['Metrics']
const reloadMs = 10_000

export function View() {
  // The default representation is the Prometheus text.
  const metrics = useResource('metrics', async signal => {
    return (await body(api.GET('/api/v1/metrics', { signal }))) as Metrics
  })
  const server = useResource('server-metrics', loadServerMetrics)
  const health = useGet('/api/v1/health')
  const errors = useGet('/api/v1/books/errors', { query: { pageSize: 1 } })
  const libraries = useLibraries()
  useInterval(() => {
    for (const resource of [metrics, server, health, errors, libraries]) resource.reload()
  }, reloadMs)
  const isFailed = metrics.error && !metrics.data
  if (isFailed || !haveLoaded(metrics, server, health, errors, libraries))
    return (
      <AdminFrame title={t('admin.overview')}>
        {isFailed ? <ErrorState error={metrics.error} onRetry={metrics.reload} /> : <Loading />}
      </AdminFrame>
    )
  return (
    <AdminFrame title={t('admin.overview')} subtitle={<HealthBadge health={health.data} />}>
      {libraries.data?.length === 0 && <NoLibrary />}
      <Problems libraries={libraries.data ?? []} metrics={server.data} />
      {metrics.data && (
        <Tiles metrics={metrics.data} server={server.data} errors={errors.data?.total} />
      )}
      <div class="overview-columns">
        <ActiveScans libraries={libraries.data ?? []} />
        {can('TasksRead') && <LatestFailures libraries={libraries.data ?? []} />}
        {metrics.data && <LibrarySizes metrics={metrics.data} />}
      </div>
    </AdminFrame>
  )
}

function HealthBadge({ health }: { health: Schemas['Health'] | undefined }) {
  if (!health) return null
  const state = health.status
  return (
    <a href={href('admin/health')} class="overview-health">
      <span class={`badge ${state === 'ok' ? 'success' : 'danger'}`}>{t(`health.${state}`)}</span>
      {health.message ?? t('health.version.is', { version: health.version })}
    </a>
  )
}

const NoLibrary = () => (
  <EmptyState
    icon="library"
    title={t('admin.noLibrary')}
    text={t('setup.libraryText')}
    action={<ButtonLink path="admin/libraries/new" class="primary" text={t('library.add')} />}
  />
)

type ProblemsProps = { libraries: readonly Library[]; metrics: ServerMetrics | undefined }

function Problems({ libraries, metrics }: ProblemsProps) {
  return libraries.flatMap(library => {
    const text = libraryProblem(library, { metrics })
    if (text === null) return []
    return [
      <p key={library.id} class="notice danger">
        <NameLink path={`admin/libraries/${library.id}`} name={library.name} />: {text}
      </p>,
    ]
  })
}

type TilesProps = {
  metrics: Metrics
  server: ServerMetrics | undefined
  errors: number | undefined
}

function Tiles({ metrics, server, errors }: TilesProps) {
  const { tasks } = metrics
  const open = tasks.pendingCount + tasks.processingCount
  const free = metricOf(server, 'data_disk_free_bytes')
  const size = metricOf(server, 'data_disk_size_bytes')
  const isShort = (server?.get('storage_short') ?? []).some(({ value }) => value === 1)
  return (
    <div class="overview-tiles">
      <Tile
        path="series"
        value={formatNumber(metrics.bookCount)}
        label={t('overview.books', { series: formatNumber(metrics.seriesCount) })}
      />
      <Tile
        path="admin/libraries"
        value={formatBytes(metrics.totalBookSize)}
        label={t('overview.size', { pages: formatNumber(metrics.pageCount) })}
      />
      <Tile
        path="admin/tasks"
        value={formatNumber(open)}
        label={t('overview.tasks', { count: open, running: formatNumber(tasks.processingCount) })}
      />
      <Tile
        path="admin/tasks?status=failed"
        value={formatNumber(tasks.failedCount)}
        label={t('overview.failedTasks', { count: tasks.failedCount })}
        isBad={tasks.failedCount > 0}
      />
      {errors !== undefined && (
        <Tile
          path="admin/errors"
          value={formatNumber(errors)}
          label={t('overview.errors', { count: errors })}
          isBad={errors > 0}
        />
      )}
      {free !== null && size !== null && (
        <Tile
          path="admin/health"
          value={formatBytes(free)}
          label={t('overview.disk', { size: formatBytes(size) })}
          isBad={isShort}
        />
      )}
      {can('UsersRead') && (
        <Tile
          path="admin/users"
          value={formatNumber(metrics.userCount)}
          label={t('overview.users', { count: metrics.userCount })}
        />
      )}
      {metrics.databaseSize > 0 && (
        <Tile
          path="admin/health"
          value={formatBytes(metrics.databaseSize)}
          label={t('overview.database')}
        />
      )}
    </div>
  )
}

type TileProps = { path: string; value: string; label: string; isBad?: boolean }

function Tile({ path, value, label, isBad = false }: TileProps) {
  return (
    <a class={`overview-tile card${isBad ? ' bad' : ''}`} href={href(path)}>
      <span class="overview-value">{value}</span>
      <span class="secondary-text">{label}</span>
    </a>
  )
}

type SectionProps = { title: string; children?: ComponentChildren }

const Section = ({ title, children }: SectionProps) => (
  <section class="stack admin-section">
    <h2>{title}</h2>
    {children}
  </section>
)

const nameOf = (libraries: readonly Library[], id: string | null) =>
  libraries.find(library => library.id === id)?.name

function ActiveScans({ libraries }: { libraries: readonly Library[] }) {
  const { scans } = useScans('active', signal => body(api.GET('/api/v1/scans/active', { signal })))
  const active = [...scans.values()].filter(isActive)
  return (
    <Section title={t('overview.scans')}>
      {active.length === 0 ? (
        <p class="secondary-text">{t('overview.noScans')}</p>
      ) : (
        <ul class="card overview-list">
          {active.map(scan => (
            <li key={scan.id}>
              <NameLink
                path={`admin/libraries/${scan.libraryId}`}
                name={nameOf(libraries, scan.libraryId) ?? '…'}
              />
              <ScanLine scan={scan} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

function LatestFailures({ libraries }: { libraries: readonly Library[] }) {
  const { data, reload } = useTasks({ status: 'failed' }, 1, { pageSize: 5 })
  if (!data || data.data.length === 0) return null
  return (
    <Section title={t('overview.failures')}>
      <ul class="task-list card">
        {data.data.map(task => (
          <TaskRow
            key={task.id}
            task={task}
            libraryName={nameOf(libraries, task.libraryId)}
            onChange={reload}
          />
        ))}
      </ul>
    </Section>
  )
}

const shownLibraries = 8

function LibrarySizes({ metrics: { libraries } }: { metrics: Metrics }) {
  if (libraries.length < 2) return null
  const largest = [...libraries].sort((a, b) => b.totalSize - a.totalSize)
  const most = largest[0]!.totalSize || 1
  return (
    <Section title={t('nav.libraries')}>
      <ul class="card overview-list">
        {largest.slice(0, shownLibraries).map(({ id, name, bookCount, totalSize }) => (
          <li key={id}>
            <NameLink path={`admin/libraries/${id}`} name={name} />
            <span class="secondary-text">
              {t('count.books', { count: bookCount })} · {formatBytes(totalSize)}
            </span>
            <span class="progress-bar" aria-hidden="true">
              <span style={{ width: `${(totalSize / most) * 100}%` }} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}
