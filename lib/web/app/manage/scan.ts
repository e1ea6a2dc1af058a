// Scans in progress, followed by the event stream and shown at most twice a second.
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Schemas } from '../api/client.ts'
import { type Resource, useResource } from '../api/resource.ts'
import { useEvents } from '../api/use-events.ts'

export type ScanStage = Schemas['ScanStatus']['stage']

/** Its `failures` are a number of files; the texts of `errors` come with the record only. */
export type Scan = Omit<Schemas['ScanStatus'], 'seriesFound' | 'booksFound' | 'errors'> & {
  errors: readonly string[]
}

const shownEveryMs = 500

/** Whether anything of it is still to come: covers and hashes follow after the scan is completed. */
export const isActive = ({ status, stage }: Scan): boolean =>
  status === 'pending' || status === 'running' || (status === 'completed' && stage !== 'done')

/** Absent from events where they are unknown. */
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

/** Of a `scan_progress` event. Its `errors` are a number. */
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
