// Reloading of lists after events of the server: soon after one, seldom while a scan sends thousands.
import { useEffect, useRef } from 'preact/hooks'
import { listen } from '../api/events.ts'
import type { PagedList } from './paged-list.ts'

type Event = Parameters<Parameters<typeof listen>[1]>[0]

const soonMs = 600
/** At most one reload in as many milliseconds. */
const leastMs = 3_000

/** Calls `reload` after events that matter, while the component is shown. */
export function useReloadOnEvents(matters: (event: Event) => boolean, reload: () => void) {
  const latest = useRef({ matters, reload })
  latest.current = { matters, reload }
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let last = 0
    const stop = listen('events', event => {
      if (event.type !== 'resync' && !latest.current.matters(event)) return
      timer ??= setTimeout(
        () => {
          timer = undefined
          last = Date.now()
          latest.current.reload()
        },
        Math.max(soonMs, last + leastMs - Date.now()),
      )
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [])
}

/** Reloads a list of series after changes of series or of reading progress. `libraryId`: of this library alone. */
export function useListEvents(list: PagedList<{ id: string }>, libraryId: string | null) {
  useReloadOnEvents(
    event => {
      if (event.type === 'progress_updated')
        return list.loaded().some(({ id }) => id === event.seriesId || id === event.bookId)
      if (!/^(?:series|book)_(?:created|updated|deleted)$/.test(event.type)) return false
      return libraryId === null || event.libraryId === undefined || event.libraryId === libraryId
    },
    () => list.reload(),
  )
}
