// Cover of a book, series, collection or read list, with loading and empty states.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { mediaUrl } from '../api/address.ts'
import { connection } from '../api/events.ts'
import { accessToken, account } from '../api/session.ts'
import { useCoverVersion } from './cover-versions.ts'
import { Icon } from './icon.tsx'

export type CoverOwner = 'books' | 'series' | 'libraries' | 'collections' | 'readlists'

type CoverProps = {
  owner: CoverOwner
  id: string
  /** Empty if the title stands beside the cover. */
  alt?: string
  /** Changes with the cover, for covers without events. */
  version?: string | number
  /** Loads immediately instead of when it comes into view. */
  isEager?: boolean
}

// The cookie has expired, or the server is restarting, busy, or without the disk of the library.
const retryMs = [0, 2_000, 10_000, 60_000]

/** Double pages and landscape formats would be unrecognizable if cropped to the middle. */
function showWhole({ currentTarget }: { currentTarget: HTMLImageElement }) {
  const { naturalWidth, naturalHeight } = currentTarget
  currentTarget.classList.toggle('wide', naturalWidth > naturalHeight)
}

/** Fills its parent element, which has the aspect ratio. Shows the new cover after a `cover_updated` event. */
export function Cover({ owner, id, alt = '', version, isEager = false }: CoverProps) {
  const [attempt, setAttempt] = useState(0)
  const [isFailed, setFailed] = useState(false)
  const updated = useCoverVersion(id)
  // Browsers may show an image from memory, even to another account in the same tab.
  const forAccount = account.value?.id
  const source = mediaUrl(`/${owner}/${id}/thumbnail`, { v: version ?? updated, for: forAccount })
  const image = useRef<HTMLImageElement>(null)
  useEffect(() => {
    setAttempt(0)
    setFailed(false)
  }, [source])
  useEffect(() => {
    if (!isFailed) return
    const again = async () => {
      await accessToken().catch(() => null)
      setAttempt(attempt + 1)
      setFailed(false)
    }
    const timer = attempt < retryMs.length ? setTimeout(again, retryMs[attempt]) : undefined
    let wasLost = false
    const stop = connection.subscribe(state => {
      if (state === 'lost') wasLost = true
      else if (wasLost) void again()
    })
    return () => {
      clearTimeout(timer)
      stop()
    }
  }, [isFailed, attempt])
  // Before the next frame: it may be removed by then.
  useLayoutEffect(() => {
    const element = image.current
    // Otherwise a removed image would load to its end, delaying visible ones or surviving a sign-out.
    return () => {
      if (element && !element.complete) element.removeAttribute('src')
    }
  }, [source, attempt, isFailed])
  if (isFailed)
    return (
      <div class="cover-missing" role="img" aria-label={alt || undefined} aria-hidden={alt === ''}>
        <Icon name="book" />
      </div>
    )
  return (
    <img
      key={`${source}:${attempt}`}
      class="cover"
      ref={image}
      src={source}
      alt={alt}
      loading={isEager ? 'eager' : 'lazy'}
      decoding="async"
      onLoad={showWhole}
      onError={() => image.current?.hasAttribute('src') && setFailed(true)}
    />
  )
}
