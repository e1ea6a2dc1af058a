// Running scan of a new library, with its covers.
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { can } from '../api/session.ts'
import { useGet } from '../api/use-get.ts'
import { NewCovers } from '../manage/new-covers.tsx'
import { isActive, type Scan, useScans } from '../manage/scan.ts'
import { failureOf, ScanStages } from '../manage/scan-progress.tsx'
import { t } from '../text/translate.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { ErrorState } from '../ui/state.tsx'

export function FirstScan({ libraryId }: { libraryId: string }) {
  const params = { path: { id: libraryId } }
  const library = useGet('/api/v1/libraries/{id}', params)
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
        <ButtonLink path={`libraries/${libraryId}`} class="primary" text={t('setup.toLibrary')} />
        {(isStopped || (isLoaded && !scan)) && can('LibrariesWrite') && (
          <Button icon="refresh" text={t('scan.start')} onClick={start} />
        )}
        {failures.current > 0 && (
          <ButtonLink
            path={`admin/errors?library=${libraryId}`}
            text={t('scan.failures', { count: failures.current })}
          />
        )}
        {!isRunning && can('LibrariesWrite') && (
          <ButtonLink path="setup?add=1" text={t('setup.addAnother')} />
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
