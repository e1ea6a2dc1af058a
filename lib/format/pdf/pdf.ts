// PDF: pages are rendered, or are the scans they consist of.
// file: "%PDF-" version somewhere in its first KiB, objects, "startxref" offset "%%EOF"
import { Unreadable } from '../../errors.ts'
import { encodePixels } from '../../image/cover.ts'
import type { Raw } from '../../image/raw.ts'
import type { Format, Limits, Page } from '../contract.ts'
import { openDocument, type PdfDocument, sizeOf } from './document.ts'
import { embeddedJpeg } from './embedded-jpeg.ts'
import { loadEngine } from './engine.ts'
import { readPdfMetadata } from './metadata.ts'

const quality = 85

export const pdf: Format = {
  name: 'pdf',
  matches: head =>
    Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 1024)).includes('%PDF-'),
  async open(file, limits) {
    const opened = openDocument(await loadEngine(), file, limits.entries)
    let pages: readonly Page[] | null = null
    let isClosed = false
    return {
      format: 'pdf',
      // Measuring reads an object a page, so whoever only wants one page does not pay for it.
      get pages() {
        pages ??= listPages(opened)
        return pages
      },
      pageCount: opened.pageCount,
      warnings: opened.warnings,
      page: index => readPage(opened, index, limits),
      cover: async () => (await readPage(opened, 0, limits)).bytes,
      metadata: async () => [readPdfMetadata(opened, limits.metadataBytes)],
      async [Symbol.asyncDispose]() {
        if (!isClosed) opened[Symbol.dispose]()
        isClosed = true
      },
    }
  },
}

// 20 µs a page when all is well; a hostile one can take much longer.
const measuredPages = 2000
const sampledPages = 100
const mostMilliseconds = 1000

function listPages({ run, document, pageCount }: PdfDocument): Page[] {
  const isShort = pageCount <= measuredPages
  const end = performance.now() + mostMilliseconds
  document.setPageTreeCache(isShort)
  return Array.from({ length: pageCount }, (_, index) => {
    const name = `page-${String(index + 1).padStart(4, '0')}`
    const page: Page = { name, mediaType: 'image/jpeg', bytes: 0, width: null, height: null }
    if ((!isShort && index >= sampledPages) || performance.now() > end) return page
    try {
      const { width, height } = run(keep => sizeOf(keep(document.loadPage(index))))
      return { ...page, width, height }
    } catch {
      // One broken page is no reason to refuse the others.
      return page
    }
  })
}

async function readPage(pdf: PdfDocument, index: number, limits: Limits) {
  if (!Number.isInteger(index) || index < 0 || index >= pdf.pageCount)
    throw new Unreadable('There is no such page', 'no_pages')
  const found = pdf.run(keep => {
    const page = keep(pdf.document.loadPage(index))
    const { bounds, scale } = sizeOf(page)
    const jpeg = embeddedJpeg(pdf, page, { bounds, mostBytes: limits.entryBytes })
    if (jpeg) return jpeg
    const { mupdf } = pdf.engine
    const colours = mupdf.ColorSpace.DeviceRGB
    const pixmap = keep(page.toPixmap([scale, 0, 0, scale, 0, 0], colours, false, true))
    // A view into memory that may move, and is encoded on another thread.
    const data = Uint8Array.from(pixmap.getPixels())
    return { data, width: pixmap.getWidth(), height: pixmap.getHeight(), channels: 3 } satisfies Raw
  })
  const mediaType = 'image/jpeg'
  if (found instanceof Uint8Array) return { bytes: found, mediaType }
  // MuPDF's own encoder takes 140 ms for what sharp does in 24.
  return { bytes: await encodePixels(found, quality), mediaType }
}
