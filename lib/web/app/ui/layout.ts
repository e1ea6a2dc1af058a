// Sizes of elements for drawing and layout, writing direction, scripted scrolling.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

/** Calls `measure` in a new frame, because changing sizes inside the observer callback is an error. */
export function observeSize(element: Element, measure: () => void): () => void {
  let frame = 0
  const observer = new ResizeObserver(() => {
    frame ||= requestAnimationFrame(() => {
      frame = 0
      measure()
    })
  })
  observer.observe(element)
  return () => {
    observer.disconnect()
    cancelAnimationFrame(frame)
  }
}

/** For scripted scrolling. Style sheets animate only with `prefers-reduced-motion: no-preference`. */
export const scrollBehavior = (): 'smooth' | 'instant' =>
  matchMedia('(prefers-reduced-motion: reduce)').matches ? 'instant' : 'smooth'

/** Width of an element in pixels, for charts drawn at their size. */
export function useWidth() {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const measure = () => setWidth(Math.floor(ref.current!.clientWidth))
    measure()
    return observeSize(ref.current!, measure)
  }, [])
  return { ref, width }
}

/** Time runs in the writing direction. */
export const isRightToLeft = () => document.documentElement.dir === 'rtl'
