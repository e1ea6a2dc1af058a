// Display of a fixed-layout EPUB: pages scaled to the window, one or two at a time.
import type { Movement } from '../../reading/recorder.ts'
import { type BookDocument, openDocument } from '../content/document.ts'
import type { Publication, Section } from '../content/publication.ts'
import { type BookView, totalProgressionAt, type ViewOptions } from './book-view.ts'

export function createFixedView(options: ViewOptions): BookView {
  const { host, publication, settings, onMoved } = options
  const { sections } = publication
  const pages = createFixedPages(options)
  let spreads = spreadsOf(publication, isPaired)
  let section = 0
  /** The section being opened. */
  let requested: { section: number; movement: Movement } | null = null
  let opening = new AbortController()

  function isPaired({ spread }: Section): boolean {
    const { columns } = settings()
    if (spread === 'none' || columns === '1') return false
    return columns === '2' || spread === 'both' || host.clientWidth > host.clientHeight
  }
  const spreadOf = (index: number) => spreads.findIndex(spread => spread.includes(index))

  async function open(next: number, movement: Movement): Promise<void> {
    opening.abort()
    opening = new AbortController()
    requested = { section: next, movement }
    const { signal } = opening
    const at = spreadOf(next)
    const shown = await Promise.all(
      spreads[at]!.map(index => (index === null ? null : pages.load(index))),
    )
    if (signal.aborted) return
    section = next
    requested = null
    host.dataset.flow = 'fixed'
    arrangePages(host, shown)
    report(movement)
    // Preloads the neighbors for turning the page.
    const near = [at - 1, at, at + 1].flatMap(i => spreads[i] ?? []).filter(index => index !== null)
    const wanted = new Set(near.filter(index => sections[index]!.isFixed))
    pages.retain(wanted)
    for (const index of wanted) pages.load(index).catch(() => {})
  }

  function report(movement: Movement) {
    const displayed = spreads[spreadOf(section)]!.filter(index => index !== null)
    const last = Math.max(...displayed)
    const isEnd = last === sections.length - 1
    const paths = new Set(sections.slice(0, last + 1).map(({ path }) => path))
    const position = {
      ...{ section, isEnd, page: 0, pages: 1, progression: 0, text: '' },
      shown: { from: Math.min(...displayed), to: last + 1 },
      totalProgression: isEnd ? 1 : totalProgressionAt(publication, sections[section]!, 0),
      entry: publication.contents.findLastIndex(({ path }) => paths.has(path)),
    }
    onMoved(position, movement)
  }

  const shownFrames = () => [...host.querySelectorAll<HTMLIFrameElement>('iframe.shown')]
  return {
    open: ({ section: next }, movement) => open(next, movement),
    async turn(step) {
      const next = spreads[spreadOf(section) + step]
      const first = Math.min(...(next ?? []).filter(index => index !== null))
      if (!sections[first]?.isFixed) return false
      await open(first, 'turned')
      return true
    },
    layOut() {
      spreads = spreadsOf(publication, isPaired)
      const { section: shown, movement } = requested ?? { section, movement: 'laidOut' }
      open(shown, movement).catch(() => {})
    },
    documentAt(x, y) {
      for (const frame of shownFrames()) {
        const { left, top, width, right, bottom } = frame.getBoundingClientRect()
        if (x < left || x > right || y < top || y > bottom) continue
        const scale = width / frame.offsetWidth
        const at = { x: (x - left) / scale, y: (y - top) / scale }
        return { document: frame.contentDocument!, path: frame.dataset.path ?? '', ...at }
      }
      return null
    },
    documents: () => shownFrames().map(frame => frame.contentDocument!),
    isRightToLeft: () => publication.isRightToLeft,
    dispose() {
      opening.abort()
      pages.close()
      host.replaceChildren()
    },
  }
}

/** Sections side by side, from left to right; null for an empty page. */
type Spread = readonly (number | null)[]

/**
 * Which pages are side by side: the first page alone, then pairs, unless the book assigns a side. `isPaired`: whether
 * a page may be part of a pair.
 */
function spreadsOf(
  publication: Pick<Publication, 'sections' | 'isRightToLeft'>,
  isPaired: (section: Section) => boolean,
): Spread[] {
  const { sections, isRightToLeft } = publication
  const spreads: Spread[] = []
  const first = isRightToLeft ? 'right' : 'left'
  const second = isRightToLeft ? 'left' : 'right'
  let pending: number | null = null
  const add = (one: number | null, two: number | null) => {
    spreads.push(isRightToLeft ? [two, one] : [one, two])
    pending = null
  }
  for (const [i, section] of sections.entries()) {
    const { page } = section
    const isAlone = page === 'center' || !section.isFixed || !isPaired(section)
    if (isAlone) {
      if (pending !== null) add(pending, null)
      spreads.push([i])
      continue
    }
    const side = page ?? (i === 0 || pending !== null ? second : first)
    const isPairEnd = side === second
    if (pending !== null && !isPairEnd) add(pending, null)
    if (isPairEnd) add(pending, i)
    else pending = i
  }
  if (pending !== null) add(pending, null)
  return spreads
}

type Size = { width: number; height: number }

type FixedPage = { opened: BookDocument; box: HTMLElement; size: Size }

const fallbackSize: Size = { width: 800, height: 1200 }

const pageCss =
  'html, body { margin: 0; overflow: clip } html { background: #fff; color-scheme: light only } body > svg:only-child, body > img:only-child { display: block; width: 100%; height: 100vh }'

/** Frames in `host` by section: loaded once, hidden until they are arranged. */
function createFixedPages({
  host,
  publication,
  onDocument,
}: Pick<ViewOptions, 'host' | 'publication' | 'onDocument'>) {
  const pages = new Map<number, Promise<FixedPage>>()
  const closing = new AbortController()

  async function loadPage(index: number): Promise<FixedPage> {
    const { path, type } = publication.sections[index]!
    const box = document.createElement('div')
    box.className = 'epub-fixed-page'
    host.append(box)
    try {
      const request = { host: box, path, type, title: publication.title, signal: closing.signal }
      const opened = await openDocument(publication, request)
      const size = await prepare(opened)
      onDocument(opened.document, path)
      return { opened, box, size }
    } catch (error) {
      box.remove()
      throw error
    }
  }

  return {
    /** Throws ApiError. */
    load(index: number): Promise<FixedPage> {
      let page = pages.get(index)
      if (!page) {
        page = loadPage(index)
        pages.set(index, page)
        page.catch(() => pages.delete(index))
      }
      return page
    },
    retain(wanted: ReadonlySet<number>) {
      for (const [index, page] of pages) {
        if (wanted.has(index)) continue
        pages.delete(index)
        void page.then(({ box }) => box.remove()).catch(() => {})
      }
    },
    close: () => closing.abort(),
  }
}

/** A page that states no size has the size of its image. */
async function prepare({ document, size }: BookDocument): Promise<Size> {
  const style = document.createElement('style')
  style.textContent = pageCss
  document.head.prepend(style)
  if (size) return size
  const [image] = document.images
  await image?.decode().catch(() => {})
  if (!image || image.naturalWidth === 0) return fallbackSize
  return { width: image.naturalWidth, height: image.naturalHeight }
}

/** Centers pages side by side in the host, at the same height and as large as possible. */
function arrangePages(host: HTMLElement, pages: readonly (FixedPage | null)[]) {
  const sample = pages.find(page => page !== null)
  if (!sample) return
  const sizes = pages.map(page => page?.size ?? sample.size)
  const widths = sizes.map(({ width, height }) => width / height)
  const total = widths.reduce((sum, width) => sum + width, 0)
  const height = Math.min(host.clientHeight, host.clientWidth / total)
  let left = (host.clientWidth - total * height) / 2
  for (const box of host.querySelectorAll('.shown')) box.classList.remove('shown')
  for (const [i, page] of pages.entries()) {
    const width = widths[i]! * height
    if (page) placePage(page, { left, top: (host.clientHeight - height) / 2, width, height })
    left += width
  }
}

function placePage(
  { box, opened, size }: FixedPage,
  { left, top, width, height }: Size & { left: number; top: number },
) {
  const pixels = (values: Record<string, number>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, `${value}px`]))
  Object.assign(box.style, pixels({ left, top, width, height }))
  Object.assign(opened.frame.style, pixels(size), { transform: `scale(${height / size.height})` })
  box.classList.add('shown')
  opened.frame.classList.add('shown')
}
