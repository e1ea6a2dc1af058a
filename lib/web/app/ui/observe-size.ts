// Changes of the size of an element, for what is drawn or laid out by it.

/** Calls `measure` in a frame of its own: what it changes would change sizes while the browser reports them, which is an error. */
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
