// Rating of a series in half stars, and the average of all readers.
import { useEffect, useRef, useState } from 'preact/hooks'
import { api, type Schemas } from '../api/client.ts'
import { useGet } from '../api/resource.ts'
import { can } from '../api/session.ts'
import { formatNumber, t } from '../text/translate.ts'
import { IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { showError } from '../ui/toast.tsx'

type SeriesRatingProps = {
  seriesId: string
  /** From 1 to 100, or null. */
  rating: number | null
  onChanged: (rating: number | null) => void
}

/** The API uses 1 to 100; a star is 20. */
const perStar = 20
const starsOf = (value: number | null) => (value === null ? 0 : Math.round(value / 10) / 2)

export function SeriesRating({ seriesId, rating, onChanged }: SeriesRatingProps) {
  const [shown, setShown] = useState(rating)
  const params = { path: { id: seriesId } }
  const average = useGet('/api/v1/series/{id}/ratings/average', params)
  const known = useRef(rating)
  useEffect(() => {
    setShown(rating)
    // Rated here or elsewhere since: the average has changed.
    if (known.current !== rating) average.reload()
    known.current = rating
  }, [rating])
  // Sent in order: keys change the rating faster than the server responds.
  const sent = useRef<Promise<void>>(Promise.resolve())
  const change = (next: number | null) => {
    if (next === shown) return
    setShown(next)
    sent.current = sent.current.then(() => send(next, shown))
  }
  const send = async (next: number | null, former: number | null) => {
    try {
      if (next === null) await api.DELETE('/api/v1/series/{id}/rating', { params })
      else await api.PUT('/api/v1/series/{id}/rating', { params, body: { rating: next } })
      onChanged(next)
    } catch (error) {
      setShown(former)
      showError(error)
    }
  }
  const isEditable = can('ProgressWrite') || can('BooksWrite')
  return (
    <div class="row rating">
      {isEditable && <Stars value={shown} onChange={change} />}
      {isEditable && shown !== null && (
        <IconButton icon="close" label={t('rating.remove')} onClick={() => change(null)} />
      )}
      {/* A single own rating is its own average. */}
      {average.data && !(shown !== null && average.data.count === 1) && (
        <Average average={average.data} />
      )}
    </div>
  )
}

function Average({ average: { average, count } }: { average: Schemas['AverageRating'] }) {
  if (average === null) return null
  const stars = formatNumber(average / perStar, { maximumFractionDigits: 1 })
  return <span class="rating-average">{t('rating.average', { stars, count })}</span>
}

/** Five stars as a slider: arrow keys move by half a star, a click sets the value. */
function Stars({ value, onChange }: { value: number | null; onChange: (value: number) => void }) {
  const [preview, setPreview] = useState<number | null>(null)
  const valueAt = (event: MouseEvent) => {
    const box = (event.currentTarget as Element).getBoundingClientRect()
    const share = (event.clientX - box.left) / box.width
    const fromStart = document.documentElement.dir === 'rtl' ? 1 - share : share
    return Math.min(10, Math.max(1, Math.ceil(fromStart * 10))) * 10
  }
  const stars = starsOf(preview ?? value)
  const onKeyDown = (event: KeyboardEvent) => {
    const next = keyValue(event.key, value ?? 0)
    if (next === null) return
    event.preventDefault()
    onChange(next)
  }
  return (
    <div
      class="rating-stars"
      role="slider"
      tabIndex={0}
      aria-label={t('rating.label')}
      aria-valuemin={0}
      aria-valuemax={5}
      aria-valuenow={starsOf(value)}
      aria-valuetext={
        value === null
          ? t('rating.none')
          : t('rating.value', { stars: formatNumber(starsOf(value)) })
      }
      onKeyDown={onKeyDown}
      onPointerMove={event => event.pointerType === 'mouse' && setPreview(valueAt(event))}
      onPointerLeave={() => setPreview(null)}
      onClick={event => {
        setPreview(null)
        onChange(valueAt(event))
      }}
    >
      {[1, 2, 3, 4, 5].map(star => {
        const fill = stars >= star ? 'full' : stars >= star - 0.5 ? 'half' : ''
        return (
          <span key={star} class={`rating-star ${fill}`}>
            <Icon name="star" size={26} />
            {fill && (
              <span class="rating-fill">
                <Icon name="star" size={26} />
              </span>
            )}
          </span>
        )
      })}
    </div>
  )
}

function keyValue(key: string, value: number): number | null {
  const isRightToLeft = document.documentElement.dir === 'rtl'
  const steps: Record<string, number> = {
    ArrowUp: 10,
    ArrowDown: -10,
    ArrowRight: isRightToLeft ? -10 : 10,
    ArrowLeft: isRightToLeft ? 10 : -10,
  }
  if (key === 'Home') return 10
  if (key === 'End') return 100
  const step = steps[key]
  if (step === undefined) return /^[1-5]$/.test(key) ? Number(key) * perStar : null
  return Math.min(100, Math.max(10, Math.round(value / 10) * 10 + step))
}
