// Scans in progress, updated by the event stream at most twice a second: stages with counts, rate and estimated time.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { Schemas } from '../api/client.ts'
import { useEvents } from '../api/events.ts'
import { type Resource, useResource } from '../api/resource.ts'
import { formatBytes, formatDuration, formatNumber, t } from '../text/translate.ts'
import { Icon } from '../ui/icon.tsx'
import { useSoon } from '../ui/timing.ts'

/** `failures` is a count; only the record has the texts of `errors`. */
export type Scan = Omit<Schemas['ScanStatus'], 'seriesFound' | 'booksFound' | 'errors'> & {
  errors: readonly string[]
}

const shownEveryMs = 500

/** Whether the scan has work left: covers and hashes follow its completion. */
export const isActive = ({ status, stage }: Scan): boolean =>
  status === 'pending' || status === 'running' || (status === 'completed' && stage !== 'done')

/** Absent from events if unknown. */
const counts = [
  'filesTotal',
  'filesProcessed',
  'filesPerSecond',
  'booksAdded',
  'booksChanged',
  'booksMoved',
  'booksMissing',
  'booksRestored',
  'seriesCreated',
  'bytesRead',
  'coversTotal',
  'coversMade',
  'hashesTotal',
  'hashesMade',
] as const

function countsOf(record: Record<string, unknown>): Record<string, number> {
  return Object.fromEntries(counts.map(name => [name, Number(record[name] ?? 0)]))
}

/** The scan in a `scan_progress` event, whose `errors` is a count. */
function scanOfEvent(event: Record<string, unknown>): Scan {
  return {
    ...event,
    ...countsOf(event),
    id: event.scanId,
    failures: Number(event.errors ?? 0),
    errors: [],
    secondsLeft: event.secondsLeft ?? null,
    stage: event.stage ?? 'waiting',
  } as unknown as Scan
}

type Known = { scan: Scan; at: number }
// A scan may start while covers of the previous one are still being created: that one is shown to its end.
const followedMs = 15_000
const allStages = ['waiting', 'discovering', 'reading', 'covers', 'hashing', 'done']

/** Progress of a scan, for comparing two states. */
function progressOf(scan: Scan): number {
  if (!isActive(scan)) return Number.POSITIVE_INFINITY
  return (
    allStages.indexOf(scan.stage) * 1e12 + scan.filesProcessed + scan.coversMade + scan.hashesMade
  )
}

/** The one of two scans of a library to show. Records and events may arrive in any order. */
function latestOf(known: Known | undefined, arrived: Known): Known {
  if (!known) return arrived
  if (known.scan.id === arrived.scan.id)
    return progressOf(arrived.scan) >= progressOf(known.scan) ? arrived : known
  if (isActive(known.scan) && arrived.at - known.at < followedMs) return known
  return arrived.scan.id > known.scan.id ? arrived : known
}

type Scans = Omit<Resource<unknown>, 'data' | 'replace'> & {
  /** The latest scan by library id. */
  scans: ReadonlyMap<string, Scan>
  isLoaded: boolean
}

/** The scans from `load` and all later ones, as they progress. */
export function useScans(
  key: string,
  load: (signal: AbortSignal) => Promise<{ data: Scan[] }>,
): Scans {
  const { data, error, isLoading, reload } = useResource(`scans:${key}`, load)
  const [known, setKnown] = useState<ReadonlyMap<string, Known>>(new Map())
  const waiting = useRef(new Map<string, Scan>())
  const add = (arrived: Iterable<Scan>) => {
    const at = Date.now()
    setKnown(previous => {
      const next = new Map(previous)
      for (const scan of arrived)
        next.set(scan.libraryId, latestOf(next.get(scan.libraryId), { scan, at }))
      return next
    })
  }
  const showSoon = useSoon(shownEveryMs, () => {
    const arrived = [...waiting.current.values()]
    waiting.current.clear()
    add(arrived)
  })
  useEffect(() => {
    if (data) add(data.data)
  }, [data])
  useEvents('scans', event => {
    if (event.type === 'resync') {
      setKnown(new Map())
      reload()
    }
    if (event.type === 'opened') reload()
    if (event.type !== 'scan_progress') return
    waiting.current.set(String(event.scanId), scanOfEvent(event))
    showSoon()
  })
  const scans = new Map([...known].map(([libraryId, { scan }]) => [libraryId, scan]))
  return { scans, isLoaded: data !== undefined, error, isLoading, reload }
}

/** Absent in events. */
type WithHost = { host?: string | null; pid?: number | null }

/** Host and process of a task or scan, which only administrators receive; empty if unknown. */
export const placeText = ({ host, pid }: WithHost): string =>
  host ? t('task.place', { host, pid: String(pid) }) : ''

const stages = ['discovering', 'reading', 'covers', 'hashing'] as const
type Stage = (typeof stages)[number]
type StageState = 'done' | 'current' | 'waiting'

/** Completed share of a stage, from 0 to 1; null if its total is unknown. */
function shareOf(scan: Scan, stage: Stage): number | null {
  const [made, total] = {
    discovering: [0, 0],
    reading: [scan.filesProcessed, scan.filesTotal],
    covers: [scan.coversMade, scan.coversTotal],
    hashing: [scan.hashesMade, scan.hashesTotal],
  }[stage] as [number, number]
  return total > 0 ? Math.min(1, made / total) : null
}

function stateOf(scan: Scan, stage: Stage): StageState {
  const current = scan.stage === 'done' ? stages.length : stages.indexOf(scan.stage as Stage)
  const position = stages.indexOf(stage)
  return position < current ? 'done' : position === current ? 'current' : 'waiting'
}

/** Seconds until the end of the current stage; null if unknown. */
function secondsLeft(scan: Scan): number | null {
  if (scan.secondsLeft !== null) return scan.secondsLeft
  if (scan.stage !== 'reading' || scan.filesPerSecond <= 0) return null
  return (scan.filesTotal - scan.filesProcessed) / scan.filesPerSecond
}

function countText(scan: Scan, stage: Stage, state: StageState): string {
  if (state === 'waiting') return ''
  if (stage === 'discovering') return t('count.files', { count: scan.filesTotal })
  const [made, total] = {
    reading: [scan.filesProcessed, scan.filesTotal],
    covers: [scan.coversMade, scan.coversTotal],
    hashing: [scan.hashesMade, scan.hashesTotal],
  }[stage] as [number, number]
  if (total === 0) return ''
  return state === 'done' ? formatNumber(total) : t('scan.of', { made, total })
}

export function ScanStages({ scan }: { scan: Scan }) {
  return (
    <ol class="card scan-stages">
      {stages.map(stage => (
        <StageRow key={stage} scan={scan} stage={stage} />
      ))}
    </ol>
  )
}

function StageRow({ scan, stage }: { scan: Scan; stage: Stage }) {
  const state = stateOf(scan, stage)
  const share = state === 'current' ? shareOf(scan, stage) : null
  return (
    <li class={`scan-stage ${state}`} aria-current={state === 'current' ? 'step' : undefined}>
      <span class="scan-stage-mark">{state === 'done' && <Icon name="check" size={14} />}</span>
      <div class="scan-stage-content">
        <div class="scan-stage-line">
          <span class="scan-stage-name">{t(`scan.stage.${stage}`)}</span>
          <span class="scan-stage-count">{countText(scan, stage, state)}</span>
        </div>
        {state === 'current' && <Bar share={share} label={t(`scan.stage.${stage}`)} />}
        {state === 'current' && <p class="scan-stage-rate">{rateText(scan)}</p>}
      </div>
    </li>
  )
}

/** `share` is null if unknown. */
export function Bar({ share, label }: { share: number | null; label: string }) {
  return (
    <div
      class={`progress-bar${share === null ? ' indeterminate' : ''}`}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={share === null ? undefined : Math.floor(share * 100)}
    >
      <span style={{ width: share === null ? '35%' : `${share * 100}%` }} />
    </div>
  )
}

/** Such as “240 files/s · 1.2 GB read · about 5 min left”. */
function rateText(scan: Scan): string {
  const left = secondsLeft(scan)
  const isReading = scan.stage === 'reading' || scan.stage === 'discovering'
  const parts = [
    isReading && scan.filesPerSecond > 0 && t('scan.rate', { rate: scan.filesPerSecond }),
    isReading && scan.bytesRead > 0 && t('scan.bytes', { size: formatBytes(scan.bytesRead) }),
    left !== null && t('scan.left', { time: formatDuration(Math.max(1, left)) }),
  ]
  return parts.filter(Boolean).join(' · ') || ' '
}

/** One line and a bar, for lists. */
export function ScanLine({ scan }: { scan: Scan }) {
  const stage = stages.find(name => name === scan.stage)
  const share = stage ? shareOf(scan, stage) : null
  const left = secondsLeft(scan)
  const name = t(stage ? `scan.stage.${stage}` : 'task.status.pending')
  const parts = [
    name,
    stage && countText(scan, stage, 'current'),
    left !== null && t('scan.left', { time: formatDuration(Math.max(1, left)) }),
  ]
  return (
    <div class="scan-line">
      <span>{parts.filter(Boolean).join(' · ')}</span>
      <Bar share={share} label={name} />
    </div>
  )
}

/** Result of a scan, such as “12 added, 3 changed”. */
export function resultText(scan: Scan): string {
  const parts = [
    scan.booksAdded > 0 && t('scan.added', { count: scan.booksAdded }),
    scan.booksChanged > 0 && t('scan.changed', { count: scan.booksChanged }),
    scan.booksMoved > 0 && t('scan.moved', { count: scan.booksMoved }),
    scan.booksMissing > 0 && t('scan.missing', { count: scan.booksMissing }),
    scan.booksRestored > 0 && t('scan.restored', { count: scan.booksRestored }),
    scan.failures > 0 && t('scan.failures', { count: scan.failures }),
  ].filter(Boolean)
  return parts.length > 0 ? parts.join(', ') : t('scan.nothingChanged')
}

/** Failure of the latest scan, with the server's message. */
export const failureOf = (scan: Scan): string | null =>
  !isActive(scan) && scan.status === 'failed' ? (scan.message ?? t('scan.failed')) : null

/** What a completed scan could not read, in the server's words. */
export const warningOf = (scan: Scan): string | null =>
  scan.status === 'completed' ? scan.message : null
