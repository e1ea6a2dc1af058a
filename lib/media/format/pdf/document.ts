// Open PDF document: read on demand by MuPDF, with pages counted and measured.
import type { PDFDocument, PDFObject, PDFPage } from 'mupdf'
import { Unreadable } from '../../../base/errors.ts'
import type { File } from '../../../base/file.ts'
import { type Engine, getPath, isTrap, type Track } from './engine.ts'
import { type CountOptions, countPages, rebuildTree } from './page-tree.ts'

export type PdfDocument = Disposable & {
  engine: Engine
  document: PDFDocument
  pageCount: number
  warnings: string[]
  /** Runs `call`; an I/O error takes precedence over the error that MuPDF derives from the missing bytes. */
  run<T>(call: (track: Track) => T): T
  /** A page, for use in `run`; if the page tree is damaged, from a rebuilt one. */
  loadPage(track: Track, index: number): PDFPage
}

/** Throws Unreadable: `encrypted`, `no_pages`, `truncated`, `bad_crc`, `not_an_archive`, `too_large`, `memory`, `io`. */
export function openDocument(engine: Engine, file: File, maxPages: number): PdfDocument {
  // MuPDF only repairs damage that it detects immediately. Without "startxref" it searches the whole file for
  // objects, and finds pages that are missing from a wrong cross-reference table.
  const hidden = file.size > maxRepairBytes ? [] : findStartxrefs(file)
  const repairs = hidden.length === 0 ? [[]] : [[], hidden]
  let failure: unknown = null
  for (const rebuild of [undefined, 'listed', 'all'] as const) {
    for (const positions of repairs) {
      try {
        return openWithHidden(engine, file, { maxPages, rebuild, hidden: positions })
      } catch (cause) {
        failure ??= cause
        if (cause instanceof Unreadable && cause.code === 'too_large') throw cause
        if (!isDamage(cause) || engine.isBroken()) throw withCode(file, failure)
      }
    }
    if (file.size > maxRepairBytes && rebuild === 'listed') break
  }
  throw withCode(file, failure)
}

const isDamage = (cause: unknown): cause is Unreadable =>
  cause instanceof Unreadable && ['no_pages', 'truncated'].includes(cause.code)

/** Refines the reason by what the file shows: the last line of a complete PDF is "%%EOF". */
function withCode(file: File, cause: unknown): unknown {
  const codes = ['truncated', 'not_an_archive']
  if (!(cause instanceof Unreadable && codes.includes(cause.code))) return cause
  const head = file.read(0, 4096).toString('latin1')
  const tail = file.read(Math.max(0, file.size - 4096), 4096)
  const isComplete = tail.includes('%%EOF')
  if (!isComplete && !/%PDF-|\d \d+ obj\b/.test(head))
    return new Unreadable('The file is not a PDF', 'not_an_archive', { cause })
  return isComplete
    ? new Unreadable('The PDF is damaged', 'bad_crc', { cause })
    : new Unreadable('The PDF ends too early', 'truncated', { cause })
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

type OpenOptions = { maxPages: number; rebuild: CountOptions['rebuild']; hidden: number[] }

/**
 * The file as a MuPDF stream, and `run` for calls that may read. `hidden`: positions of "startxref" to mask.
 */
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
  { maxPages, rebuild, hidden }: OpenOptions,
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
    const pageCount = run(track =>
      countPages(opened, track, { maxPages, fileSize: file.size, rebuild }),
    )
    const warnings = opened.wasRepaired() ? ['The PDF was damaged and has been repaired'] : []
    if (rebuild !== undefined)
      warnings.push('The page tree of the PDF is damaged; its pages were collected')
    let isRebuilt = rebuild !== undefined
    const loadPage = (track: Track, index: number) => {
      try {
        return track(opened.loadPage(index))
      } catch (cause) {
        if (isRebuilt || isTrap(cause)) throw cause
        // Large trees are not checked up front.
        isRebuilt = true
        rebuildTree(opened, track, { maxPages, rebuild: 'listed' })
        return track(opened.loadPage(index))
      }
    }
    const isEncrypted = run(
      track => !getPath(track, track(opened.getTrailer()), 'Encrypt').isNull(),
    )
    assertContent({ pageCount, isEncrypted, loadPage, run })
    const pdf = { engine, document: opened, pageCount, warnings, run, loadPage }
    return { ...pdf, [Symbol.dispose]: dispose }
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

const dpi = 150
// 75 MB of pixels; a page of 200 inches is scaled down rather than rejected.
const maxPagePixels = 25_000_000
const maxSide = 30_000

/** The bounds of a page in points and its size in pixels when rendered. */
export function sizeOf(page: PDFPage, maxPixels = maxPagePixels) {
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

// Pages must show something: MuPDF renders what it cannot decode as blank pages, e.g. if the key of an encrypted file is lost,
// and a book of blank pages would count as sound. A document may have some blank pages, as between chapters; a hostile one has nothing else.
const maxPages = 200
const maxMs = 500
// Longer content is not decoded here, and counts as sound.
const maxStreamBytes = 64 * 1024
const maxStreams = 20

/** `unclear`: a stream is damaged, or has an unknown filter; a damaged page is still a page. */
type Content = 'shown' | 'empty' | 'noise' | 'unclear'

type Options = {
  pageCount: number
  isEncrypted: boolean
  loadPage: (track: Track, index: number) => PDFPage
  run: <T>(call: (track: Track) => T) => T
}

/**
 * Throws Unreadable if no page shows anything: `no_pages` if all are empty, `encrypted` or `truncated` if
 * their content is noise.
 */
function assertContent({ pageCount, isEncrypted, loadPage, run }: Options): void {
  const end = performance.now() + maxMs
  const seen = new Set<Content>()
  for (let index = 0; index < pageCount; index += 1) {
    if (index >= maxPages || performance.now() > end) return
    const content = run(track => contentOf(track, index, loadPage))
    if (content === 'shown' || (content === 'unclear' && !isEncrypted)) return
    seen.add(content)
  }
  if (!seen.has('noise') && !seen.has('unclear'))
    throw new Unreadable('The pages of the PDF are empty', 'no_pages')
  throw isEncrypted
    ? new Unreadable('The PDF is encrypted in an unknown way', 'encrypted')
    : new Unreadable('The contents of the PDF cannot be decoded', 'truncated')
}

function contentOf(track: Track, index: number, loadPage: Options['loadPage']): Content {
  try {
    const page = track(loadPage(track, index).getObject())
    const annotations = getPath(track, page, 'Annots')
    if (annotations.isArray() && annotations.length > 0) return 'shown'
    const contents = getPath(track, page, 'Contents')
    const streams = contents.isArray()
      ? Array.from({ length: Math.min(contents.length, maxStreams) }, (_, i) =>
          getPath(track, contents, i),
        )
      : [contents]
    const states = streams.map(stream => stateOf(track, stream))
    return (['shown', 'noise', 'unclear'] as const).find(state => states.includes(state)) ?? 'empty'
  } catch (cause) {
    if (isTrap(cause)) throw cause
    return 'unclear'
  }
}

// Operators that paint: paths, shadings, XObjects, text and inline images (ISO 32000-1, 8.2).
const painting = /(?:^|[\s\])>])(?:[fFsSB]|f\*|B\*|b\*?|sh|Do|T[jJ]|['"]|EI)(?=[\s/<([]|$)/
// An empty stream has some bytes when compressed.
const maxEmptyBytes = 16
const minNoise = 32

function stateOf(track: Track, stream: PDFObject): Content {
  if (!stream.isStream()) return 'empty'
  const length = getPath(track, stream, 'Length')
  const bytes = length.isNumber() ? length.asNumber() : 0
  if (bytes > maxStreamBytes) return 'shown'
  // MuPDF returns the bytes unchanged.
  if (hasUnknownFilter(track, stream)) return 'unclear'
  const text = Buffer.from(track(stream.readStream()).asUint8Array()).toString('latin1')
  const foreign = text.match(/[^\t\n\f\r -~]/g)?.length ?? 0
  if (text.length >= minNoise && foreign > text.length / 4) return 'noise'
  if (painting.test(text)) return 'shown'
  return bytes > maxEmptyBytes && (text === '' || foreign > 0) ? 'unclear' : 'empty'
}

const filters =
  /^(?:Flate|LZW|ASCII85|ASCIIHex|RunLength|CCITTFax|DCT|JBIG2|JPX)Decode$|^Crypt$|^(?:Fl|LZW|A85|AHx|RL|CCF|DCT)$/

function hasUnknownFilter(track: Track, stream: PDFObject): boolean {
  const filter = getPath(track, stream, 'Filter')
  const names = filter.isArray()
    ? Array.from({ length: Math.min(filter.length, maxStreams) }, (_, i) =>
        getPath(track, filter, i),
      )
    : [filter]
  return names.some(name => name.isName() && !filters.test(name.asName()))
}
