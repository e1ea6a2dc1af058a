// Metadata of an OPF package document: Dublin Core, refinements, and Calibre's extensions.
import { byWord } from '../../base/words.ts'
import { descriptionText } from './html.ts'
import { findIsbn, isbn13 } from './isbn.ts'
import { canonicalLanguage } from './language.ts'
import type { Metadata } from './metadata.ts'
import { type MetadataStatements, readStatements } from './opf-statements.ts'
import {
  numberText,
  omitUndefined,
  parseDecimal,
  partialDate,
  singleLine,
  uniqueNames,
} from './text.ts'
import type { AlternateTitle, Author, Identifier } from './values.ts'
import { textOf, type XmlElement } from './xml.ts'

/** Reads the metadata element, and the spine's reading direction. Never throws. */
export function readOpfMetadata(
  element: XmlElement | undefined,
  spine: XmlElement | undefined,
  warnings: string[],
): { metadata: Metadata; cover: string | null; spread: string | null } {
  const statements = readStatements(element)
  const { dc, meta } = statements
  const first = (name: string) => uniqueNames(dc(name).slice(0, 100).map(textOf))?.[0]
  const metadata = omitUndefined<Metadata>({
    ...titlesOf(statements),
    ...seriesOf(statements),
    ...dateOf(statements, warnings),
    ...identifiersOf(statements, warnings),
    authors: authorsOf(statements),
    publisher: first('publisher'),
    language: languageOf(dc('language'), warnings),
    summary: summaryOf(dc('description')),
    genres: uniqueNames(dc('subject').map(textOf)),
    rating: ratingOf(meta('calibre:rating')),
    layout: layoutOf(meta),
    readingDirection: directionOf(spine, meta),
  })
  const spread = meta('rendition:spread')?.toLowerCase() ?? null
  return { metadata, cover: meta('cover') ?? null, spread }
}

/** The first non-empty description. Line breaks before an indentation come from pretty-printing. */
function summaryOf(descriptions: XmlElement[]): string | undefined {
  for (const description of descriptions) {
    const summary = descriptionText(description)?.replace(/\n[ \t]+/g, ' ')
    if (summary !== undefined) return summary
  }
  return undefined
}

/**
 * The title of type `main`, otherwise the first one without another type, with its subtitle and edition (EPUB
 * 3.3 appendix D.3.7); the rest are alternate titles. Blank titles are ignored.
 */
function titlesOf({ dc, refined, meta }: MetadataStatements): Metadata {
  const titles = dc('title').flatMap(element => {
    const title = singleLine(textOf(element))
    const type = refined(element, 'title-type')?.toLowerCase()
    const place = Number(refined(element, 'display-seq') ?? Number.NaN)
    return title === undefined ? [] : [{ element, title, type, place: place > 0 ? place : 1e9 }]
  })
  const main =
    titles.find(({ type }) => type === 'main') ??
    titles.find(({ type }) => type === undefined) ??
    titles.find(({ type }) => type !== 'subtitle') ??
    titles[0]
  const inDisplayOrder = titles
    .filter(({ title }) => title !== main?.title)
    .sort((a, b) => a.place - b.place)
  const subtitle = inDisplayOrder.find(({ type }) => type === 'subtitle')
  const edition = inDisplayOrder.find(({ type }) => type === 'edition')
  const others: AlternateTitle[] = titles
    .filter(one => one.title !== main?.title && one !== subtitle && one !== edition)
    .map(({ title, type }) => ({ label: type ?? 'alternative', title }))
  return {
    title: main?.title,
    titleSort: (main && refined(main.element, 'file-as')) ?? meta('calibre:title_sort'),
    subtitle: subtitle?.title,
    edition: edition?.title,
    alternateTitles: others.length > 0 ? others.slice(0, 100) : undefined,
  }
}

/**
 * A collection of type `series`, else Calibre's meta elements, else an untyped collection with a position.
 */
function seriesOf({ refined, meta, properties }: MetadataStatements): Metadata {
  const collections = properties('belongs-to-collection').flatMap(element => {
    const series = singleLine(textOf(element))
    if (series === undefined) return []
    const number = refined(element, 'group-position')
    return [{ series, number, type: refined(element, 'collection-type'), element }]
  })
  const series = meta('calibre:series')
  const collection =
    collections.find(({ type }) => type === 'series') ??
    (series === undefined
      ? collections.find(({ type, number }) => type === undefined && number !== undefined)
      : { series, number: meta('calibre:series_index'), element: undefined })
  if (collection === undefined) return {}
  return {
    series: collection.series,
    seriesSort: collection.element && refined(collection.element, 'file-as'),
    // Calibre writes all indexes with decimals.
    number: numberText(collection.number)?.replace(/^(\d+)\.0+$/, '$1'),
  }
}

/** EPUB 2 has several dates with different opf:event values; the modification date is ignored. */
function dateOf({ dc, meta }: MetadataStatements, warnings: string[]): Metadata {
  const rank = (element: XmlElement) => {
    const event = element.attributes.get('event')?.toLowerCase() ?? ''
    if (event === 'publication' || event === 'issued') return 0
    if (event === '') return 1
    return event === 'original-publication' ? 2 : 3
  }
  const dates = dc('date').filter(element => rank(element) < 3)
  dates.sort((a, b) => rank(a) - rank(b))
  const texts = [...dates.map(textOf), meta('dcterms:issued') ?? ''].map(singleLine)
  for (const text of texts) {
    const date = text === undefined ? null : partialDate(text)
    if (date !== null) return date
  }
  if (texts.some(text => text !== undefined && !text.startsWith('0101-'))) {
    warnings.push('the date of the package has no year, ignored')
  }
  return {}
}

function languageOf(elements: XmlElement[], warnings: string[]): string | undefined {
  const written = elements.flatMap(element => singleLine(textOf(element)) ?? [])
  for (const tag of written) {
    const language = canonicalLanguage(tag)
    if (language !== null) return language
  }
  if (written.some(tag => !/^(?:und|mul|zxx)$/i.test(tag))) {
    warnings.push('the language of the package is not a language tag, ignored')
  }
  return undefined
}

function ratingOf(text: string | undefined): number | undefined {
  const tenths = text === undefined ? Number.NaN : parseDecimal(text)
  // Calibre writes 0 for `not rated`.
  return tenths > 0 && tenths <= 10 ? Math.round(tenths * 10) : undefined
}

function layoutOf(meta: MetadataStatements['meta']): Metadata['layout'] {
  const layout = meta('rendition:layout')?.toLowerCase()
  if (layout === 'pre-paginated' || layout === 'reflowable') return layout
  return meta('fixed-layout')?.toLowerCase() === 'true' ? 'pre-paginated' : undefined
}

function directionOf(
  spine: XmlElement | undefined,
  meta: MetadataStatements['meta'],
): Metadata['readingDirection'] {
  const direction = spine?.attributes.get('page-progression-direction')?.trim().toLowerCase()
  if (direction === 'rtl' || direction === 'ltr') return direction
  // Kindle's equivalent, also found in EPUBs.
  const mode = meta('primary-writing-mode')?.toLowerCase()
  return mode?.endsWith('-rl') ? 'rtl' : undefined
}

// ONIX code list 5, used by the refinement `identifier-type` with scheme `onix:codelist5`.
const onix: Record<string, string> = { '02': 'isbn', '03': 'gtin', '06': 'doi', '15': 'isbn' }

/**
 * The scheme comes from an attribute or refinement, from a prefix `urn:x:` or `x:`, or from the form of the
 * value.
 */
function identifiersOf(
  statements: MetadataStatements,
  warnings: string[],
): Pick<Metadata, 'isbn' | 'identifiers'> {
  const identifiers = new Map<string, Identifier>()
  const add = (scheme: string, value: string) =>
    identifiers.set(`${scheme}:${value}`, { scheme, value })
  let isbn: string | undefined
  for (const element of statements.dc('identifier').slice(0, 100)) {
    const text = singleLine(textOf(element))
    if (text === undefined) continue
    const { scheme, value } = identifierOf(statements, element, text)
    const number = isbnOf(scheme, value)
    // URIs and DOIs contain more than the number.
    if (number === null || scheme === 'uri' || scheme === 'doi') add(scheme, value)
    if (number === null && scheme === 'isbn') warnings.push('the package contains an invalid ISBN')
    if (number === null) continue
    if (isbn === undefined) isbn = number
    else if (number !== isbn) add('isbn', number)
  }
  return { isbn, identifiers: identifiers.size > 0 ? [...identifiers.values()] : undefined }
}

/**
 * Ten digits are an ISBN only if the scheme is ISBN or absent; 13 with a valid check digit under any scheme.
 */
function isbnOf(scheme: string, value: string): string | null {
  if (scheme === 'isbn' || scheme === 'unknown') return isbn13(value) ?? findIsbn([value]) ?? null
  if (scheme === 'uri') return /isbn/i.test(value) ? (findIsbn([value]) ?? null) : null
  if (scheme === 'doi' || scheme === 'uuid') return null
  const digits = value.replace(/^0(?=\d{13}$)/, '')
  return /^\s*[a-z:\s]*97[89]/i.test(digits) ? isbn13(digits) : null
}

function identifierOf(
  { refined }: MetadataStatements,
  element: XmlElement,
  text: string,
): Identifier {
  if (/^https?:/i.test(text)) return { scheme: 'uri', value: text }
  const prefixed = /^(?:urn:)?([a-z][\w.-]{0,49}):\s*(\S.*)$/i.exec(text)
  const declared = element.attributes.get('scheme') ?? refined(element, 'identifier-type')
  const scheme = declared?.trim().toLowerCase().replace(/^.*:/, '')
  const prefix = prefixed?.[1]?.toLowerCase()
  // `ISBN 978…` with a space is also accepted as a prefix.
  if (/isbn/i.test(scheme ?? prefix ?? '') || /^[ep]?-?isbn\b/i.test(text))
    return { scheme: 'isbn', value: text.replace(/^urn:/i, '') }
  if (scheme !== undefined && scheme !== '') {
    const value = prefix === scheme ? (prefixed?.[2] ?? text) : text
    return { scheme: (onix[scheme] ?? scheme).slice(0, 50), value }
  }
  if (prefix !== undefined) return { scheme: prefix, value: prefixed?.[2] ?? text }
  const isUuid = /^\{?[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\}?$/i.test(text)
  return { scheme: isUuid ? 'uuid' : 'unknown', value: text }
}

// Codes from id.loc.gov/vocabulary/relators, and English words used in their place.
const roles = byWord({
  writer: 'aut, aus, cre, dub, lbt, author, writer',
  illustrator: 'art, ill, pht, artist, illustrator',
  penciller: 'drm, penciller',
  inker: 'inker',
  colorist: 'clr, colorist',
  letterer: 'ltr, letterer',
  cover_artist: 'cov, bjd',
  editor: 'edt, edc, pbd, red, editor',
  translator: 'trl, translator',
  narrator: 'nrt, narrator',
})

/**
 * In document order, creators first; one entry per name and role. Omits book producers (`bkp`), which are
 * programs.
 */
function authorsOf(statements: MetadataStatements): Author[] | undefined {
  const authors = new Map<string, Author>()
  for (const element of [...statements.dc('creator'), ...statements.dc('contributor')]) {
    const name = singleLine(textOf(element))
    if (name === undefined || authors.size >= 1000) continue
    for (const role of rolesOf(statements, element)) {
      const key = `${role}:${name.toLowerCase()}`
      if (!authors.has(key))
        authors.set(key, { name, role, sortName: sortName(statements, element) })
    }
  }
  return authors.size > 0 ? [...authors.values()] : undefined
}

/** The known roles of an element; Standard Ebooks also declares roles for notes and foreword. */
function rolesOf({ refinedAll }: MetadataStatements, element: XmlElement): Set<string> {
  const codes = refinedAll(element, 'role').map(role => role.toLowerCase().replace(/^.*[/:]/, ''))
  if (codes.length === 0) return new Set([element.name === 'creator' ? 'writer' : 'contributor'])
  const known = new Set(codes.flatMap(code => roles.get(code) ?? []))
  if (known.size > 0) return known
  return new Set(codes.every(code => code === 'bkp') ? [] : ['contributor'])
}

function sortName({ refined }: MetadataStatements, element: XmlElement): string | null {
  const sort = refined(element, 'file-as')
  // Calibre writes the sort names of all authors to each of them.
  if (sort?.includes(' & ') && !textOf(element).includes('&')) return null
  return sort ?? null
}
