// PDF metadata: the information dictionary, supplemented by XMP.
// trailer: << /Info << /Title /Author /Subject /Keywords /CreationDate >> /Root << /Metadata xmp /Lang >> >>
import type { PDFObject } from 'mupdf'
import { Unreadable } from '../../../base/errors.ts'
import { unescapeText } from '../../metadata/decode.ts'
import { htmlToMultiLine } from '../../metadata/html.ts'
import { findIsbn, isbn13 } from '../../metadata/isbn.ts'
import { canonicalLanguage } from '../../metadata/language.ts'
import type { Metadata, SourceReading } from '../../metadata/metadata.ts'
import {
  joinSuffixes,
  omitUndefined,
  parseDecimal,
  partialDate,
  singleLine,
  splitConjunctions,
  splitList,
  uniqueNames,
} from '../../metadata/text.ts'
import type { Author } from '../../metadata/values.ts'
import {
  childOf,
  childrenOf,
  descendantsOf,
  parseXml,
  textOf,
  type XmlElement,
} from '../../metadata/xml.ts'
import type { PdfDocument } from './document.ts'
import { getPath, type Track } from './engine.ts'

const infoKeys = ['Title', 'Author', 'Subject', 'Keywords', 'CreationDate', 'ISBN'] as const
type Info = Partial<Record<(typeof infoKeys)[number], string>>

/** Malformed metadata yields warnings, not errors. */
export function readPdfMetadata(pdf: PdfDocument, maxBytes: number): SourceReading {
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
  const packet = attempt('The XMP metadata', () => readPacket(pdf, maxBytes))
  const xmp = packet ? readXmp(packet) : { metadata: {}, warnings: [] }
  const metadata = mergeMetadata(info, xmp.metadata, canonicalLanguage(language ?? '') ?? undefined)
  return { source: 'pdf', metadata, warnings: [...warnings, ...xmp.warnings] }
}

function readInfo({ run, document }: PdfDocument): Info {
  return run(track => {
    const dictionary = getPath(track, track(document.getTrailer()), 'Info')
    const info: Info = {}
    if (!dictionary.isDictionary()) return info
    for (const key of infoKeys) {
      const value = getPath(track, dictionary, key)
      // MuPDF decodes PDFDocEncoding, UTF-16 and UTF-8 by byte order mark.
      if (value.isString()) info[key] = unescapeText(value.asString().replace(/[\0\ufffd]+$/, ''))
    }
    return info
  })
}

/** MuPDF's getLanguage() omits the region. */
function readLanguage({ run, document }: PdfDocument): string {
  return run(track => {
    const value = getPath(track, track(document.getTrailer()), 'Root', 'Lang')
    return value.isString() ? value.asString() : ''
  })
}

/** The XMP packet, if it is a stream of limited length with at most one filter. */
function readPacket({ run, document }: PdfDocument, maxBytes: number): Uint8Array | null {
  return run(track => {
    const stream = getPath(track, track(document.getTrailer()), 'Root', 'Metadata')
    if (!stream.isStream()) return null
    const length = getPath(track, stream, 'Length').asNumber()
    // Deflate expands data at most 1032 times, but a chain of filters has no limit.
    const maxLength = isFiltered(stream, track) ? 65_536 : maxBytes
    if (!(length > 0 && length <= maxLength))
      throw new Unreadable('The XMP is too long', 'too_large')
    const bytes = track(stream.readStream()).asUint8Array()
    const packet = Buffer.from(bytes.subarray(0, maxBytes))
    // Decryption makes noise of an unencrypted packet in an encrypted file.
    if (!/R\0?D\0?F/.test(packet.toString('latin1')))
      throw new Unreadable('The XMP is not RDF', 'truncated')
    return packet
  })
}

function isFiltered(stream: PDFObject, track: Track): boolean {
  const filter = getPath(track, stream, 'Filter')
  if (filter.isArray() && filter.length > 1)
    throw new Unreadable('The XMP has several filters', 'unsupported_method')
  return !filter.isNull()
}

/** XMP has lists where the dictionary has a single string, so its authors and tags take precedence. */
function mergeMetadata(info: Info, xmp: Metadata, language: string | undefined): Metadata {
  const date = partialDate(info.CreationDate ? isoDate(info.CreationDate) : '')
  const isDated = xmp.year !== undefined
  const { title, authors, ...rest } = xmp
  const ownTitle = isPlaceholderTitle(info.Title) ? undefined : singleLine(info.Title)
  const ownAuthors = splitAuthors(info.Author)
  const stated = { ...(isDated || !date ? {} : date) }
  return omitUndefined<Metadata>({
    ...stated,
    summary: isPlaceholderTitle(info.Subject) ? undefined : htmlToMultiLine(info.Subject),
    tags: uniqueNames(splitList(info.Keywords)),
    language,
    isbn: findIsbn([info.ISBN, info.Keywords, info.Subject, info.Title]),
    ...rest,
    title: ownTitle ?? (isPlaceholderTitle(title) ? undefined : title),
    authors:
      authors && authors.length >= ownAuthors.length ? authors : undefinedIfEmpty(ownAuthors),
  })
}

const undefinedIfEmpty = <T>(list: T[]): T[] | undefined => (list.length > 0 ? list : undefined)

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

/** Whether a title is a placeholder or file name inserted by a program. */
export function isPlaceholderTitle(title: string | undefined): boolean {
  const text = singleLine(title) ?? ''
  return (
    !/[\p{L}\p{N}]/u.test(text) ||
    placeholders.test(text) ||
    programs.test(text) ||
    fileName.test(text) ||
    /^(?:[a-z]:[\\/]|\\\\|\/(?:home|tmp|users|var)\/|file:|https?:)/i.test(text)
  )
}

/** Splits `A; B`, `A & B`, `A and B`; a comma separates only full names, as in `Ann Lee, Bo Ray`. */
export function splitAuthors(text: string | undefined): Author[] {
  const whole = singleLine(text) ?? ''
  let parts = splitConjunctions(whole)
  const [only = ''] = parts
  // `Herbert, Frank` is one person; if every part has two words, they are several.
  const names = joinSuffixes(only.split(',', 100))
  if (parts.length === 1 && names.every(part => /\S\s+\S/.test(part))) parts = names
  return (uniqueNames(parts) ?? [])
    .filter(
      name =>
        !isPlaceholderTitle(name) && !/^(?:admin(?:istrator)?|user|owner|author)$/i.test(name),
    )
    .map(name => ({ name, role: null, sortName: null }))
}

// XMP packet:  … <rdf:RDF> description* </rdf:RDF> …
// description: <rdf:Description simple="…"> property* ; properties of Dublin Core, PRISM, calibre
// property:    text | <rdf:Alt | rdf:Seq | rdf:Bag> <rdf:li xml:lang="…">text</rdf:li>* | nested properties

/** Never throws. Dates are publication dates, not file dates. */
export function readXmp(bytes: Uint8Array): { metadata: Metadata; warnings: string[] } {
  const { root, warnings } = parseXml(bytes)
  if (!root) return { metadata: {}, warnings }
  const descriptions = [root, ...descendantsOf(root)].filter(
    element => element.name === 'description' && element.prefix.toLowerCase() === 'rdf',
  )
  const find = (prefix: string, name: string) => findProperty(descriptions, prefix, name)
  const first = (prefix: string, name: string) => find(prefix, name)[0]
  const metadata = omitUndefined<Metadata>({
    title: singleLine(first('dc', 'title')),
    authors: authorsOf(find('dc', 'creator')),
    summary: htmlToMultiLine(first('dc', 'description')),
    publisher: singleLine(first('dc', 'publisher')),
    tags: uniqueNames(find('dc', 'subject')),
    language:
      find('dc', 'language')
        .map(canonicalLanguage)
        .find(tag => tag !== null) ?? undefined,
    ...partialDate(first('dc', 'date') ?? first('prism', 'publicationdate') ?? ''),
    ...seriesOf(descriptions, first),
    isbn: isbnOf(descriptions, find),
  })
  return { metadata, warnings }
}

/** The values of a property in all descriptions, in any notation; the default language first. */
function findProperty(descriptions: XmlElement[], prefix: string, name: string): string[] {
  const values: string[] = []
  for (const description of descriptions) {
    for (const property of childrenOf(description, name)) {
      if (!property.prefix.toLowerCase().startsWith(prefix)) continue
      const items = childrenOf(childrenOf(property)[0], 'li')
      const isDefault = (item: XmlElement) => item.attributes.get('lang') === 'x-default'
      const ordered = [...items.filter(isDefault), ...items.filter(item => !isDefault(item))]
      values.push(...(ordered.length > 0 ? ordered : [property]).map(textOf))
    }
    // Parsed attributes have no prefix; these names are unambiguous.
    const isUnambiguous = prefix === 'dc' || name.endsWith('isbn')
    const attribute = isUnambiguous ? description.attributes.get(name) : undefined
    if (attribute !== undefined) values.push(attribute)
  }
  return values.map(value => unescapeText(value).trim()).filter(value => value !== '')
}

function authorsOf(creators: string[]): Author[] | undefined {
  return uniqueNames(creators.flatMap(splitConjunctions))?.map(name => ({
    name,
    role: null,
    sortName: null,
  }))
}

type First = (prefix: string, name: string) => string | undefined

/** calibre writes the name as rdf:value next to the index; publishers use PRISM. */
function seriesOf(descriptions: XmlElement[], first: First) {
  for (const description of descriptions) {
    const series = childrenOf(description, 'series').find(element => element.prefix === 'calibre')
    const inner = childOf(series, 'description') ?? series
    const name = singleLine(textOf(childOf(inner, 'value')))
    if (name !== undefined)
      return { series: name, number: numberOf(textOf(childOf(inner, 'series_index'))) }
  }
  const series = singleLine(first('prism', 'publicationname'))
  if (series === undefined) return {}
  const volume = parseDecimal(first('prism', 'volume') ?? '')
  return {
    series,
    number: singleLine(first('prism', 'number') ?? first('prism', 'issueidentifier')),
    volume: Number.isInteger(volume) ? volume : undefined,
  }
}

/** calibre writes `3.00` for `3`. */
function numberOf(text: string): string | undefined {
  const value = parseDecimal(text)
  return Number.isNaN(value) ? singleLine(text) : String(value)
}

function isbnOf(descriptions: XmlElement[], find: (p: string, n: string) => string[]) {
  const stated = ['isbn', 'eisbn'].flatMap(name => find('prism', name))
  const identified = find('dc', 'identifier')
  const listed = descriptions.flatMap(description =>
    childrenOf(description, 'identifier').flatMap(property =>
      [...descendantsOf(property)].filter(item => item.name === 'value').map(textOf),
    ),
  )
  const plain = find('pdfx', 'isbn')
  const texts = [...stated, ...identified, ...listed, ...plain].slice(0, 100)
  const isbns = texts.map(text => isbn13(text) ?? findIsbn([text]))
  return isbns.find(isbn => isbn !== undefined)
}
