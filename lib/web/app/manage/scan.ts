// Scans in progress, followed by the event stream and shown at most twice a second.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Schemas } from '../api/client.ts'
import { type Resource, useResource } from '../api/resource.ts'
import { useEvents } from '../api/use-events.ts'

export type ScanStage = Schemas['ScanStatus']['stage']

export type Scan = {
  id: string
  libraryId: string
  status: Schemas['ScanStatus']['status']
  mode: Schemas['ScanStatus']['mode']
  stage: ScanStage
  filesTotal: number
  filesProcessed: number
  filesPerSecond: number
  booksAdded: number
  booksChanged: number
  booksMoved: number
  booksMissing: number
  booksRestored: number
  seriesCreated: number
  bytesRead: number
  failures: number
  coversTotal: number
  coversMade: number
  hashesTotal: number
  hashesMade: number
  /** Estimate for the current stage; null while there is none. */
  secondsLeft: number | null
  message: string | null
  startedAt: string
  completedAt: string | null
}

const shownEveryMs = 500

/** Whether anything of it is still to come: covers and hashes follow after the scan is completed. */
export const isActive = ({ status, stage }: Scan): boolean =>
  status === 'pending' || status === 'running' || (status === 'completed' && stage !== 'done')

type ScanRecord = Schemas['ScanStatus'] & Partial<Scan>

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

/** Of a record of the API. */
export const scanOf = (record: ScanRecord): Scan =>
  ({ ...record, ...countsOf(record), secondsLeft: record.secondsLeft ?? null }) as Scan

function countsOf(record: Record<string, unknown>): Record<string, number> {
  return Object.fromEntries(counts.map(name => [name, Number(record[name] ?? 0)]))
}

/** Of a `scan_progress` event. Its `errors` are a number. */
function scanOfEvent(event: Record<string, unknown>): Scan {
  return {
    ...event,
    ...countsOf(event),
    id: event.scanId,
    failures: Number(event.errors ?? 0),
    secondsLeft: event.secondsLeft ?? null,
    stage: event.stage ?? 'waiting',
  } as Scan
}

export type Scans = Omit<Resource<unknown>, 'data' | 'replace'> & {
  /** By id of the library: the latest scan. */
  scans: ReadonlyMap<string, Scan>
  isLoaded: boolean
}

/** The scans that `load` gives and all that start later, as they progress. */
export function useScans(key: string, load: (signal: AbortSignal) => Promise<Scan[]>): Scans {
  const { data, error, isLoading, reload } = useResource(`scans:${key}`, load)
  const [live, setLive] = useState<ReadonlyMap<string, Scan>>(new Map())
  const waiting = useRef(new Map<string, Scan>())
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  // What was loaded is newer than the events before it.
  useEffect(() => {
    waiting.current.clear()
    setLive(new Map())
  }, [data])
  useEvents('scans', event => {
    if (event.type === 'resync') return reload()
    if (event.type !== 'scan_progress') return
    waiting.current.set(String(event.libraryId), scanOfEvent(event))
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      const arrived = [...waiting.current]
      waiting.current.clear()
      setLive(previous => new Map([...previous, ...arrived]))
    }, shownEveryMs)
  })
  const scans = new Map([...(data ?? []).map(scan => [scan.libraryId, scan] as const), ...live])
  return { scans, isLoaded: data !== undefined, error, isLoading, reload }
}
