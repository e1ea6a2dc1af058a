// The screen while reading: full-screen mode and the wake lock, where the browser supports them.
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

export const canFullscreen = document.fullscreenEnabled === true
export const isFullscreen = signal(document.fullscreenElement !== null)

document.addEventListener('fullscreenchange', () => {
  isFullscreen.value = document.fullscreenElement !== null
})

/** Does nothing if the browser refuses. */
export async function toggleFullscreen(): Promise<void> {
  if (!canFullscreen) return
  try {
    if (document.fullscreenElement) await document.exitFullscreen()
    else await document.documentElement.requestFullscreen({ navigationUI: 'hide' })
  } catch {
    // Refused, for example without a gesture.
  }
}

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
