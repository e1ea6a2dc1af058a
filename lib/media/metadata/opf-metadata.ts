// Metadata of an OPF package document: Dublin Core, refinements, and Calibre's extensions.
import { partialDate } from './date.ts'
import { descriptionText } from './html.ts'
import { canonicalLanguage } from './language.ts'
import type { Metadata } from './metadata.ts'
import { authorsOf } from './opf-authors.ts'
import { identifiersOf } from './opf-identifiers.ts'
import { type MetadataStatements, readStatements } from './opf-statements.ts'
import { numberText, omitUndefined, parseDecimal, singleLine, uniqueNames } from './text.ts'
import type { AlternateTitle } from './values.ts'
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
