// Running scan of a new library, with its covers.
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { NewCovers } from '../manage/new-covers.tsx'
import { isActive, type Scan, useScans } from '../manage/scan.ts'
import { failureOf, ScanStages } from '../manage/scan-progress.tsx'
import { href } from '../routing/router.ts'
import { t } from '../text/translate.ts'
import { Button } from '../ui/button.tsx'
import { ErrorState } from '../ui/error-state.tsx'

export function FirstScan({ libraryId }: { libraryId: string }) {
  const params = { path: { id: libraryId } }
  const library = useResource(`library:${libraryId}`, signal =>
    body(api.GET('/api/v1/libraries/{id}', { params, signal })),
  )
  const { scans, isLoaded, error, reload } = useScans(libraryId, signal => {
    const query = { libraryId }
    return body(api.GET('/api/v1/scans/latest', { params: { query }, signal }))
  })
  // Watching starts with its own scan, which is irrelevant after the first one.
  const [ended, setEnded] = useState<Scan | null>(null)
  const scan = ended ?? scans.get(libraryId)
  const isRunning = scan !== undefined && isActive(scan)
  // The following scan retries failed files only when they change.
  const failures = useRef(0)
  failures.current = Math.max(failures.current, scan?.failures ?? 0)
  useEffect(library.reload, [isRunning])
  useEffect(() => {
    if (scan?.status === 'completed' && !isActive(scan)) setEnded(scan)
  }, [scan])
  const failed = library.error ?? error
  if (failed && !library.data) return <ErrorState error={failed} onRetry={library.reload} />
  if (!library.data) return null
  const start = async () => {
    await api.POST('/api/v1/libraries/{id}/scan', { params })
    reload()
  }
  const problem = scan ? failureOf(scan) : null
  const isStopped = scan?.status === 'cancelled' || problem !== null
  return (
    <>
      <header class="setup-header">
        <h1>{heading(scan, isLoaded)}</h1>
        <p class="secondary-text">
          <bdi>{library.data.name}</bdi>
        </p>
      </header>
      {problem !== null && (
        <p class="notice danger" role="alert">
          {problem}
        </p>
      )}
      {scan && !isStopped && <ScanStages scan={scan} />}
      {!isRunning && library.data.bookCount > 0 && <p>{counts(library.data)}</p>}
      <div class="setup-actions">
        <a class="button primary" href={href(`libraries/${libraryId}`)}>
          {t('setup.toLibrary')}
        </a>
        {(isStopped || (isLoaded && !scan)) && can('LibrariesWrite') && (
          <Button icon="refresh" onClick={start}>
            {t('scan.start')}
          </Button>
        )}
        {failures.current > 0 && (
          <a class="button" href={href(`admin/errors?library=${libraryId}`)}>
            {t('scan.failures', { count: failures.current })}
          </a>
        )}
        {!isRunning && can('LibrariesWrite') && (
          <a class="button" href={href('setup?add=1')}>
            {t('setup.addAnother')}
          </a>
        )}
      </div>
      <NewCovers libraryId={libraryId} />
    </>
  )
}

function heading(scan: Scan | undefined, isLoaded: boolean): string {
  if (!scan) return t(isLoaded ? 'libraries.notScanned' : 'setup.scanning')
  if (isActive(scan)) return t('setup.scanning')
  return t(scan.status === 'completed' ? 'setup.ready' : 'setup.stopped')
}

/** A scan after the first one (as watching starts) finds nothing new, so the library's counts are shown. */
const counts = ({ bookCount, seriesCount }: { bookCount: number; seriesCount: number }) =>
  `${t('count.series', { count: seriesCount })} · ${t('count.books', { count: bookCount })}`
