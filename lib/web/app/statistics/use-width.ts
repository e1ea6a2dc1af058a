// Width of an element in pixels, for charts that are drawn at their size.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

export function useWidth() {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const measure = () => setWidth(Math.floor(ref.current!.clientWidth))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(ref.current!)
    return () => observer.disconnect()
  }, [])
  return { ref, width }
}

/** Time runs from the start of a line to its end. */
export const isRightToLeft = () => document.documentElement.dir === 'rtl'
