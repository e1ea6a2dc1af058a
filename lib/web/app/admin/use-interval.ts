// Repeated loading of what no event reports, while the page is visible.
import { useEffect, useRef } from 'preact/hooks'

export function useInterval(run: () => void, ms: number) {
  const latest = useRef(run)
  latest.current = run
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') latest.current()
    }, ms)
    return () => clearInterval(timer)
  }, [ms])
}
