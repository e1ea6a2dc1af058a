// The scan of a new library as it runs, with the covers that it makes.
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { NewCovers } from '../manage/new-covers.ts'
import { isActive, type Scan, useScans } from '../manage/scan.ts'
import { failureOf, ScanStages } from '../manage/scan-progress.ts'
import { href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.ts'
import { ErrorState } from '../ui/error-state.ts'
import { h } from '../ui/h.ts'

export function FirstScan({ libraryId }: { libraryId: string }) {
  const params = { path: { id: libraryId } }
  const library = useResource(`library:${libraryId}`, signal =>
    body(api.GET('/api/v1/libraries/{id}', { params, signal })),
  )
  const { scans, isLoaded, error, reload } = useScans(libraryId, signal => {
    const query = { libraryId }
    return body(api.GET('/api/v1/scans/latest', { params: { query }, signal }))
  })
  // Watching starts with a scan of its own, which is of no interest after the first one.
  const [ended, setEnded] = useState<Scan | null>(null)
  const scan = ended ?? scans.get(libraryId)
  const isRunning = scan !== undefined && isActive(scan)
  // The one that takes its place tries the failed files again only when they change.
  const failures = useRef(0)
  failures.current = Math.max(failures.current, scan?.failures ?? 0)
  useEffect(library.reload, [isRunning])
  useEffect(() => {
    if (scan?.status === 'completed' && !isActive(scan)) setEnded(scan)
  }, [scan])
  const failed = library.error ?? error
  if (failed && !library.data) return h(ErrorState, { error: failed, onRetry: library.reload })
  if (!library.data) return null
  const start = async () => {
    await api.POST('/api/v1/libraries/{id}/scan', { params })
    reload()
  }
  const problem = scan ? failureOf(scan) : null
  const isStopped = scan?.status === 'cancelled' || problem !== null
  return [
    h(
      'header',
      { class: 'setup-header', key: 'header' },
      h('h1', null, heading(scan, isLoaded)),
      h('p', { class: 'secondary-text' }, h('bdi', null, library.data.name)),
    ),
    problem !== null && h('p', { class: 'notice danger', role: 'alert', key: 'problem' }, problem),
    scan && !isStopped && h(ScanStages, { scan, key: 'stages' }),
    !isRunning && library.data.bookCount > 0 && h('p', { key: 'counts' }, counts(library.data)),
    h(
      'div',
      { class: 'setup-actions', key: 'actions' },
      h(
        'a',
        { class: 'button primary', href: href(`libraries/${libraryId}`) },
        t('setup.toLibrary'),
      ),
      (isStopped || (isLoaded && !scan)) &&
        can('LibrariesWrite') &&
        h(Button, { icon: 'refresh', onClick: start }, t('scan.start')),
      failures.current > 0 &&
        h(
          'a',
          { class: 'button', href: href(`admin/errors?library=${libraryId}`) },
          t('scan.failures', { count: failures.current }),
        ),
      !isRunning &&
        can('LibrariesWrite') &&
        h('a', { class: 'button', href: href('setup?add=1') }, t('setup.addAnother')),
    ),
    h(NewCovers, { libraryId, key: 'covers' }),
  ]
}

function heading(scan: Scan | undefined, isLoaded: boolean): string {
  if (!scan) return t(isLoaded ? 'setup.notScanned' : 'setup.scanning')
  if (isActive(scan)) return t('setup.scanning')
  return t(scan.status === 'completed' ? 'setup.ready' : 'setup.stopped')
}

/** A scan that follows the first one, as watching starts, finds nothing new: the counts are those of the library. */
const counts = ({ bookCount, seriesCount }: { bookCount: number; seriesCount: number }) =>
  `${t('count.series', { count: seriesCount })} · ${t('count.books', { count: bookCount })}`
