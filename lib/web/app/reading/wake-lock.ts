// Wake lock that keeps the screen on while reading, where supported (HTTPS).
import { useEffect, useRef } from 'preact/hooks'

const idleMs = 10 * 60_000

/** Keeps the screen on for a while after each change of `activity`, such as the page number. */
export function useWakeLock(activity: unknown) {
  const lock = useRef<WakeLockSentinel | null>(null)
  useEffect(() => {
    if (!navigator.wakeLock) return
    let isLeft = false
    const acquire = async () => {
      if (document.visibilityState !== 'visible' || (lock.current && !lock.current.released)) return
      const acquired = await navigator.wakeLock.request('screen').catch(() => null)
      if (isLeft) await acquired?.release()
      else lock.current = acquired
    }
    void acquire()
    // The browser releases it when the page is hidden.
    document.addEventListener('visibilitychange', acquire)
    const timer = setTimeout(() => lock.current?.release(), idleMs)
    return () => {
      isLeft = true
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', acquire)
    }
  }, [activity])
  useEffect(() => () => void lock.current?.release(), [])
}
