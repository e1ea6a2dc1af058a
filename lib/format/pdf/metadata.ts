// What a PDF says about itself: the information dictionary, and XMP where it says more.
// trailer: << /Info << /Title /Author /Subject /Keywords /CreationDate >> /Root << /Metadata xmp /Lang >> >>
import type { PDFObject } from 'mupdf'
import { Unreadable } from '../../errors.ts'
import { partialDate } from '../../metadata/date.ts'
import { plainProse } from '../../metadata/html.ts'
import { isbn13 } from '../../metadata/isbn.ts'
import { canonicalLanguage } from '../../metadata/language.ts'
import type { Author, Metadata, SourceReading } from '../../metadata/metadata.ts'
import { line, names, said, split } from '../../metadata/text.ts'
import { readXmp } from '../../metadata/xmp.ts'
import type { PdfDocument } from './document.ts'
import { at, type Keep } from './engine.ts'

const infoKeys = ['Title', 'Author', 'Subject', 'Keywords', 'CreationDate', 'ISBN'] as const
type Info = Partial<Record<(typeof infoKeys)[number], string>>

/** Never throws for bad metadata: that is a warning. */
export function readPdfMetadata(pdf: PdfDocument, mostBytes: number): SourceReading {
  const warnings: string[] = []
  const attempt = <T>(what: string, read: () => T): T | null => {
    try {
      return read()
    } catch {
      warnings.push(`${what} cannot be read`)
      return null
    }
  }
  const info = attempt('The information dictionary', () => readInfo(pdf)) ?? {}
  const language = attempt('The language', () => readLanguage(pdf))
  const packet = attempt('The XMP metadata', () => readPacket(pdf, mostBytes))
  const xmp = packet ? readXmp(packet) : { metadata: {}, warnings: [] }
  const metadata = merge(info, xmp.metadata, canonicalLanguage(language ?? '') ?? undefined)
  return { source: 'pdf', metadata, warnings: [...warnings, ...xmp.warnings] }
}

function readInfo({ run, document }: PdfDocument): Info {
  return run(keep => {
    const dictionary = at(keep, keep(document.getTrailer()), 'Info')
    const info: Info = {}
    if (!dictionary.isDictionary()) return info
    for (const key of infoKeys) {
      const value = at(keep, dictionary, key)
      // MuPDF decodes PDFDocEncoding, UTF-16 and UTF-8 by their marks.
      if (value.isString()) info[key] = value.asString().replace(/[\0\ufffd]+$/, '')
    }
    return info
  })
}

/** MuPDF's own getLanguage() forgets the region. */
function readLanguage({ run, document }: PdfDocument): string {
  return run(keep => {
    const value = at(keep, keep(document.getTrailer()), 'Root', 'Lang')
    return value.isString() ? value.asString() : ''
  })
}

/** The XMP packet when it is a plain or singly compressed stream of sensible length. */
function readPacket({ run, document }: PdfDocument, mostBytes: number): Uint8Array | null {
  return run(keep => {
    const stream = at(keep, keep(document.getTrailer()), 'Root', 'Metadata')
    if (!stream.isStream()) return null
    const length = at(keep, stream, 'Length').asNumber()
    // Deflate makes at most 1032 bytes of one, but a chain of filters has no bound.
    const most = isFiltered(stream, keep) ? 65_536 : mostBytes
    if (!(length > 0 && length <= most)) throw new Unreadable('The XMP is too long', 'too_large')
    const bytes = keep(stream.readStream()).asUint8Array()
    const packet = Buffer.from(bytes.subarray(0, mostBytes))
    // A packet left plain in an encrypted file comes out of the decryption as noise.
    if (!/R\0?D\0?F/.test(packet.toString('latin1')))
      throw new Unreadable('The XMP is no RDF', 'truncated')
    return packet
  })
}

function isFiltered(stream: PDFObject, keep: Keep): boolean {
  const filter = at(keep, stream, 'Filter')
  if (filter.isArray() && filter.length > 1)
    throw new Unreadable('The XMP is filtered twice', 'unsupported_method')
  return !filter.isNull()
}

/** XMP holds lists where the dictionary has one string, so its authors and tags are better told apart. */
function merge(info: Info, xmp: Metadata, language: string | undefined): Metadata {
  const date = partialDate(info.CreationDate ? isoDate(info.CreationDate) : '')
  const isDated = xmp.year !== undefined
  const { title, authors, ...rest } = xmp
  const ownTitle = isJunk(info.Title) ? undefined : line(info.Title)
  const ownAuthors = splitAuthors(info.Author)
  const stated = { ...(isDated || !date ? {} : date) }
  return said<Metadata>({
    ...stated,
    summary: isJunk(info.Subject) ? undefined : plainProse(info.Subject),
    tags: names(split(info.Keywords)),
    language,
    isbn: findIsbn([info.ISBN, info.Keywords, info.Subject, info.Title]),
    ...rest,
    title: ownTitle ?? (isJunk(title) ? undefined : title),
    authors: authors && authors.length >= ownAuthors.length ? authors : atLeastOne(ownAuthors),
  })
}

const atLeastOne = <T>(list: T[]): T[] | undefined => (list.length > 0 ? list : undefined)

/** `D:20200131120000+01'00'` → `2020-01-31`. */
function isoDate(text: string): string {
  const [, year, month, day] = /^\s*(?:D:)?(\d{4})(\d\d)?(\d\d)?/.exec(text) ?? []
  return [year, month, day].filter(part => part !== undefined).join('-')
}

const placeholders =
  /^(?:untitled(?:[\s-]*\d*)?|unknown|none|null|title|print|document\d*|doc\d*|new document|no title|cover|layout \d+|slide \d+|powerpoint presentation|pdf document|\(?anonymous\)?)$/i
const programs = /^(?:microsoft (?:word|powerpoint|excel|publisher)|adobe \w+|wordperfect) - /i
const fileName =
  /\.(?:pdf|docx?|odt|rtf|txt|indd|qxp|qxd|ps|eps|tex|dvi|ai|psd|tiff?|jpe?g|png|html?|pptx?|xlsx?|pub|pages|pmd|p65|fm|cdr|cbr|cbz|zip|tmp)$/i

/** Titles that programs put in when nobody gave one. */
export function isJunk(title: string | undefined): boolean {
  const text = line(title) ?? ''
  return (
    !/[\p{L}\p{N}]/u.test(text) ||
    placeholders.test(text) ||
    programs.test(text) ||
    fileName.test(text) ||
    /^(?:[a-z]:[\\/]|\\\\|\/(?:home|tmp|users|var)\/|file:|https?:)/i.test(text)
  )
}

/** `A; B`, `A & B`, `A and B`; a comma separates only whole names, as in `Ann Lee, Bo Ray`. */
export function splitAuthors(text: string | undefined): Author[] {
  const whole = line(text) ?? ''
  let parts = whole.split(/\s*;\s*|\s+&\s+|\s+and\s+/i, 100)
  const [only = ''] = parts
  // `Herbert, Frank` is one person; two words on every side of the comma are several.
  if (parts.length === 1 && only.split(',').every(part => /\S\s+\S/.test(part.trim())))
    parts = only.split(',', 100)
  return (names(parts) ?? [])
    .filter(name => !isJunk(name) && !/^(?:admin(?:istrator)?|user|owner|author)$/i.test(name))
    .map(name => ({ name, role: null, sortName: null }))
}

/** An ISBN in running text. Ten digits count only behind the word, or every telephone number would do. */
export function findIsbn(texts: (string | undefined)[]): string | undefined {
  const candidate =
    /(?:isbn(?:[\s-]*1[03])?[\s:#]*)(\d[\d\s-]{8,16}[\dxX])|(?<!\d)(97[89][\d\s-]{9,14}\d)(?!\d)/gi
  for (const text of texts) {
    for (const match of (text ?? '').slice(0, 65_536).matchAll(candidate)) {
      const found = isbn13(match[1] ?? match[2] ?? '')
      if (found) return found
    }
  }
  return undefined
}
