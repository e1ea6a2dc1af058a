// Keyboard of the reader.
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { toggleFullscreen } from '../reading/screen.ts'
import type { Shortcut } from '../reading/setting-controls.tsx'
import type { Reader } from './reader.ts'
import { canScroll, scrollPart, turn, zoomIn, zoomOut, zoomTo } from './turning.ts'

export type ReaderActions = {
  leave: () => void
  openBook: (side: 'next' | 'previous') => void
}

/** Shortcuts as the help shows them. */
export const shortcuts: readonly Shortcut[] = [
  { keys: ['←', '→'], text: 'reader.help.turn' },
  { keys: ['Space', 'Shift Space'], text: 'reader.help.scroll' },
  { keys: ['↑', '↓'], text: 'reader.help.scrollLine' },
  { keys: ['Home', 'End'], text: 'reader.help.ends' },
  { keys: ['N', 'P'], text: 'reader.help.books' },
  { keys: ['+', '−', '0'], text: 'reader.help.zoom' },
  { keys: ['D'], text: 'reader.help.double' },
  { keys: ['O'], text: 'reader.help.offset' },
  { keys: ['X'], text: 'reader.help.split' },
  { keys: ['E'], text: 'reader.help.rotate' },
  { keys: ['R'], text: 'reader.help.direction' },
  { keys: ['V'], text: 'reader.help.strip' },
  { keys: ['W', 'H', 'S'], text: 'reader.help.fit' },
  { keys: ['F'], text: 'reader.help.fullscreen' },
  { keys: ['M'], text: 'reader.help.menu' },
  { keys: ['T'], text: 'reader.help.thumbnails' },
  { keys: ['B'], text: 'bookmark.help' },
  { keys: ['L'], text: 'bookmark.list' },
  { keys: ['?'], text: 'reader.help.help' },
  { keys: ['Esc'], text: 'reader.close' },
]

/** Additional shortcuts of a PDF. */
export const textShortcuts: readonly Shortcut[] = [
  { keys: ['C'], text: 'epub.contents' },
  { keys: ['/'], text: 'epub.search' },
]

const lineShare = 0.15
const pageShare = 0.85

type Handler = (reader: Reader, actions: ReaderActions, event: KeyboardEvent) => void

const keys: Record<string, Handler> = {
  ArrowRight: (...pressed) => turnOrStep('right', pressed),
  ArrowLeft: (...pressed) => turnOrStep('left', pressed),
  ArrowDown: (...pressed) => scrollOrStep(lineShare, pressed),
  ArrowUp: (...pressed) => scrollOrStep(-lineShare, pressed),
  PageDown: (...pressed) => scrollOrStep(pageShare, pressed),
  PageUp: (...pressed) => scrollOrStep(-pageShare, pressed),
  ' ': (...pressed) => scrollOrStep(pressed[2].shiftKey ? -pageShare : pageShare, pressed),
  Home: reader => reader.go(1),
  End: reader => reader.go(reader.count),
  '+': reader => zoomIn(reader),
  '=': reader => zoomIn(reader),
  '-': reader => zoomOut(reader),
  '0': reader => zoomTo(reader, 1),
  d: reader => reader.change({ mode: reader.layout.value === 'double' ? 'single' : 'double' }),
  v: reader => reader.change({ mode: reader.layout.value === 'strip' ? 'single' : 'strip' }),
  o: reader => reader.shiftPairs(),
  x: reader => reader.change({ isSplit: !reader.settings.value.isSplit }),
  e: (reader, _, { shiftKey }) => reader.rotate(shiftKey ? -1 : 1),
  r: reader =>
    reader.change({ direction: reader.settings.value.direction === 'rtl' ? 'ltr' : 'rtl' }),
  w: reader => reader.change({ fit: 'width' }),
  h: reader => reader.change({ fit: 'height' }),
  s: reader => reader.change({ fit: 'screen' }),
  n: (_, { openBook }) => openBook('next'),
  p: (_, { openBook }) => openBook('previous'),
  f: () => void toggleFullscreen(),
  m: reader => {
    reader.isMenuShown.value = !reader.isMenuShown.value
  },
  b: reader => void reader.bookmarks.toggle(),
  l: reader => {
    reader.panel.value = 'bookmarks'
  },
  c: reader => {
    if (reader.hasText) reader.panel.value = 'contents'
  },
  '/': reader => {
    if (reader.hasText) reader.panel.value = 'search'
  },
  t: reader => {
    reader.areThumbnailsShown.value = !reader.areThumbnailsShown.value
    reader.isMenuShown.value ||= reader.areThumbnailsShown.value
  },
  '?': reader => {
    reader.panel.value = 'help'
  },
  Escape: (reader, { leave }) => {
    if (reader.zoom.value > 1) zoomTo(reader, 1)
    else if (reader.areThumbnailsShown.value) reader.areThumbnailsShown.value = false
    else leave()
  },
}

type Pressed = Parameters<Handler>

/** In a strip the arrows go to the next and previous page, and at the end to the next book. */
function turnOrStep(side: 'left' | 'right', pressed: Pressed) {
  const [reader] = pressed
  const isForward = (side === 'right') === (reader.settings.value.direction === 'ltr')
  if (isForward && reader.place.value === 'end') return openNext(pressed)
  const scroller = currentScroller()
  if (reader.zoom.value > 1 && canScroll(scroller, side === 'right' ? 1 : -1, true)) {
    const left = scroller!.clientWidth * (side === 'right' ? lineShare : -lineShare)
    scroller!.scrollBy({ left })
  } else turn(reader, side)
}

function scrollOrStep(part: number, pressed: Pressed) {
  const [reader] = pressed
  const scroller = currentScroller()
  if (canScroll(scroller, part)) scrollPart(scroller!, part)
  else if (part > 0 && reader.place.value === 'end') openNext(pressed)
  // A strip scrolls through all pages.
  else if (reader.layout.value !== 'strip')
    reader.step(part > 0 ? 1 : -1, part > 0 ? {} : { edge: 'end' })
}

/** Ignores a held key, which was turning pages before. */
function openNext([, actions, event]: Pressed) {
  if (!event.repeat) actions.openBook('next')
}

const currentScroller = () =>
  document.querySelector<HTMLElement>('.reader-slide.current .reader-scroller, .reader-strip')

/** Listens while the reader is shown; focused controls handle their own keys. */
export function useKeyboard(reader: Reader, actions: ReaderActions) {
  const isStrip = reader.layout.value === 'strip'
  // Dialogs opened by keys return the focus here; switching between strip and pages replaces the focused element.
  useLayoutEffect(() => {
    if (document.activeElement === document.body) currentScroller()?.focus({ preventScroll: true })
  }, [reader, isStrip])
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      const target = event.target as Element
      if (reader.panel.value !== 'none' || target.closest('dialog')) return
      const { key } = event
      if (key === 'Tab') return showMenuFor(reader, event)
      if (target.matches('select, textarea, input') && key !== 'Escape') return
      if (target.matches('button, a') && (key === ' ' || key === 'Enter')) return
      const handle = keys[key.length === 1 ? key.toLowerCase() : key]
      if (!handle) return
      event.preventDefault()
      handle(reader, actions, event)
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [reader])
}

/** Focus in the hidden menu shows it. */
function showMenuFor(reader: Reader, event: KeyboardEvent) {
  // The end card has controls, too.
  if (reader.isMenuShown.value || (event.target as Element).closest('.reader-card')) return
  event.preventDefault()
  reader.isMenuShown.value = true
  requestAnimationFrame(() =>
    document.querySelector<HTMLElement>('.reader-top a, .reader-top button')?.focus(),
  )
}
