// Pointer, wheel and keyboard input of the reader. Not all browsers deliver events from the frames of a book, because
// scripts are disabled there, so a surface above the frames receives the pointer.
type GestureHandlers = {
  /** `side`: the tapped third of the window; returns false if nothing was done. */
  onTap: (point: { x: number; y: number }, side: 'left' | 'middle' | 'right') => void
  onSwipe: (side: 'left' | 'right') => void
  onWheel: (step: 1 | -1) => void
  /** The mouse moves over a point. */
  onHover: (point: { x: number; y: number }) => void
  /** The mouse is dragged between two points. */
  onDrag: (from: { x: number; y: number }, to: { x: number; y: number }) => void
  /** Whether the wheel goes page by page. */
  isPaged: () => boolean
}

const swipeDistance = 40
const tapDistance = 10
const tapMs = 600
const wheelMs = 220

/** Returns a function that stops listening. */
export function listenToGestures(surface: HTMLElement, handlers: GestureHandlers): () => void {
  const controller = new AbortController()
  const { signal } = controller
  let start: { x: number; y: number; at: number; isMouse: boolean; isDragged: boolean } | null =
    null
  let pointers = 0
  let wheeledAt = 0
  const pointOf = ({ clientX, clientY }: MouseEvent) => ({ x: clientX, y: clientY })

  const on = <K extends keyof HTMLElementEventMap>(
    name: K,
    listen: (event: HTMLElementEventMap[K]) => void,
    passive = true,
  ) => surface.addEventListener(name, listen, { signal, passive })

  on('pointerdown', event => {
    pointers = event.isPrimary ? 1 : pointers + 1
    if (event.button !== 0) return
    start =
      pointers > 1
        ? null
        : {
            ...pointOf(event),
            at: event.timeStamp,
            isMouse: event.pointerType === 'mouse',
            isDragged: false,
          }
  })
  on('pointermove', event => {
    if (event.pointerType !== 'mouse') return
    const point = pointOf(event)
    if (!start) return handlers.onHover(point)
    if (start.isDragged || distance(start, point) > tapDistance) {
      start.isDragged = true
      handlers.onDrag(start, point)
    }
  })
  on('pointerup', event => {
    const from = start
    start = null
    if (!from || from.isDragged) return
    const to = pointOf(event)
    const across = to.x - from.x
    if (distance(from, to) <= tapDistance) {
      if (from.isMouse || event.timeStamp - from.at < tapMs)
        handlers.onTap(to, sideOf(surface, to.x))
    } else if (Math.abs(across) > swipeDistance && Math.abs(across) > 1.5 * Math.abs(to.y - from.y))
      handlers.onSwipe(across < 0 ? 'left' : 'right')
  })
  on('pointercancel', () => {
    start = null
  })
  on(
    'wheel',
    event => {
      if (!handlers.isPaged() || event.ctrlKey) return
      event.preventDefault()
      const delta = Math.abs(event.deltaY) > Math.abs(event.deltaX) ? event.deltaY : event.deltaX
      if (Math.abs(delta) < 4 || event.timeStamp - wheeledAt < wheelMs) return
      wheeledAt = event.timeStamp
      handlers.onWheel(delta > 0 ? 1 : -1)
    },
    false,
  )
  return () => controller.abort()
}

const distance = (a: { x: number; y: number }, b: { x: number; y: number }) =>
  Math.hypot(a.x - b.x, a.y - b.y)

function sideOf(surface: HTMLElement, x: number): 'left' | 'middle' | 'right' {
  const { left, width } = surface.getBoundingClientRect()
  const part = (x - left) / width
  return part < 0.3 ? 'left' : part > 0.7 ? 'right' : 'middle'
}
