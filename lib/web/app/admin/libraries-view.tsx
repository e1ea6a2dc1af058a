// Libraries with their state: counts, watching, next scan, latest scan, unavailable folders.
import { api, body } from '../api/client.ts'
import { ApiError } from '../api/errors.ts'
import { useEvents } from '../api/events.ts'
import { type Library, useLibraries } from '../api/resource.ts'
import { cronText } from '../manage/cron.ts'
import {
  failureOf,
  isActive,
  placeText,
  resultText,
  type Scan,
  ScanLine,
  useScans,
  warningOf,
} from '../manage/scan.tsx'
import { href } from '../routing/router.ts'
import { formatRelative, t } from '../text/translate.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { Cover } from '../ui/cover.tsx'
import { FilePath } from '../ui/name.tsx'
import { EmptyState, ErrorState } from '../ui/state.tsx'
import { useSoon } from '../ui/timing.ts'
import { showNotice } from '../ui/toast.tsx'
import { AdminFrame } from './admin-frame.tsx'
import { libraryProblem } from './server-metrics.ts'

const reloadMs = 2_000

export function View() {
  const { data, error, reload } = useLibraries()
  const latest = useScans('latest', signal => body(api.GET('/api/v1/scans/latest', { signal })))
  const reloadSoon = useSoon(reloadMs, reload)
  useEvents('events', event => {
    if (event.type.startsWith('library_') || event.type === 'resync') reloadSoon()
  })
  const add = (
    <ButtonLink path="admin/libraries/new" icon="add" class="primary" text={t('library.add')} />
  )
  return (
    <AdminFrame title={t('nav.libraries')} actions={add}>
      {error && !data && <ErrorState error={error} onRetry={reload} />}
      {data?.length === 0 && (
        <EmptyState icon="library" title={t('admin.noLibrary')} text={t('setup.libraryText')} />
      )}
      {data && data.length > 0 && (
        <ul class="library-list">
          {data.map(library => (
            <LibraryCard
              key={library.id}
              library={library}
              scan={latest.scans.get(library.id)}
              onStarted={latest.reload}
            />
          ))}
        </ul>
      )}
    </AdminFrame>
  )
}

type LibraryCardProps = { library: Library; scan: Scan | undefined; onStarted: () => void }

function LibraryCard({ library, scan, onStarted }: LibraryCardProps) {
  const { id, name, path, bookCount, seriesCount } = library
  const isRunning = scan !== undefined && isActive(scan)
  const problem = libraryProblem(library, { scan })
  const warning = scan ? warningOf(scan) : null
  return (
    <li class="library-card card">
      <div class="cover-box">
        <Cover owner="libraries" id={id} />
      </div>
      <div class="library-main">
        <h2>
          <a class="library-name" href={href(`admin/libraries/${id}`)}>
            <bdi>{name}</bdi>
          </a>
        </h2>
        <FilePath path={path} />
        <p class="secondary-text">
          {`${t('count.series', { count: seriesCount })} · ${t('count.books', { count: bookCount })}`}
        </p>
        {problem !== null && <p class="notice danger">{problem}</p>}
        {warning !== null && <p class="notice">{warning}</p>}
        {isRunning ? (
          <ScanLine scan={scan} />
        ) : (
          <p class="secondary-text">{latestText(library, scan)}</p>
        )}
        <Marks library={library} />
      </div>
      <div class="library-actions">
        <Button
          class="small"
          icon="refresh"
          text={t('scan.start')}
          disabled={isRunning}
          onClick={() => startScan(id, 'normal', onStarted)}
        />
        <ButtonLink
          path={`admin/libraries/${id}`}
          icon="settings"
          class="small"
          text={t('library.options')}
        />
      </div>
    </li>
  )
}

function latestText(library: Library, scan: Scan | undefined): string {
  if (scan) {
    const failure = failureOf(scan)
    const result = failure ?? (scan.status === 'cancelled' ? t('scan.cancelled') : resultText(scan))
    const time = formatRelative(scan.completedAt ?? scan.startedAt)
    return `${[time, placeText(scan)].filter(Boolean).join(' · ')}: ${result}`
  }
  return library.lastScannedAt === null ? t('libraries.notScanned') : ''
}

/** Watch mode and next scan. */
export function Marks({ library }: { library: Library }) {
  const { id, watchState, scanningConfig, nextScanAt } = library
  const isDegraded = watchState.message !== null
  const cron = scanningConfig?.enabled ? scanningConfig.cronSchedule : null
  return (
    <div class="library-marks">
      <a
        href={href(`admin/libraries/${id}`)}
        class={`badge ${isDegraded ? 'danger' : watchState.mode === 'off' ? '' : 'success'}`}
        title={watchState.message ?? undefined}
      >
        {t(`library.watch.${watchState.mode}`)}
        {isDegraded && `: ${watchState.message}`}
      </a>
      {cron && (
        <span class="badge">
          {cronText(cron)}
          {nextScanAt && ` · ${t('library.nextScan', { time: formatRelative(nextScanAt) })}`}
        </span>
      )}
    </div>
  )
}

/** Throws ApiError, but not if a scan is already running. */
export async function startScan(
  id: string,
  mode: 'normal' | 'deep',
  onStarted: () => void,
): Promise<void> {
  try {
    await api.POST('/api/v1/libraries/{id}/scan', { params: { path: { id }, query: { mode } } })
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
    showNotice(t('scan.running'))
  }
  onStarted()
}

/** Throws ApiError. */
export async function cancelScan(id: string): Promise<void> {
  try {
    await api.POST('/api/v1/libraries/{id}/scan/cancel', { params: { path: { id } } })
  } catch (error) {
    // It has already ended.
    if (!(error instanceof ApiError) || error.status !== 404) throw error
  }
}
