// Versions of covers that changed while the application is open, which make browsers request them again.
import { useEffect, useState } from 'preact/hooks'
import { listen } from '../api/events.ts'

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
export function useCoverVersion(id: string): number | undefined {
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
