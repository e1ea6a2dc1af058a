// Values that change after a pause, actions that run once for many calls, and polling.
import { useEffect, useRef, useState } from 'preact/hooks'
import { isReachable } from '../api/reachable.ts'
import { hasEnded } from '../api/session.ts'

/** The first value is used immediately. */
export function useDebounced(value: string, ms: number): string {
  const [debounced, setDebounced] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(value), ms)
    return () => clearTimeout(timer)
  }, [value])
  return debounced
}

/** Returns a function that runs `action` after a delay, once for all calls in that time. */
export function useSoon(ms: number, action: () => void): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null)
  const latest = useRef(action)
  latest.current = action
  useEffect(
    () => () => {
      if (timer.current !== null) clearTimeout(timer.current)
    },
    [],
  )
  return () => {
    timer.current ??= setTimeout(() => {
      timer.current = null
      latest.current()
    }, ms)
  }
}

/** Polls for changes without an event, while the page is visible. */
export function useInterval(run: () => void, ms: number) {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    const timer = setInterval(() => {
      const isIdle = document.visibilityState !== 'visible' || hasEnded.value || !isReachable.value
      if (!isIdle) latest.current()
    }, ms)
    return () => clearInterval(timer)
  }, [ms])
}
