// Keyboard of the EPUB reader.
import type { Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Schemas } from '../api/client.ts'
import { toggleFullscreen } from '../reading/fullscreen.ts'
import { goBack } from '../routing/router.ts'
import type { BookReader } from './book-reader.ts'
import type { Panel } from './panels.ts'
import { changeFontSize } from './settings.ts'

type KeyOptions = {
  reader: BookReader | null
  book: Schemas['Book']
  host: { current: HTMLElement | null }
  panel: Signal<Panel | null>
  areBarsShown: Signal<boolean>
}

const scrollStep = 80

export function useReaderKeys({ reader, book, host, panel, areBarsShown }: KeyOptions) {
  useEffect(() => {
    if (!reader) return
    const turnTo = (side: 'left' | 'right') => {
      areBarsShown.value = false
      void reader.turnTo(side)
    }
    const turn = (step: 1 | -1) => {
      areBarsShown.value = false
      void reader.turn(step)
    }
    const actions: Record<string, () => unknown> = {
      ArrowRight: () => turnTo('right'),
      ArrowLeft: () => turnTo('left'),
      ArrowDown: () => step(1),
      ArrowUp: () => step(-1),
      PageDown: () => turn(1),
      PageUp: () => turn(-1),
      ' ': () => turn(1),
      Home: () => reader.goToTotal(0),
      End: () => reader.goToTotal(1),
      t: () => open('contents'),
      f: toggleFullscreen,
      s: () => open('settings'),
      '/': () => !reader.publication.isFixed && open('search'),
      m: () => {
        areBarsShown.value = !areBarsShown.value
      },
      '?': () => open('help'),
      '+': () => changeFontSize(1),
      '-': () => changeFontSize(-1),
      Backspace: () => reader.goBackOnWay(),
      Escape: () => goBack(`books/${book.id}`),
    }
    const open = (name: Panel) => {
      panel.value = name
    }
    const step = (direction: 1 | -1) => {
      const element = host.current!
      if (element.dataset.flow === 'scrolled') element.scrollBy({ top: direction * scrollStep })
      else turn(direction)
    }
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      const target = event.target as Element
      if (target.closest('dialog, input, select, textarea')) return
      if (target.closest('a, button') && (event.key === ' ' || event.key === 'Enter')) return
      const action = event.key === ' ' && event.shiftKey ? () => turn(-1) : actions[event.key]
      if (!action) return
      event.preventDefault()
      action()
    }
    const onCopy = (event: ClipboardEvent) => {
      const text = reader.selection.text()
      if (!text || (event.target as Element).closest?.('input, textarea')) return
      event.clipboardData?.setData('text/plain', text)
      event.preventDefault()
    }
    // Dialogs that keys open give the focus back to it.
    if (document.activeElement === document.body) host.current?.focus({ preventScroll: true })
    addEventListener('keydown', onKey)
    document.addEventListener('copy', onCopy)
    return () => {
      removeEventListener('keydown', onKey)
      document.removeEventListener('copy', onCopy)
    }
  }, [reader])
}
