// Overview of the administration: inventory, queue, errors, disk space, active scans, latest failures.
import { api, body, type Schemas } from '../api/client.ts'
import { haveLoaded, useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { isActive, useScans } from '../manage/scan.ts'
import { ScanLine } from '../manage/scan-progress.ts'
import { href } from '../routing/router.ts'
import { formatBytes, formatNumber, t } from '../text/translate.ts'
import { EmptyState } from '../ui/empty-state.ts'
import { ErrorState } from '../ui/error-state.ts'
import { type ComponentChildren, h } from '../ui/h.ts'
import { Loading } from '../ui/loading.ts'
import { AdminFrame } from './admin-frame.ts'
import { libraryProblem } from './library-problem.ts'
import { loadServerMetrics, metricOf, type ServerMetrics } from './server-metrics.ts'
import { TaskRow } from './task-row.ts'
import { useInterval } from './use-interval.ts'
import { type Library, useLibraries } from './use-libraries.ts'
import { useTasks } from './use-tasks.ts'

type Metrics = Schemas['Metrics']
const reloadMs = 10_000

export function View() {
  // The other representation is the text for Prometheus.
  const metrics = useResource('metrics', async signal => {
    return (await body(api.GET('/api/v1/metrics', { signal }))) as Metrics
  })
  const server = useResource('server-metrics', loadServerMetrics)
  const health = useResource('health-summary', signal =>
    body(api.GET('/api/v1/health', { signal })),
  )
  const errors = useResource('error-count', signal =>
    body(api.GET('/api/v1/books/errors', { params: { query: { pageSize: 1 } }, signal })),
  )
  const libraries = useLibraries()
  useInterval(() => {
    for (const resource of [metrics, server, health, errors, libraries]) resource.reload()
  }, reloadMs)
  if (metrics.error && !metrics.data)
    return h(
      AdminFrame,
      { title: t('admin.overview') },
      h(ErrorState, { error: metrics.error, onRetry: metrics.reload }),
    )
  if (!haveLoaded(metrics, server, health, errors, libraries))
    return h(AdminFrame, { title: t('admin.overview'), children: h(Loading, null) })
  return h(
    AdminFrame,
    { title: t('admin.overview'), subtitle: h(HealthBadge, { health: health.data }) },
    libraries.data?.length === 0 && h(NoLibrary, null),
    h(Problems, { libraries: libraries.data ?? [], metrics: server.data }),
    metrics.data &&
      h(Tiles, {
        metrics: metrics.data,
        server: server.data,
        errors: errors.data?.total,
      }),
    h(
      'div',
      { class: 'overview-columns' },
      h(ActiveScans, { libraries: libraries.data ?? [] }),
      can('TasksRead') && h(LatestFailures, { libraries: libraries.data ?? [] }),
      metrics.data && h(LibrarySizes, { metrics: metrics.data }),
    ),
  )
}

function HealthBadge({ health }: { health: Schemas['Health'] | undefined }) {
  if (!health) return null
  const state = health.status
  return h(
    'a',
    { href: href('admin/health'), class: 'overview-health' },
    h('span', { class: `badge ${state === 'ok' ? 'success' : 'danger'}` }, t(`health.${state}`)),
    health.message ?? t('health.version.is', { version: health.version }),
  )
}

const NoLibrary = () =>
  h(EmptyState, {
    icon: 'library',
    title: t('admin.noLibrary'),
    text: t('setup.libraryText'),
    action: h(
      'a',
      { class: 'button primary', href: href('admin/libraries/new') },
      t('library.add'),
    ),
  })

type ProblemsProps = { libraries: readonly Library[]; metrics: ServerMetrics | undefined }

function Problems({ libraries, metrics }: ProblemsProps) {
  return libraries.flatMap(library => {
    const text = libraryProblem(library, { metrics })
    if (text === null) return []
    const link = h(
      'a',
      { href: href(`admin/libraries/${library.id}`) },
      h('bdi', null, library.name),
    )
    return [h('p', { class: 'notice danger', key: library.id }, link, `: ${text}`)]
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
  return h(
    'div',
    { class: 'overview-tiles' },
    h(Tile, {
      path: 'series',
      value: formatNumber(metrics.bookCount),
      label: t('overview.books', { series: formatNumber(metrics.seriesCount) }),
    }),
    h(Tile, {
      path: 'admin/libraries',
      value: formatBytes(metrics.totalBookSize),
      label: t('overview.size', { pages: formatNumber(metrics.pageCount) }),
    }),
    h(Tile, {
      path: 'admin/tasks',
      value: formatNumber(open),
      label: t('overview.tasks', { count: open, running: formatNumber(tasks.processingCount) }),
    }),
    h(Tile, {
      path: 'admin/tasks?status=failed',
      value: formatNumber(tasks.failedCount),
      label: t('overview.failedTasks', { count: tasks.failedCount }),
      isBad: tasks.failedCount > 0,
    }),
    errors !== undefined &&
      h(Tile, {
        path: 'admin/errors',
        value: formatNumber(errors),
        label: t('overview.errors', { count: errors }),
        isBad: errors > 0,
      }),
    free !== null &&
      size !== null &&
      h(Tile, {
        path: 'admin/health',
        value: formatBytes(free),
        label: t('overview.disk', { size: formatBytes(size) }),
        isBad: isShort,
      }),
    can('UsersRead') &&
      h(Tile, {
        path: 'admin/users',
        value: formatNumber(metrics.userCount),
        label: t('overview.users', { count: metrics.userCount }),
      }),
    metrics.databaseSize > 0 &&
      h(Tile, {
        path: 'admin/health',
        value: formatBytes(metrics.databaseSize),
        label: t('overview.database'),
      }),
  )
}

type TileProps = { path: string; value: string; label: string; isBad?: boolean }

function Tile({ path, value, label, isBad = false }: TileProps) {
  return h(
    'a',
    { class: `overview-tile card${isBad ? ' bad' : ''}`, href: href(path) },
    h('span', { class: 'overview-value' }, value),
    h('span', { class: 'secondary-text' }, label),
  )
}

type SectionProps = { title: string; children?: ComponentChildren }

const Section = ({ title, children }: SectionProps) =>
  h('section', { class: 'admin-section' }, h('h2', null, title), children)

const nameOf = (libraries: readonly Library[], id: string | null) =>
  libraries.find(library => library.id === id)?.name

function ActiveScans({ libraries }: { libraries: readonly Library[] }) {
  const { scans } = useScans('active', signal => body(api.GET('/api/v1/scans/active', { signal })))
  const active = [...scans.values()].filter(isActive)
  return h(
    Section,
    { title: t('overview.scans') },
    active.length === 0
      ? h('p', { class: 'secondary-text' }, t('overview.noScans'))
      : h(
          'ul',
          { class: 'card overview-list' },
          active.map(scan =>
            h(
              'li',
              { key: scan.id },
              h(
                'a',
                { href: href(`admin/libraries/${scan.libraryId}`) },
                h('bdi', null, nameOf(libraries, scan.libraryId) ?? '…'),
              ),
              h(ScanLine, { scan }),
            ),
          ),
        ),
  )
}

function LatestFailures({ libraries }: { libraries: readonly Library[] }) {
  const { data, reload } = useTasks({ status: 'failed' }, 1, { pageSize: 5 })
  if (!data || data.data.length === 0) return null
  return h(
    Section,
    { title: t('overview.failures') },
    h(
      'ul',
      { class: 'task-list card' },
      data.data.map(task =>
        h(TaskRow, {
          task,
          libraryName: nameOf(libraries, task.libraryId),
          onChange: reload,
          key: task.id,
        }),
      ),
    ),
  )
}

const shownLibraries = 8

function LibrarySizes({ metrics: { libraries } }: { metrics: Metrics }) {
  if (libraries.length < 2) return null
  const largest = [...libraries].sort((a, b) => b.totalSize - a.totalSize)
  const most = largest[0]!.totalSize || 1
  return h(
    Section,
    { title: t('nav.libraries') },
    h(
      'ul',
      { class: 'card overview-list' },
      largest
        .slice(0, shownLibraries)
        .map(({ id, name, bookCount, totalSize }) =>
          h(
            'li',
            { key: id },
            h('a', { href: href(`admin/libraries/${id}`) }, h('bdi', null, name)),
            h(
              'span',
              { class: 'secondary-text' },
              `${t('count.books', { count: bookCount })} · ${formatBytes(totalSize)}`,
            ),
            h(
              'span',
              { class: 'progress-bar', 'aria-hidden': 'true' },
              h('span', { style: { width: `${(totalSize / most) * 100}%` } }),
            ),
          ),
        ),
    ),
  )
}
