// Width of an element in pixels, for charts drawn at their size.
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { observeSize } from '../ui/observe-size.ts'

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
