// Pages of a fixed-layout book as frames of their own size.
import { type BookDocument, openDocument } from '../content/document.ts'
import type { ViewOptions } from './book-view.ts'

type Size = { width: number; height: number }

type FixedPage = { opened: BookDocument; box: HTMLElement; size: Size }

const fallbackSize: Size = { width: 800, height: 1200 }

const pageCss =
  'html, body { margin: 0; overflow: clip } html { background: #fff; color-scheme: light only } body > svg:only-child, body > img:only-child { display: block; width: 100%; height: 100vh }'

/** Frames in `host` by section: loaded once, hidden until they are arranged. */
export function createFixedPages({
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
export function arrangePages(host: HTMLElement, pages: readonly (FixedPage | null)[]) {
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
