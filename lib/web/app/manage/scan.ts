// Scans in progress, updated by the event stream at most twice a second.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Schemas } from '../api/client.ts'
import { useEvents } from '../api/events.ts'
import { type Resource, useResource } from '../api/resource.ts'
import { t } from '../text/translate.ts'
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
const stages = ['waiting', 'discovering', 'reading', 'covers', 'hashing', 'done']

/** Progress of a scan, for comparing two states. */
function progressOf(scan: Scan): number {
  if (!isActive(scan)) return Number.POSITIVE_INFINITY
  return stages.indexOf(scan.stage) * 1e12 + scan.filesProcessed + scan.coversMade + scan.hashesMade
}

/** The one of two scans of a library to show. Records and events may arrive in any order. */
function latestOf(known: Known | undefined, arrived: Known): Known {
  if (!known) return arrived
  if (known.scan.id === arrived.scan.id)
    return progressOf(arrived.scan) >= progressOf(known.scan) ? arrived : known
  if (isActive(known.scan) && arrived.at - known.at < followedMs) return known
  return arrived.scan.id > known.scan.id ? arrived : known
}

export type Scans = Omit<Resource<unknown>, 'data' | 'replace'> & {
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
