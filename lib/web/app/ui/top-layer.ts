// Open dialogs in their order, what had the focus before them, and the page behind them, which does not scroll.
import { signal } from '@preact/signals'

type Layer = {
  id: object
  /** What had the focus before it was opened, and before the dialogs below it. */
  openers: readonly (HTMLElement | null)[]
}

const layers = signal<readonly Layer[]>([])

/** Whether a dialog is above all others; of null, whether none is open. What lies below is inert. */
export const isTop = (id: object | null): boolean => (layers.value.at(-1)?.id ?? null) === id

/** Puts a dialog above the others. The result removes it, and gives the focus back. */
export function openLayer(id: object): () => void {
  const below = layers.peek()
  const openers = [document.activeElement as HTMLElement | null, ...(below.at(-1)?.openers ?? [])]
  layers.value = [...below, { id, openers }]
  if (below.length === 0) lockScrolling()
  return () => {
    layers.value = layers.peek().filter(layer => layer.id !== id)
    if (layers.peek().length === 0) unlockScrolling()
    openers.find(opener => opener?.isConnected && opener !== document.body)?.focus()
  }
}

const { style } = document.documentElement

/** Keys and the wheel scroll the dialog alone. The scrollbar keeps its place. */
function lockScrolling() {
  if (innerWidth > document.documentElement.clientWidth) style.scrollbarGutter = 'stable'
  style.overflow = 'hidden'
}

function unlockScrolling() {
  style.overflow = ''
  style.scrollbarGutter = ''
}
