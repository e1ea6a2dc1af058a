// Stack of open dialogs: previous focus, and the page behind them, which does not scroll.
import { signal } from '@preact/signals'

type Layer = {
  id: object
  /** The focused elements before it and the dialogs below it were opened. */
  openers: readonly (HTMLElement | null)[]
}

const layers = signal<readonly Layer[]>([])

/** Whether a dialog is topmost (null: whether none is open). Everything below is inert. */
export const isTop = (id: object | null): boolean => (layers.value.at(-1)?.id ?? null) === id

/** Puts a dialog above the others. Returns a function that removes it and restores the focus. */
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

/** Keys and wheel scroll only the dialog. The scrollbar keeps its space. */
function lockScrolling() {
  if (innerWidth > document.documentElement.clientWidth) style.scrollbarGutter = 'stable'
  style.overflow = 'hidden'
}

function unlockScrolling() {
  style.overflow = ''
  style.scrollbarGutter = ''
}
