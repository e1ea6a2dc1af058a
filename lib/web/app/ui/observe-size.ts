// Size observer of an element, for drawing and layout.

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
