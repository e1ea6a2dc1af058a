// Reloading of lists after server events: soon after one, rarely while a scan sends thousands.
import { useEffect, useRef } from 'preact/hooks'
import { listen, type StreamEvent } from '../api/events.ts'
import type { PagedList } from './paged-list.ts'

const soonMs = 600
/** Minimum interval between reloads in milliseconds; grows during a stream of events, so that lists stay readable. */
const minIntervalMs = 3_000
const maxIntervalMs = 12_000

/** Calls `reload` after relevant events while the component is shown. */
export function useReloadOnEvents(matters: (event: StreamEvent) => boolean, reload: () => void) {
  const latest = useRef({ matters, reload })
  latest.current = { matters, reload }
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let last = 0
    let intervalMs = minIntervalMs
    const stop = listen('events', event => {
      if (event.type !== 'resync' && !latest.current.matters(event)) return
      timer ??= setTimeout(
        () => {
          timer = undefined
          const isBusy = Date.now() - last < 2 * intervalMs
          intervalMs = isBusy ? Math.min(maxIntervalMs, intervalMs * 1.5) : minIntervalMs
          last = Date.now()
          latest.current.reload()
        },
        Math.max(soonMs, last + intervalMs - Date.now()),
      )
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [])
}

/**
 * Reloads a series list after changes of series, reading progress, wanted items or ratings. `libraryId`: only this
 * library.
 */
export function useListEvents(list: PagedList<{ id: string }>, libraryId: string | null) {
  useReloadOnEvents(
    event => {
      // Lists may be filtered by wanted or rated, so any series may enter them.
      if (/^(?:want_to_read|rating)_updated$/.test(event.type)) return true
      if (event.type === 'progress_updated')
        return list.loaded().some(({ id }) => id === event.seriesId || id === event.bookId)
      if (!/^(?:series|book)_(?:created|updated|deleted)$/.test(event.type)) return false
      return libraryId === null || event.libraryId === undefined || event.libraryId === libraryId
    },
    () => list.reload(),
  )
}
