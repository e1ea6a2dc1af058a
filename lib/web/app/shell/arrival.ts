// Focus after navigation: at the start of the view, after the navigation bar.
import { useLayoutEffect, useRef } from 'preact/hooks'

/** Moves the focus into the view when the path changes; a search field in use keeps it. */
export function useArrival(path: string) {
  const previous = useRef(path)
  useLayoutEffect(() => {
    if (previous.current === path) return
    previous.current = path
    if (document.activeElement?.matches('input, select, textarea, [autofocus], dialog *')) return
    document.querySelector<HTMLElement>('main[tabindex]')?.focus({ preventScroll: true })
  }, [path])
}
