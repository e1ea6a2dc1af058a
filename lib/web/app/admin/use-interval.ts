// Polling for changes without an event, while the page is visible.
import { useEffect, useRef } from 'preact/hooks'
import { isReachable } from '../api/reachable.ts'
import { hasEnded } from '../api/session.ts'

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
