// Libraries with their state: counts, watching, next scan, latest scan, folders that are away.

import { api, body } from '../api/client.ts'
import { useEvents } from '../api/use-events.ts'
import { cronText } from '../manage/cron.ts'
import { placeText } from '../manage/place.ts'
import { isActive, type Scan, useScans } from '../manage/scan.ts'
import { failureOf, resultText, ScanLine } from '../manage/scan-progress.ts'
import { href } from '../routing/router.ts'
import { formatRelative, t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { Cover } from '../ui/cover.ts'
import { EmptyState } from '../ui/empty-state.ts'
import { ErrorState } from '../ui/error-state.ts'
import { h } from '../ui/h.ts'
import { Icon } from '../ui/icon.ts'
import { AdminFrame } from './admin-frame.ts'
import { libraryProblem } from './library-problem.ts'
import { startScan } from './scan-actions.ts'
import { type Library, useLibraries } from './use-libraries.ts'
import { useSoon } from './use-tasks.ts'

const reloadMs = 2_000

export function View() {
  const { data, error, reload } = useLibraries()
  const latest = useScans('latest', signal => body(api.GET('/api/v1/scans/latest', { signal })))
  const reloadSoon = useSoon(reloadMs, reload)
  useEvents('events', event => {
    if (event.type.startsWith('library_') || event.type === 'resync') reloadSoon()
  })
  const add = h(
    'a',
    { class: 'button primary', href: href('admin/libraries/new') },
    h(Icon, { name: 'add' }),
    t('library.add'),
  )
  return h(
    AdminFrame,
    { title: t('nav.libraries'), actions: add },
    error && !data && h(ErrorState, { error, onRetry: reload }),
    data?.length === 0 &&
      h(EmptyState, { icon: 'library', title: t('admin.noLibrary'), text: t('setup.libraryText') }),
    data &&
      data.length > 0 &&
      h(
        'ul',
        { class: 'library-list' },
        data.map(library =>
          h(LibraryCard, {
            library,
            scan: latest.scans.get(library.id),
            onStarted: latest.reload,
            key: library.id,
          }),
        ),
      ),
  )
}

type LibraryCardProps = { library: Library; scan: Scan | undefined; onStarted: () => void }

function LibraryCard({ library, scan, onStarted }: LibraryCardProps) {
  const { id, name, path, bookCount, seriesCount } = library
  const isRunning = scan !== undefined && isActive(scan)
  const problem = libraryProblem(library, { scan })
  return h(
    'li',
    { class: 'library-card card' },
    h('div', { class: 'library-cover' }, h(Cover, { owner: 'libraries', id })),
    h(
      'div',
      { class: 'library-main' },
      h(
        'h2',
        null,
        h(
          'a',
          { class: 'library-name', href: href(`admin/libraries/${id}`) },
          h('bdi', null, name),
        ),
      ),
      h('code', { class: 'file-path', dir: 'ltr' }, path),
      h(
        'p',
        { class: 'secondary-text' },
        `${t('count.series', { count: seriesCount })} · ${t('count.books', { count: bookCount })}`,
      ),
      problem !== null && h('p', { class: 'notice danger' }, problem),
      isRunning
        ? h(ScanLine, { scan })
        : h('p', { class: 'secondary-text' }, latestText(library, scan)),
      h(Marks, { library }),
    ),
    h(
      'div',
      { class: 'library-actions' },
      h(
        Button,
        {
          class: 'small',
          icon: 'refresh',
          disabled: isRunning,
          onClick: () => startScan(id, 'normal', onStarted),
        },
        t('scan.start'),
      ),
      h(
        'a',
        { class: 'button small', href: href(`admin/libraries/${id}`) },
        h(Icon, { name: 'settings' }),
        t('library.options'),
      ),
    ),
  )
}

function latestText(library: Library, scan: Scan | undefined): string {
  if (scan) {
    const failure = failureOf(scan)
    const result = failure ?? (scan.status === 'cancelled' ? t('scan.cancelled') : resultText(scan))
    const time = formatRelative(scan.completedAt ?? scan.startedAt)
    return `${[time, placeText(scan)].filter(Boolean).join(' · ')}: ${result}`
  }
  return library.lastScannedAt === null ? t('setup.notScanned') : ''
}

/** How it is watched, and when it is scanned next. */
export function Marks({ library }: { library: Library }) {
  const { watchState, scanningConfig, nextScanAt } = library
  const isDegraded = watchState.message !== null
  const cron = scanningConfig?.enabled ? scanningConfig.cronSchedule : null
  return h(
    'div',
    { class: 'library-marks' },
    h(
      'span',
      {
        class: `badge ${isDegraded ? 'danger' : watchState.mode === 'off' ? '' : 'success'}`,
        title: watchState.message ?? undefined,
      },
      t(`library.watch.${watchState.mode}`),
      isDegraded && `: ${watchState.message}`,
    ),
    cron &&
      h(
        'span',
        { class: 'badge' },
        cronText(cron),
        nextScanAt && ` · ${t('library.nextScan', { time: formatRelative(nextScanAt) })}`,
      ),
  )
}
