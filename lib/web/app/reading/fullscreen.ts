// Full-screen mode, where the browser supports it.
import { signal } from '@preact/signals'

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
