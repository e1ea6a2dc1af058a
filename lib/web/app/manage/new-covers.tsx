// Live covers of a scan: new ones replace the oldest in place, a few at a time.
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, body } from '../api/client.ts'
import { useResource } from '../api/resource.ts'
import { useEvents } from '../api/use-events.ts'
import { Cover } from '../ui/cover.tsx'

const places = 24
const shownEveryMs = 700
/** Each image is a request, and pages being read have priority. */
const [maxAdded, maxReplaced] = [8, 4]

export function NewCovers({ libraryId }: { libraryId: string }) {
  const { data } = useResource(`new-covers:${libraryId}`, signal =>
    body(
      api.GET('/api/v1/libraries/{id}/books/recently-added', {
        params: { path: { id: libraryId }, query: { page: 1, pageSize: places } },
        signal,
      }),
    ),
  )
  const [shown, setShown] = useState<readonly string[]>([])
  const next = useRef(0)
  const arrived = useRef<string[]>([])
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => {
    if (!data) return
    const ids = data.data.filter(book => book.hasCover)
    setShown(previous => [...new Set([...previous, ...ids.map(book => book.id)])].slice(0, places))
  }, [data])
  useEffect(() => () => clearTimeout(timer.current), [])
  useEvents('events', event => {
    if (event.type !== 'cover_updated' || event.libraryId !== libraryId) return
    if (event.entityType !== 'book') return
    arrived.current = [...arrived.current, String(event.entityId)].slice(-maxAdded)
    timer.current ??= setTimeout(() => {
      timer.current = undefined
      const latest = arrived.current
      arrived.current = []
      setShown(previous => {
        const changed = [...previous]
        const isFull = changed.length >= places
        for (const id of latest.slice(isFull ? -maxReplaced : 0)) {
          if (changed.includes(id)) continue
          if (changed.length < places) changed.push(id)
          else changed[next.current++ % places] = id
        }
        return changed
      })
    }, shownEveryMs)
  })
  if (shown.length === 0) return null
  return (
    <div class="new-covers" aria-hidden="true">
      {shown.map((id, place) => (
        <div key={place} class="new-cover">
          <Cover key={id} owner="books" id={id} />
        </div>
      ))}
    </div>
  )
}
