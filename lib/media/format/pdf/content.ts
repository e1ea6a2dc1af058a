// Checks that the pages of a PDF show anything. MuPDF renders what it cannot decode as blank pages, e.g. if
// the key of an encrypted file is lost, and a book of blank pages would count as sound.
import type { PDFObject, PDFPage } from 'mupdf'
import { Unreadable } from '../../../base/errors.ts'
import { getPath, isTrap, type Track } from './engine.ts'

// A document may have some blank pages, as between chapters; a hostile one has nothing else.
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
export function assertContent({ pageCount, isEncrypted, loadPage, run }: Options): void {
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
