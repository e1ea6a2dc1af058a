// Library notices: unresponsive folders, running scans, nothing to show.
import { useEffect, useState } from 'preact/hooks'
import type { Schemas } from '../api/client.ts'
import { useEvents } from '../api/events.ts'
import { useLibraries } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { formatNumber, t } from '../text/translate.ts'
import { ButtonLink } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { EmptyState } from '../ui/state.tsx'

export function LibraryNotices({ libraries }: { libraries: readonly Schemas['Library'][] }) {
  const scans = useRunningScans()
  return (
    <div class="browse-notices">
      {libraries
        .filter(({ isResponding }) => !isResponding)
        .map(library => (
          <MountNotice key={library.id} library={library} />
        ))}
      {libraries.map(library => {
        const scan = scans.get(library.id)
        return scan && <ScanNotice key={`scan ${library.id}`} library={library} scan={scan} />
      })}
    </div>
  )
}

function MountNotice({ library }: { library: Schemas['Library'] }) {
  const isAdministrator = can('LibrariesWrite')
  return (
    <div class="row card browse-notice danger" role="alert">
      <Icon name="error" />
      <div>
        <strong>{t('libraries.unavailable', { name: library.name })}</strong>
        <p>
          {isAdministrator
            ? t('libraries.unavailableAdmin', { path: library.path })
            : t('libraries.unavailableReader')}
        </p>
      </div>
      {isAdministrator && <ButtonLink path="admin/health" text={t('admin.health')} />}
    </div>
  )
}

type RunningScan = { stage: string; done: number; total: number }

/** Running scans by library. */
function useRunningScans(): ReadonlyMap<string, RunningScan> {
  const [scans, setScans] = useState<ReadonlyMap<string, RunningScan>>(new Map())
  useEvents('scans', event => {
    if (event.type === 'resync') return
    const { libraryId, status, stage } = event as { [name: string]: unknown }
    const isRunning =
      status === 'pending' || status === 'running' || stage === 'covers' || stage === 'hashing'
    setScans(known => {
      const next = new Map(known)
      next.delete(String(libraryId))
      if (isRunning) next.set(String(libraryId), scanOf(event))
      return next
    })
  })
  // The end of a scan may have been missed while the connection was lost.
  useEffect(() => {
    if (scans.size === 0) return
    const timer = setTimeout(() => setScans(new Map()), 120_000)
    return () => clearTimeout(timer)
  }, [scans])
  return scans
}

function scanOf(event: Record<string, unknown>): RunningScan {
  const stage = String(event.stage ?? 'waiting')
  const [done, total] =
    stage === 'covers'
      ? [event.coversMade, event.coversTotal]
      : stage === 'hashing'
        ? [event.hashesMade, event.hashesTotal]
        : [event.filesProcessed, event.filesTotal]
  return { stage, done: Number(done ?? 0), total: Number(total ?? 0) }
}

function ScanNotice({ library, scan }: { library: Schemas['Library']; scan: RunningScan }) {
  const { stage, done, total } = scan
  const isMeasured = stage !== 'discovering' && stage !== 'waiting' && total > 0
  return (
    <div class="row card browse-notice">
      <Icon name="refresh" />
      <div>
        <strong>{t('libraries.scanning', { name: library.name })}</strong>
        <p>
          {isMeasured
            ? t('libraries.scanCount', { done: formatNumber(done), total: formatNumber(total) })
            : t('libraries.scanSearching')}
        </p>
        {isMeasured && (
          <span class="progress-bar">
            <span style={{ width: `${Math.min(100, (done / total) * 100)}%` }} />
          </span>
        )}
      </div>
      {can('TasksRead') && <ButtonLink path="admin/tasks" text={t('admin.tasks')} />}
    </div>
  )
}

/** For a library or server without series. `libraryId`: null for all libraries. */
export function NoSeries({ libraryId }: { libraryId: string | null }) {
  const libraries = useLibraries().data
  if (!libraries) return null
  const isAdministrator = can('LibrariesWrite')
  if (libraries.length === 0)
    return (
      <EmptyState
        icon="library"
        title={t('home.noLibraries')}
        text={t(isAdministrator ? 'home.noLibrariesAdmin' : 'home.noLibrariesReader')}
        action={
          isAdministrator && (
            <ButtonLink path="admin/libraries" class="primary" text={t('home.addLibrary')} />
          )
        }
      />
    )
  const isScanned = libraries
    .filter(({ id }) => libraryId === null || id === libraryId)
    .some(({ lastScannedAt }) => lastScannedAt !== null)
  return (
    <EmptyState
      icon="library"
      title={t('browse.empty')}
      text={t(isScanned ? 'browse.emptyScanned' : 'browse.emptyUnscanned')}
      action={
        isAdministrator && (
          <ButtonLink
            path={`admin/libraries${libraryId === null ? '' : `/${libraryId}`}`}
            text={t('browse.openSettings')}
          />
        )
      }
    />
  )
}
