// State of the EPUB reader: displayed position, way back from links, actions.
import { signal } from '@preact/signals'
import { createBookmarks } from '../reading/bookmarks.ts'
import type { Movement } from '../reading/recorder.ts'
import type { Publication } from './content/publication.ts'
import { bookmarkPlace } from './locator.ts'
import { createFollowing, createSelection, type Point } from './pointing.ts'
import { settings } from './settings.ts'
import { type BookView, type Position, type Target, targetAt } from './view/book-view.ts'
import { createBookView } from './view/mixed-view.ts'
import type { Palette } from './view/presentation.ts'

export type BookReader = ReturnType<typeof createBookReader>

type Options = {
  host: HTMLElement
  publication: Publication
  palette: () => Palette
  onMoved: (position: Position, movement: Movement) => void
}

type Arrival = { target: Target; movement: Movement }

const maxWay = 50

export function createBookReader({ host, publication, palette, onMoved }: Options) {
  const position = signal<Position | null>(null)
  const { isLoading, error, run } = createWork()
  /** Positions before followed links, with how the reader had reached them. */
  const way = signal<readonly Arrival[]>([])
  /** Called after the last page. */
  const isPastEnd = signal(false)
  let requested: Arrival = { target: { section: 0 }, movement: 'opened' }
  let movement: Movement = 'opened'

  const following = createFollowing({ publication, view: () => view, jump })
  const selection = createSelection(() => view)
  const view: BookView = createBookView({
    ...{ host, publication, palette },
    settings: () => settings.value,
    onMoved(next, how) {
      if (how !== 'laidOut') movement = how
      position.value = next
      onMoved(next, how)
    },
    onDocument: (document, path) =>
      listenInFrame(document, { path, host, go, follow: following.follow, position }),
  })

  const go = (target: Target, how: Movement = 'jumped') => {
    requested = { target, movement: how }
    isPastEnd.value = false
    return run(() => view.open(target, how))
  }

  function jump(target: Target) {
    if (position.value) {
      const { section, progression } = position.value
      const left = { target: { section, at: { progression } }, movement }
      way.value = [...way.value, left].slice(-maxWay)
    }
    return go(target)
  }

  async function turn(step: 1 | -1) {
    if (isPastEnd.value) {
      isPastEnd.value = step > 0
      return
    }
    await run(async () => {
      const isTurned = await view.turn(step)
      isPastEnd.value = !isTurned && step > 0 && position.value !== null
      // However the reader got here.
      if (isPastEnd.value)
        onMoved({ ...position.value!, isEnd: true, totalProgression: 1 }, 'turned')
    })
  }

  return {
    ...{ publication, position, error, isLoading, way, isPastEnd, following, selection },
    bookmarks: createBookmarks(
      publication.id,
      () => position.value && bookmarkPlace(publication, position.value),
    ),
    ...{ go, jump, turn },
    /** How the reader reached the displayed position. */
    movement: () => movement,
    /** Forward or back, toward a side of the window. */
    stepTo: (side: 'left' | 'right') => ((side === 'right') === !view.isRightToLeft() ? 1 : -1),
    goToTotal: (total: number) => jump(targetAt(publication, total)),
    goToSection(step: 1 | -1) {
      const next = (position.value?.section ?? 0) + step
      if (next >= 0 && next < publication.sections.length) void jump({ section: next })
    },
    goBackOnWay() {
      const last = way.value.at(-1)
      way.value = way.value.slice(0, -1)
      if (last) void go(last.target, last.movement)
    },
    retry: () => go(requested.target, requested.movement),
    layOut: () => view.layOut(),
    documentAt: ({ x, y }: Point) => view.documentAt(x, y),
    dispose() {
      following.dispose()
      view.dispose()
    },
  }
}

const loadingMs = 150

/** Pending work: shown when it takes long, with the error of the latest. */
function createWork() {
  const isLoading = signal(true)
  const error = signal<Error | null>(null)
  let running = 0
  async function run(work: () => Promise<unknown>) {
    const number = ++running
    const timer = setTimeout(() => {
      isLoading.value = true
    }, loadingMs)
    try {
      await work()
      if (number === running) error.value = null
    } catch (failure) {
      const isAborted = failure instanceof DOMException && failure.name === 'AbortError'
      if (number === running && !isAborted) error.value = failure as Error
    } finally {
      clearTimeout(timer)
      if (number === running) isLoading.value = false
    }
  }
  return { isLoading, error, run }
}

type FrameOptions = {
  path: string
  host: HTMLElement
  position: { value: Position | null }
  go: (target: Target) => unknown
  follow: (link: Element, shown: { document: Document; path: string }) => unknown
}

/** Keys and links also work inside frames, so that the keyboard reaches links. */
function listenInFrame(document: Document, { path, host, position, go, follow }: FrameOptions) {
  document.addEventListener('click', event => {
    event.preventDefault()
    const link = (event.target as Element).closest('[data-link]')
    if (link) void follow(link, { document, path })
  })
  document.addEventListener('keydown', event => {
    const { key, ctrlKey, metaKey, altKey, shiftKey } = event
    if (key === 'Enter') {
      const link = document.activeElement?.closest('[data-link]')
      if (link) void follow(link, { document, path })
    }
    if (key === 'Enter' || key === 'Tab' || ctrlKey || metaKey || altKey) return
    const repeated = new KeyboardEvent('keydown', {
      key,
      shiftKey,
      repeat: event.repeat,
      bubbles: true,
      cancelable: true,
    })
    if (!host.dispatchEvent(repeated)) event.preventDefault()
  })
  document.addEventListener('focusin', event => {
    const { section = 0 } = position.value ?? {}
    const { id } = event.target as Element
    if (id) void go({ section, at: { id } })
  })
}
