// Live covers of a scan: new ones replace the oldest in place, a few at a time.
import { useEffect, useRef, useState } from 'preact/hooks'
import { useEvents } from '../api/events.ts'
import { useGet } from '../api/resource.ts'
import { Cover } from '../ui/cover.tsx'
import { useSoon } from '../ui/timing.ts'

const places = 24
const shownEveryMs = 700
/** Each image is a request, and pages being read have priority. */
const [maxAdded, maxReplaced] = [8, 4]

export function NewCovers({ libraryId }: { libraryId: string }) {
  const params = { path: { id: libraryId }, query: { page: 1, pageSize: places } }
  const { data } = useGet('/api/v1/libraries/{id}/books/recently-added', params)
  const [shown, setShown] = useState<readonly string[]>([])
  const next = useRef(0)
  const arrived = useRef<string[]>([])
  useEffect(() => {
    if (!data) return
    const ids = data.data.filter(book => book.hasCover)
    setShown(previous => [...new Set([...previous, ...ids.map(book => book.id)])].slice(0, places))
  }, [data])
  const showSoon = useSoon(shownEveryMs, () => {
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
  })
  useEvents('events', event => {
    if (event.type !== 'cover_updated' || event.libraryId !== libraryId) return
    if (event.entityType !== 'book') return
    arrived.current = [...arrived.current, String(event.entityId)].slice(-maxAdded)
    showSoon()
  })
  if (shown.length === 0) return null
  return (
    <div class="new-covers" aria-hidden="true">
      {shown.map((id, place) => (
        <div key={place} class="cover-box new-cover">
          <Cover key={id} owner="books" id={id} />
        </div>
      ))}
    </div>
  )
}
