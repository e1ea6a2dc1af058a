// An open PDF: read from the file as MuPDF asks, unlocked, its pages counted and measured.
import type { PDFDocument, PDFObject, PDFPage } from 'mupdf'
import { Unreadable } from '../../errors.ts'
import type { File } from '../../file.ts'
import { at, type Engine, type Keep } from './engine.ts'

export type PdfDocument = Disposable & {
  engine: Engine
  document: PDFDocument
  pageCount: number
  warnings: string[]
  /** Runs `call`; an error of the disk goes before whatever MuPDF made of the missing bytes. */
  run<T>(call: (keep: Keep) => T): T
}

/** Throws Unreadable: `encrypted`, `no_pages`, `truncated`, `not_an_archive`, `too_large`, `memory`, `io`. */
export function openDocument(engine: Engine, file: File, mostPages: number): PdfDocument {
  try {
    return openFrom(engine, file, { mostPages, hidden: [] })
  } catch (cause) {
    const code = cause instanceof Unreadable ? cause.code : null
    if ((code !== 'no_pages' && code !== 'truncated') || file.size > mostRepaired) throw cause
    // MuPDF repairs by itself only what it stumbles upon at once. Without "startxref" it searches
    // the whole file for objects, and finds the pages that a wrong table has lost.
    const hidden = findTableMarks(file)
    if (hidden.length === 0) throw cause
    return openFrom(engine, file, { mostPages, hidden })
  }
}

const mostRepaired = 256 * 1024 * 1024

function findTableMarks(file: File): number[] {
  const from = Math.max(0, file.size - 4096)
  const tail = file.read(from, 4096)
  const found: number[] = []
  for (let i = tail.indexOf('startxref'); i >= 0; i = tail.indexOf('startxref', i + 1))
    found.push(from + i)
  return found
}

type Opening = { mostPages: number; hidden: number[] }

/** The file as MuPDF reads it, and `run` for everything that may read. */
function openStream(engine: Engine, file: File, hidden: number[]) {
  let failed: Unreadable | null = null
  const stream = new engine.mupdf.Stream({
    fileSize: () => file.size,
    // An exception must not cross the compiled code, so a failing disk reads as the end of the file.
    read(memory, offset, size, position) {
      try {
        const got = fill(file, memory.subarray(offset, offset + size), position)
        for (const mark of hidden)
          if (mark >= position && mark < position + got) memory[offset + mark - position] = 0x78
        return got
      } catch (cause) {
        failed ??= cause as Unreadable
        return 0
      }
    },
    close() {},
  })
  const run = <T>(call: (keep: Keep) => T): T => {
    try {
      const result = engine.run(call)
      // MuPDF makes do with missing bytes; we do not.
      if (failed) throw failed
      return result
    } catch (cause) {
      throw failed ?? cause
    }
  }
  return { stream, run }
}

function openFrom(engine: Engine, file: File, { mostPages, hidden }: Opening): PdfDocument {
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
    // An empty user password opens by itself.
    if (run(() => opened.needsPassword()))
      throw new Unreadable('The PDF needs a password', 'encrypted')
    const pageCount = run(keep => countPages(opened, keep, { mostPages, fileSize: file.size }))
    const warnings = opened.wasRepaired() ? ['The PDF was damaged and has been repaired'] : []
    return { engine, document: opened, pageCount, warnings, run, [Symbol.dispose]: dispose }
  } catch (cause) {
    dispose()
    throw cause
  }
}

function fill(file: File, target: Uint8Array, position: number): number {
  if (file.size > 65_536) return file.readInto(target, position)
  const bytes = file.read(position, target.length)
  target.set(bytes)
  return bytes.length
}

type Claim = { mostPages: number; fileSize: number }

// Finding the last page reads every page object before it, 8 KB each.
const checkedPages = 64
const checkedBytes = 1024 * 1024
// An entry of the cross-reference table alone takes 20 bytes, compressed perhaps 3.
const leastPageBytes = 3

/** What the root of the page tree claims, where that can be, else what a walk finds. */
function countPages(document: PDFDocument, keep: Keep, { mostPages, fileSize }: Claim): number {
  // With the cache MuPDF reads every page object to find the first.
  document.setPageTreeCache(false)
  let count = 0
  try {
    count = document.countPages()
    const isSmall = count <= checkedPages || fileSize <= checkedBytes
    if (count * leastPageBytes > fileSize || count > mostPages) count = 0
    else if (count > 0) keep(document.findPage(isSmall ? count - 1 : 0))
  } catch {
    count = 0
  }
  if (count <= 0) count = flattenTree(document, keep, mostPages)
  if (count > mostPages) throw new Unreadable(`More than ${mostPages} pages`, 'too_large')
  if (count === 0) throw new Unreadable('The PDF has no pages', 'no_pages')
  return count
}

/** Walks a page tree whose counts lie and hangs its pages under one node; changes nothing on disk. */
function flattenTree(document: PDFDocument, keep: Keep, most: number): number {
  const root = at(keep, keep(document.getTrailer()), 'Root', 'Pages')
  const pages: PDFObject[] = []
  const seen = new Set<number>()
  const todo: PDFObject[] = [root]
  for (
    let node = todo.pop();
    node && pages.length <= most && seen.size <= 2 * most;
    node = todo.pop()
  ) {
    const number = node.isIndirect() ? node.asIndirect() : 0
    if (number !== 0 && seen.has(number)) continue
    if (number !== 0) seen.add(number)
    const kids = at(keep, node, 'Kids')
    if (kids.isArray())
      for (let i = Math.min(kids.length - 1, most); i >= 0; i--) todo.push(keep(kids.get(i)))
    else if (number !== 0 && node.isDictionary()) pages.push(node)
  }
  if (pages.length === 0 || pages.length > most) return pages.length
  const list = keep(document.newArray())
  for (const page of pages) list.push(page)
  root.put('Kids', list)
  root.put('Count', pages.length)
  return pages.length
}

const dpi = 150
// 75 MB of pixels; a page of 200 inches is scaled down rather than refused.
const mostPixels = 25_000_000
const mostSide = 30_000

/** The bounds of a page in points and its size in pixels when rendered. */
export function sizeOf(page: PDFPage) {
  const [x0, y0, x1, y1] = page.getBounds()
  const [width, height] = [Math.max(x1 - x0, 1), Math.max(y1 - y0, 1)]
  const scale = Math.min(
    dpi / 72,
    Math.sqrt(mostPixels / (width * height)),
    mostSide / Math.max(width, height),
  )
  // Rounded as MuPDF rounds: what is within a thousandth of a pixel is not there.
  const pixels = (points: number) => Math.max(1, Math.ceil(points * scale - 0.001))
  return { bounds: [x0, y0, x1, y1] as const, scale, width: pixels(width), height: pixels(height) }
}
