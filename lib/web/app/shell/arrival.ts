// Focus after another view is opened by a link or by going back: at its beginning, behind the navigation.
import { useLayoutEffect, useRef } from 'preact/hooks'

/** Moves the focus into the view when the path changes; a search field that is typed in keeps it. */
export function useArrival(path: string) {
  const previous = useRef(path)
  useLayoutEffect(() => {
    if (previous.current === path) return
    previous.current = path
    if (document.activeElement?.matches('input, select, textarea, [autofocus], dialog *')) return
    document.querySelector<HTMLElement>('main[tabindex]')?.focus({ preventScroll: true })
  }, [path])
}
