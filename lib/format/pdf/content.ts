// Whether the pages of a PDF show anything. MuPDF renders what it cannot decode as blank pages, e.g. where the key of an
// encrypted file is lost, and a book of blank pages would count as sound.
import type { PDFObject, PDFPage } from 'mupdf'
import { Unreadable } from '../../errors.ts'
import { getPath, isTrap, type Track } from './engine.ts'

// A document has some blank pages, as between chapters; a hostile one has nothing else.
const maxPages = 200
const maxMs = 500
// Longer contents are not decoded here, and count as sound.
const maxStreamBytes = 64 * 1024
const maxStreams = 20

type Content = 'shown' | 'empty' | 'unreadable'

type Options = {
  pageCount: number
  isEncrypted: boolean
  loadPage: (track: Track, index: number) => PDFPage
  run: <T>(call: (track: Track) => T) => T
}

/** Throws Unreadable `no_pages` if all pages are empty, `encrypted` or `truncated` if some cannot be decoded and no page shows anything. */
export function assertContent({ pageCount, isEncrypted, loadPage, run }: Options): void {
  const end = performance.now() + maxMs
  let isAnyUnreadable = false
  for (let index = 0; index < pageCount; index += 1) {
    if (index >= maxPages || performance.now() > end) return
    const content = run(track => contentOf(track, index, loadPage))
    if (content === 'shown') return
    isAnyUnreadable ||= content === 'unreadable'
  }
  if (!isAnyUnreadable) throw new Unreadable('The pages of the PDF are empty', 'no_pages')
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
    return (
      states.find(state => state === 'shown') ?? states.find(s => s === 'unreadable') ?? 'empty'
    )
  } catch (cause) {
    if (isTrap(cause)) throw cause
    return 'unreadable'
  }
}

// Operators that paint: paths, shadings, XObjects, text and inline images (ISO 32000-1, 8.2).
const painting = /(?:^|[\s\])>])(?:[fFsSB]|f\*|B\*|b\*?|sh|Do|T[jJ]|['"]|EI)(?=[\s/<([]|$)/
// An empty stream has some bytes when compressed or encrypted.
const maxEmptyBytes = 32

function stateOf(track: Track, stream: PDFObject): Content {
  if (!stream.isStream()) return 'empty'
  const length = getPath(track, stream, 'Length')
  const bytes = length.isNumber() ? length.asNumber() : 0
  if (bytes > maxStreamBytes) return 'shown'
  const text = Buffer.from(track(stream.readStream()).asUint8Array()).toString('latin1')
  const foreign = text.match(/[^\t\n\f\r -~]/g)?.length ?? 0
  if (foreign > text.length / 4) return 'unreadable'
  if (painting.test(text)) return 'shown'
  return text === '' && bytes > maxEmptyBytes ? 'unreadable' : 'empty'
}
