// PDF reader: pages are rendered, or extracted if they consist of a scan.
// file: "%PDF-" version somewhere in its first KiB, objects, "startxref" offset "%%EOF"
import { withMemory } from '../../../base/async/memory-budget.ts'
import { Unreadable } from '../../../base/errors.ts'
import type { File } from '../../../base/file.ts'
import type { Limits } from '../../archive/limits.ts'
import { encodePixels } from '../../image/cover.ts'
import type { RawImage } from '../../image/primitives.ts'
import type { FormatReader, Page } from '../contract.ts'
import { openDocument, type PdfDocument, sizeOf } from './document.ts'
import { embeddedJpeg } from './embedded-jpeg.ts'
import { type Engine, loadEngine, replaceEngine } from './engine.ts'
import { readPdfMetadata } from './metadata.ts'

const jpegQuality = 85

export const pdfReader: FormatReader = {
  archive: null,
  matches: head =>
    Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 1024)).includes('%PDF-'),
  async open(file, limits) {
    await preloadSmall(file)
    const opened = openDocument(await loadEngine(), file, limits.entries)
    let pages: readonly Page[] | null = null
    let isClosed = false
    return {
      // Lazy: measuring reads an object per page, which is not needed to read a single page.
      get pages() {
        pages ??= listPages(opened)
        return pages
      },
      imageCount: opened.pageCount,
      pageCount: opened.pageCount,
      checks: null,
      warnings: opened.warnings,
      page: index => readPage(opened, index, { limits }),
      covers: () => readCovers(opened, limits, { skipsFirst: true }),
      metadata: async () => [readPdfMetadata(opened, limits.metadataBytes)],
      async [Symbol.asyncDispose]() {
        if (!isClosed) opened[Symbol.dispose]()
        isClosed = true
      },
    }
  },
  async *covers(file, limits) {
    await preloadSmall(file)
    const engine = await loadEngine()
    try {
      yield* openAndReadCovers(engine, file, { limits, skipsFirst: false })
    } catch (cause) {
      // Some files make MuPDF fail with later ones that are sound.
      const fresh = cause instanceof Unreadable ? await replaceEngine(engine) : null
      if (fresh === null) throw cause
      yield* openAndReadCovers(fresh, file, { limits, skipsFirst: true })
    }
  },
}

async function* openAndReadCovers(
  engine: Engine,
  file: File,
  { limits, skipsFirst }: { limits: Limits; skipsFirst: boolean },
): AsyncGenerator<Uint8Array> {
  const opened = openDocument(engine, file, limits.entries)
  try {
    yield* readCovers(opened, limits, { skipsFirst })
  } finally {
    opened[Symbol.dispose]()
  }
}

// MuPDF reads synchronously and would wait for almost every page: reading a file of this size as a whole is
// faster.
const maxPreloadedBytes = 8 * 1024 * 1024

async function preloadSmall(file: File) {
  if (file.preload && file.size <= maxPreloadedBytes)
    await file.preload([{ position: 0, length: file.size }])
}

const coverCandidates = 5
// Three times A4: a cover is scaled down anyway.
const maxCoverPixels = 6_000_000

/** The first pages; without `skipsFirst`, throws the error of the first one. */
async function* readCovers(
  opened: PdfDocument,
  limits: Limits,
  { skipsFirst }: { skipsFirst: boolean },
): AsyncGenerator<Uint8Array> {
  let failure: unknown = null
  let isEmpty = true
  for (let index = 0; index < Math.min(opened.pageCount, coverCandidates); index += 1) {
    try {
      const { bytes } = await readPage(opened, index, { limits, maxPixels: maxCoverPixels })
      isEmpty = false
      yield bytes
    } catch (cause) {
      if (!(cause instanceof Unreadable) || (index === 0 && !skipsFirst)) throw cause
      failure ??= cause
    }
  }
  if (isEmpty) throw failure
}

// Normally 20 µs per page, but a hostile page can take much longer.
const measuredPages = 2000
const sampledPages = 100
const maxMeasureMs = 1000

const unmeasured = { mediaType: 'image/jpeg', bytes: 0, width: null, height: null, location: null }

function listPages({ run, document, pageCount, loadPage }: PdfDocument): Page[] {
  const isShort = pageCount <= measuredPages
  const end = performance.now() + maxMeasureMs
  document.setPageTreeCache(isShort)
  return Array.from({ length: pageCount }, (_, index) => {
    const name = `page-${String(index + 1).padStart(4, '0')}`
    const page: Page = { ...unmeasured, name }
    if ((!isShort && index >= sampledPages) || performance.now() > end) return page
    try {
      const { width, height } = run(track => sizeOf(loadPage(track, index)))
      return { ...page, width, height }
    } catch {
      // One broken page does not make the others unreadable.
      return page
    }
  })
}

type Rendering = { limits: Limits; maxPixels?: number }

async function readPage(pdf: PdfDocument, index: number, options: Rendering) {
  if (!Number.isInteger(index) || index < 0 || index >= pdf.pageCount)
    throw new Unreadable('The page does not exist', 'no_pages')
  const { width, height } = pdf.run(track => sizeOf(pdf.loadPage(track, index), options.maxPixels))
  // Rendered pixels exist twice: in WASM memory and as a copy.
  return withMemory(width * height * 6, () => renderPage(pdf, index, options))
}

async function renderPage(pdf: PdfDocument, index: number, { limits, maxPixels }: Rendering) {
  const content = pdf.run(track => {
    const page = pdf.loadPage(track, index)
    const { bounds, scale } = sizeOf(page, maxPixels)
    const jpeg = embeddedJpeg(pdf, page, { bounds, maxBytes: limits.entryBytes })
    if (jpeg) return jpeg
    const { mupdf } = pdf.engine
    const colorSpace = mupdf.ColorSpace.DeviceRGB
    const pixmap = track(page.toPixmap([scale, 0, 0, scale, 0, 0], colorSpace, false, true))
    // Copied, because a view of WASM memory may move, and encoding happens on another thread.
    const data = Uint8Array.from(pixmap.getPixels())
    return {
      data,
      width: pixmap.getWidth(),
      height: pixmap.getHeight(),
      channels: 3,
    } satisfies RawImage
  })
  const mediaType = 'image/jpeg'
  if (content instanceof Uint8Array) return { bytes: content, mediaType }
  // MuPDF's encoder takes 140 ms for what sharp does in 24.
  return { bytes: await encodePixels(content, jpegQuality), mediaType }
}
