// Keyboard of the EPUB reader.
import type { Signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Schemas } from '../api/client.ts'
import { canScroll } from '../reader/turning.ts'
import { toggleFullscreen } from '../reading/screen.ts'
import { goBack } from '../routing/router.ts'
import type { BookReader } from './book-reader.ts'
import type { Panel } from './panels.tsx'
import { changeFontSize } from './settings.ts'

type KeyOptions = {
  reader: BookReader | null
  book: Schemas['Book']
  host: { current: HTMLElement | null }
  panel: Signal<Panel | null>
  areBarsShown: Signal<boolean>
  openNext: () => void
}

const scrollStep = 80

export function useReaderKeys({ reader, book, host, panel, areBarsShown, openNext }: KeyOptions) {
  useEffect(() => {
    if (!reader) return
    const turn = (step: 1 | -1, { repeat }: KeyboardEvent) => {
      areBarsShown.value = false
      // Ignores a held key, which was turning pages before.
      if (step > 0 && reader.isPastEnd.value) return repeat || openNext()
      void reader.turn(step)
    }
    const actions: Record<string, (event: KeyboardEvent) => unknown> = {
      ArrowRight: event => turn(reader.stepTo('right'), event),
      ArrowLeft: event => turn(reader.stepTo('left'), event),
      ArrowDown: event => step(1, event),
      ArrowUp: event => step(-1, event),
      PageDown: event => turn(1, event),
      PageUp: event => turn(-1, event),
      ' ': event => turn(event.shiftKey ? -1 : 1, event),
      Home: () => reader.goToTotal(0),
      End: () => reader.goToTotal(1),
      t: () => open('contents'),
      b: () => reader.bookmarks.toggle(),
      l: () => open('bookmarks'),
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
    const step = (direction: 1 | -1, event: KeyboardEvent) => {
      const element = host.current!
      const isColumn = element.dataset.flow === 'scrolled' && !reader.isPastEnd.value
      if (isColumn && canScroll(element, direction))
        element.scrollBy({ top: direction * scrollStep })
      else if (!isColumn || !event.repeat) turn(direction, event)
    }
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      const target = event.target as Element
      if (target.closest('dialog, input, select, textarea')) return
      if (target.closest('a, button') && (event.key === ' ' || event.key === 'Enter')) return
      const action = actions[event.key]
      if (!action) return
      event.preventDefault()
      action(event)
    }
    const onCopy = (event: ClipboardEvent) => {
      const text = reader.selection.text()
      if (!text || (event.target as Element).closest?.('input, textarea')) return
      event.clipboardData?.setData('text/plain', text)
      event.preventDefault()
    }
    // Dialogs opened by keys return the focus to it.
    if (document.activeElement === document.body) host.current?.focus({ preventScroll: true })
    addEventListener('keydown', onKey)
    document.addEventListener('copy', onCopy)
    return () => {
      removeEventListener('keydown', onKey)
      document.removeEventListener('copy', onCopy)
    }
  }, [reader])
}
