// Cover of a book, series, collection or read list, with loading and empty states.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { mediaUrl } from '../api/address.ts'
import { connection, listen } from '../api/events.ts'
import { accessToken, account } from '../api/session.ts'
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

const maxVersions = 2_000
/** By id of the book, series or library, latest last. */
const versions = new Map<string, number>()
const listeners = new Map<string, Set<() => void>>()
// A scan creates covers by the thousand.
const updateMs = 400
let changed = new Set<string>()
let isWaiting = false
let stop: (() => void) | null = null

function update() {
  isWaiting = false
  const ids = changed
  changed = new Set()
  for (const id of ids) for (const listener of listeners.get(id) ?? []) listener()
}

function start() {
  stop ??= listen('events', event => {
    if (event.type !== 'cover_updated') return
    const id = String(event.entityId)
    versions.delete(id)
    versions.set(id, Date.parse(String(event.timestamp)) || Date.now())
    if (versions.size > maxVersions) versions.delete(versions.keys().next().value!)
    if (!listeners.has(id)) return
    changed.add(id)
    if (!isWaiting) setTimeout(update, updateMs)
    isWaiting = true
  })
}

/** Version of the cover of a book, series or library; undefined for the initial one. */
function useCoverVersion(id: string): number | undefined {
  const [version, setVersion] = useState(() => versions.get(id))
  useEffect(() => {
    start()
    const listener = () => setVersion(versions.get(id))
    listener()
    const known = listeners.get(id) ?? new Set()
    listeners.set(id, known.add(listener))
    return () => {
      known.delete(listener)
      if (known.size === 0) listeners.delete(id)
      if (listeners.size > 0) return
      stop?.()
      stop = null
    }
  }, [id])
  return version
}
