// Display of a reflowable EPUB: one document at a time, in pages or as a scrolling column.
import type { Movement } from '../../reading/recorder.ts'
import { openDocument } from '../content/document.ts'
import { fetchText, type Publication } from '../content/publication.ts'
import { addFont } from '../fonts.ts'
import {
  type BookView,
  type Position,
  type Target,
  totalProgressionAt,
  type ViewOptions,
} from './book-view.ts'
import { createPager, type Layout, type Pager } from './pager.ts'

const sampleLength = 60
const prefetchMs = 1_500
const scrolledMs = 150

export function createReflowableView(options: ViewOptions): BookView {
  const { host, publication, onMoved, onDocument } = options
  const { sections } = publication
  let pager: Pager | null = null
  let section = 0
  let opening = new AbortController()
  let prefetch: ReturnType<typeof setTimeout> | undefined

  const layout = (): Layout => ({
    settings: options.settings(),
    palette: options.palette(),
    area: { width: host.clientWidth, height: host.clientHeight },
  })

  async function open({ section: next, at }: Target, movement: Movement): Promise<void> {
    opening.abort()
    opening = new AbortController()
    const { signal } = opening
    if (pager === null || next !== section) {
      const request = { ...sections[next]!, host, title: publication.title, signal }
      const opened = await openDocument(publication, request)
      const created = createPager(opened, host, layout())
      pager?.frame.remove()
      pager = created
      section = next
      opened.frame.classList.add('shown')
      onDocument(opened.document, opened.path)
      addFontLater()
      void loadedLater(opened.document)?.then(() => pager === created && layOut())
      clearTimeout(prefetch)
      // Warms the browser cache, so that the next document appears immediately.
      const after = sections[next + 1]
      if (after)
        prefetch = setTimeout(
          () => fetchText(publication, after.path, signal).catch(() => {}),
          prefetchMs,
        )
    }
    showTarget(pager, at)
    report(movement)
  }

  function layOut() {
    pager?.layOut(layout())
    report('laidOut')
    addFontLater()
  }

  /** Another font changes the layout. Without it, the text is shown in the browser's. */
  function addFontLater() {
    const shown = pager
    if (!shown) return
    void addFont(shown.document, options.settings().family).then(
      isAdded => isAdded && shown === pager && layOut(),
      () => {},
    )
  }

  function report(movement: Movement) {
    if (pager) onMoved(positionIn(publication, { section, pager }), movement)
  }

  const stopScroll = afterScrolling(host, () => {
    if (pager?.rememberPlace()) report('turned')
  })

  return {
    open,
    layOut,
    async turn(step) {
      if (pager?.turn(step)) {
        report('turned')
        return true
      }
      const next = section + step
      if (!pager || !sections[next] || sections[next].isFixed) return false
      await open({ section: next, ...(step < 0 && { at: 'end' }) }, 'turned')
      return true
    },
    documentAt(x, y) {
      if (!pager) return null
      const { left, top } = pager.frame.getBoundingClientRect()
      return { document: pager.document, path: sections[section]!.path, x: x - left, y: y - top }
    },
    documents: () => (pager ? [pager.document] : []),
    isRightToLeft: () => publication.isRightToLeft || (pager?.isRightToLeft ?? false),
    dispose() {
      opening.abort()
      clearTimeout(prefetch)
      stopScroll()
      host.replaceChildren()
    },
  }
}

type OpenSection = { section: number; pager: Pager }

function positionIn(publication: Publication, { section, pager }: OpenSection): Position {
  const { sections } = publication
  const { page, pages, offset, progression, end } = pager.place()
  const isLastPage = section === sections.length - 1 && page === pages - 1
  // Resources still loading may add pages.
  const isEnd = isLastPage && isLoaded(pager.document)
  return {
    ...{ section, page, pages, progression, isEnd },
    shown: { from: section + progression, to: section + end },
    totalProgression: isEnd ? 1 : totalProgressionAt(publication, sections[section]!, progression),
    text: pager.index.textAt(offset, sampleLength),
    entry: entryAt(publication, { section, pager, offset: offset + sampleLength }),
  }
}

// Images and fonts change the layout when they arrive.
const isLoaded = ({ images, fonts }: Document): boolean =>
  fonts.status === 'loaded' && [...images].every(({ complete }) => complete)

/** Null if everything is loaded. */
function loadedLater(document: Document): Promise<unknown> | null {
  if (isLoaded(document)) return null
  const pending = [...document.images].filter(({ complete }) => !complete)
  return Promise.all([
    document.fonts.ready,
    ...pending.map(image => image.decode().catch(() => {})),
  ])
}

/** Calls `listener` when scrolling stops; returns a function that stops listening. */
function afterScrolling(host: HTMLElement, listener: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  const onScroll = () => {
    clearTimeout(timer)
    if (host.dataset.flow !== 'paginated') timer = setTimeout(listener, scrolledMs)
  }
  host.addEventListener('scroll', onScroll, { passive: true })
  return () => {
    clearTimeout(timer)
    host.removeEventListener('scroll', onScroll)
  }
}

function showTarget(pager: Pager, at: Target['at']) {
  if (at === undefined) return pager.showOffset(0)
  if (at === 'end') return pager.showLast()
  if ('id' in at) {
    const { document } = pager
    const element = document.getElementById(at.id) ?? document.getElementsByName(at.id)[0]
    return element ? pager.showElement(element) : pager.showOffset(0)
  }
  const { progression, text } = at
  const { index } = pager
  const offset = Math.round(progression * index.length)
  // A fraction is only as precise as the app that computed it; the text is exact.
  const isThere = !text || index.textAt(offset, text.length) === text
  pager.showOffset(isThere ? offset : (index.find(text, offset) ?? offset))
}

/** The last table of contents entry before an offset of a section; -1 for none. */
function entryAt(
  { contents, sections }: Publication,
  { section, pager, offset }: OpenSection & { offset: number },
): number {
  const indexes = new Map(sections.map(({ path }, i) => [path, i]))
  const isBegun = (path: string, id: string) => {
    const index = indexes.get(path) ?? Number.POSITIVE_INFINITY
    if (index !== section) return index < section
    const element = id === '' ? null : pager.document.getElementById(id)
    return element === null || pager.index.offsetOf(element) <= offset
  }
  return contents.findLastIndex(({ path, id }) => isBegun(path, id))
}
