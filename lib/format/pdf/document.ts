// Open PDF document: read on demand by MuPDF, with pages counted and measured.
import type { PDFDocument, PDFObject, PDFPage } from 'mupdf'
import { Unreadable } from '../../errors.ts'
import type { File } from '../../file.ts'
import { type Engine, getPath, type Track } from './engine.ts'

export type PdfDocument = Disposable & {
  engine: Engine
  document: PDFDocument
  pageCount: number
  warnings: string[]
  /** Runs `call`; an I/O error takes precedence over the error that MuPDF derives from the missing bytes. */
  run<T>(call: (track: Track) => T): T
}

/** Throws Unreadable: `encrypted`, `no_pages`, `truncated`, `not_an_archive`, `too_large`, `memory`, `io`. */
export function openDocument(engine: Engine, file: File, maxPages: number): PdfDocument {
  try {
    return openWithHidden(engine, file, { maxPages, hidden: [] })
  } catch (cause) {
    const code = cause instanceof Unreadable ? cause.code : null
    if ((code !== 'no_pages' && code !== 'truncated') || file.size > maxRepairBytes) throw cause
    // MuPDF repairs only damage that it detects at once. Without "startxref" it searches the whole file
    // for objects, and finds pages that are missing from a wrong cross-reference table.
    const hidden = findStartxrefs(file)
    if (hidden.length === 0) throw cause
    return openWithHidden(engine, file, { maxPages, hidden })
  }
}

const maxRepairBytes = 256 * 1024 * 1024

function findStartxrefs(file: File): number[] {
  const from = Math.max(0, file.size - 4096)
  const tail = file.read(from, 4096)
  const positions: number[] = []
  for (let i = tail.indexOf('startxref'); i >= 0; i = tail.indexOf('startxref', i + 1))
    positions.push(from + i)
  return positions
}

type OpenOptions = { maxPages: number; hidden: number[] }

/** The file as a MuPDF stream, and `run` for calls that may read. `hidden` are positions of "startxref" to mask. */
function openStream(engine: Engine, file: File, hidden: number[]) {
  let failed: Unreadable | null = null
  const stream = new engine.mupdf.Stream({
    fileSize: () => file.size,
    // An exception must not cross the compiled code, so an I/O error looks like the end of the file.
    read(memory, offset, size, position) {
      try {
        const length = readInto(file, memory.subarray(offset, offset + size), position)
        for (const start of hidden)
          if (start >= position && start < position + length)
            memory[offset + start - position] = 0x78
        return length
      } catch (cause) {
        failed ??= cause as Unreadable
        return 0
      }
    },
    close() {},
  })
  const run = <T>(call: (track: Track) => T): T => {
    try {
      const result = engine.run(call)
      // MuPDF may succeed despite missing bytes; that is not accepted.
      if (failed) throw failed
      return result
    } catch (cause) {
      throw failed ?? cause
    }
  }
  return { stream, run }
}

function openWithHidden(
  engine: Engine,
  file: File,
  { maxPages, hidden }: OpenOptions,
): PdfDocument {
  const { mupdf } = engine
  const { stream, run } = openStream(engine, file, hidden)
  let document: PDFDocument | null = null
  const dispose = () => {
    if (engine.isBroken()) return
    engine.run(() => {
      document?.destroy()
      stream.destroy()
      mupdf.emptyStore()
    })
  }
  try {
    const opened = run(() => (document = new mupdf.PDFDocument(stream)))
    // Documents with an empty user password do not need one.
    if (run(() => opened.needsPassword()))
      throw new Unreadable('The PDF needs a password', 'encrypted')
    const pageCount = run(track => countPages(opened, track, { maxPages, fileSize: file.size }))
    const warnings = opened.wasRepaired() ? ['The PDF was damaged and has been repaired'] : []
    return { engine, document: opened, pageCount, warnings, run, [Symbol.dispose]: dispose }
  } catch (cause) {
    dispose()
    throw cause
  }
}

function readInto(file: File, target: Uint8Array, position: number): number {
  if (file.size > 65_536) return file.readInto(target, position)
  const bytes = file.read(position, target.length)
  target.set(bytes)
  return bytes.length
}

type CountLimits = { maxPages: number; fileSize: number }

// Finding the last page reads all previous page objects, 8 KB each.
const maxVerifiedPages = 64
const maxVerifiedBytes = 1024 * 1024
// A cross-reference entry takes 20 bytes, about 3 when compressed.
const minPageBytes = 3

/** The page count of the page tree root when plausible, else the number of pages found by walking the tree. */
function countPages(
  document: PDFDocument,
  track: Track,
  { maxPages, fileSize }: CountLimits,
): number {
  // With the cache enabled MuPDF reads every page object to find the first.
  document.setPageTreeCache(false)
  let count = 0
  try {
    count = document.countPages()
    const isSmall = count <= maxVerifiedPages || fileSize <= maxVerifiedBytes
    if (count * minPageBytes > fileSize || count > maxPages) count = 0
    else if (count > 0) track(document.findPage(isSmall ? count - 1 : 0))
  } catch {
    count = 0
  }
  if (count <= 0) count = flattenTree(document, track, maxPages)
  if (count > maxPages) throw new Unreadable(`More than ${maxPages} pages`, 'too_large')
  if (count === 0) throw new Unreadable('The PDF has no pages', 'no_pages')
  return count
}

/** Walks a page tree with wrong counts and attaches all pages to the root, in memory only. */
function flattenTree(document: PDFDocument, track: Track, maxPages: number): number {
  const root = getPath(track, track(document.getTrailer()), 'Root', 'Pages')
  const pages: PDFObject[] = []
  const seen = new Set<number>()
  const todo: PDFObject[] = [root]
  for (
    let node = todo.pop();
    node && pages.length <= maxPages && seen.size <= 2 * maxPages;
    node = todo.pop()
  ) {
    const number = node.isIndirect() ? node.asIndirect() : 0
    if (number !== 0 && seen.has(number)) continue
    if (number !== 0) seen.add(number)
    const kids = getPath(track, node, 'Kids')
    if (kids.isArray())
      for (let i = Math.min(kids.length - 1, maxPages); i >= 0; i--) todo.push(track(kids.get(i)))
    else if (number !== 0 && node.isDictionary()) pages.push(node)
  }
  if (pages.length === 0 || pages.length > maxPages) return pages.length
  const list = track(document.newArray())
  for (const page of pages) list.push(page)
  root.put('Kids', list)
  root.put('Count', pages.length)
  return pages.length
}

const dpi = 150
// 75 MB of pixels; a page of 200 inches is scaled down instead of rejected.
const maxPixels = 25_000_000
const maxSide = 30_000

/** The bounds of a page in points and its size in pixels when rendered. */
export function sizeOf(page: PDFPage) {
  const [x0, y0, x1, y1] = page.getBounds()
  const [width, height] = [Math.max(x1 - x0, 1), Math.max(y1 - y0, 1)]
  const scale = Math.min(
    dpi / 72,
    Math.sqrt(maxPixels / (width * height)),
    maxSide / Math.max(width, height),
  )
  // Rounded like MuPDF: a fraction below a thousandth of a pixel is ignored.
  const pixels = (points: number) => Math.max(1, Math.ceil(points * scale - 0.001))
  return { bounds: [x0, y0, x1, y1] as const, scale, width: pixels(width), height: pixels(height) }
}
