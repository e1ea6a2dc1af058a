// The metadata part of a package document: Dublin Core, its refinements, and Calibre's own names.
import { partialDate } from './date.ts'
import { descriptionOf } from './html.ts'
import { canonicalLanguage } from './language.ts'
import type { AlternateTitle, Metadata } from './metadata.ts'
import { authorsOf } from './opf-authors.ts'
import { identifiersOf } from './opf-identifiers.ts'
import { decimal, line, names, said } from './text.ts'
import { childrenOf, textOf, type XmlElement } from './xml.ts'

/** The statements of a metadata element. Lists are in document order, names in lower case. */
export type Statements = {
  /** Dublin Core elements of a local name. */
  dc(name: string): XmlElement[]
  /** EPUB 3 refinement of an element: `<meta refines="#id" property="…">`, else its attribute of that name. */
  refined(element: XmlElement, property: string): string | undefined
  /** The same where a property may be repeated, as `role` is. */
  refinedAll(element: XmlElement, property: string): string[]
  /** `<meta name content>` or an unrefined `<meta property>`. */
  meta(name: string): string | undefined
  /** Unrefined `<meta property>` elements. */
  properties(name: string): XmlElement[]
}

/** Reads the metadata element, and the spine for its direction. Never throws. */
export function opfMetadata(
  element: XmlElement | undefined,
  spine: XmlElement | undefined,
  warnings: string[],
): { metadata: Metadata; cover: string | null } {
  const statements = statementsOf(element)
  const { dc, meta } = statements
  const first = (name: string) => names(dc(name).slice(0, 100).map(textOf))?.[0]
  const metadata = said<Metadata>({
    ...titlesOf(statements),
    ...seriesOf(statements),
    ...dateOf(statements, warnings),
    ...identifiersOf(statements, warnings),
    authors: authorsOf(statements),
    publisher: first('publisher'),
    language: languageOf(dc('language'), warnings),
    summary: summaryOf(dc('description')),
    genres: names(dc('subject').map(textOf)),
    rating: ratingOf(meta('calibre:rating')),
    layout: layoutOf(meta),
    readingDirection: directionOf(spine, meta),
  })
  return { metadata, cover: meta('cover') ?? null }
}

/** The first that says something. A line break before an indent comes from how the file was printed. */
function summaryOf(descriptions: XmlElement[]): string | undefined {
  for (const description of descriptions) {
    const summary = descriptionOf(description)?.replace(/\n[ \t]+/g, ' ')
    if (summary !== undefined) return summary
  }
  return undefined
}

function statementsOf(element: XmlElement | undefined): Statements {
  // OEB 1.2 groups the elements into dc-metadata and x-metadata.
  const groups = childrenOf(element).filter(child => /^(?:dc|x)-metadata$/.test(child.name))
  const all = [element, ...groups].flatMap(group => childrenOf(group))
  const named = Map.groupBy(all, child => child.name)
  const metas = named.get('meta') ?? []
  const property = ({ attributes }: XmlElement) => attributes.get('property')?.trim().toLowerCase()
  const subject = ({ attributes }: XmlElement) =>
    attributes.get('refines')?.trim().replace(/^#/, '')
  // Keyed by both, so that many refinements of one element cost no more than many elements.
  const stated = Map.groupBy(metas, meta => `${subject(meta) ?? ''} ${property(meta)}`)
  const byName = new Map<string, string>()
  for (const meta of metas.toReversed()) {
    const name = meta.attributes.get('name')?.trim().toLowerCase()
    const content = line(meta.attributes.get('content') ?? textOf(meta))
    if (name && content !== undefined) byName.set(name, content)
  }
  const refinedAll = (target: XmlElement, name: string) => {
    const id = target.attributes.get('id')?.trim()
    const refining = id ? (stated.get(`${id} ${name}`) ?? []).slice(0, 50) : []
    return [...refining.map(textOf), target.attributes.get(name)].flatMap(text => line(text) ?? [])
  }
  return {
    dc: name => (named.get(name) ?? []).slice(0, 1000),
    refinedAll,
    refined: (target, name) => refinedAll(target, name)[0],
    meta: name => byName.get(name) ?? line(textOf(stated.get(` ${name}`)?.[0])),
    properties: name => (stated.get(` ${name}`) ?? []).slice(0, 1000),
  }
}

/** The title refined as `main`, else the first that is no subtitle; blank ones do not count. */
function titlesOf({ dc, refined, meta }: Statements): Metadata {
  const titles = dc('title').flatMap(element => {
    const title = line(textOf(element))
    return title === undefined ? [] : [{ element, title, type: refined(element, 'title-type') }]
  })
  const main =
    titles.find(({ type }) => type === 'main') ??
    titles.find(({ type }) => type === undefined) ??
    titles.find(({ type }) => type !== 'subtitle') ??
    titles[0]
  const others: AlternateTitle[] = titles
    .filter(({ title }) => title !== main?.title)
    .map(({ title, type }) => ({ label: type ?? 'alternative', title }))
  return {
    title: main?.title,
    titleSort: (main && refined(main.element, 'file-as')) ?? meta('calibre:title_sort'),
    alternateTitles: others.length > 0 ? others.slice(0, 100) : undefined,
  }
}

/** A collection of type `series`, else Calibre's EPUB 2 names, else an untyped collection that gives a position. */
function seriesOf({ refined, meta, properties }: Statements): Metadata {
  const collections = properties('belongs-to-collection').flatMap(element => {
    const series = line(textOf(element))
    if (series === undefined) return []
    const number = refined(element, 'group-position')
    return [{ series, number, type: refined(element, 'collection-type'), element }]
  })
  const series = meta('calibre:series')
  const found =
    collections.find(({ type }) => type === 'series') ??
    (series === undefined
      ? collections.find(({ type, number }) => type === undefined && number !== undefined)
      : { series, number: meta('calibre:series_index'), element: undefined })
  if (found === undefined) return {}
  return {
    series: found.series,
    seriesSort: found.element && refined(found.element, 'file-as'),
    // Calibre writes every index as a decimal.
    number: found.number?.replace(/^(\d+)\.0+$/, '$1'),
  }
}

/** EPUB 2 has several dates told apart by opf:event; a modification says nothing about the publication. */
function dateOf({ dc, meta }: Statements, warnings: string[]): Metadata {
  const rank = (element: XmlElement) => {
    const event = element.attributes.get('event')?.toLowerCase() ?? ''
    if (event === 'publication' || event === 'issued') return 0
    if (event === '') return 1
    return event === 'original-publication' ? 2 : 3
  }
  const dates = dc('date').filter(element => rank(element) < 3)
  dates.sort((a, b) => rank(a) - rank(b))
  const texts = [...dates.map(textOf), meta('dcterms:issued') ?? ''].map(line)
  for (const text of texts) {
    const date = text === undefined ? null : partialDate(text)
    if (date !== null) return date
  }
  if (texts.some(text => text !== undefined && !text.startsWith('0101-'))) {
    warnings.push('the date of the package has no year, left out')
  }
  return {}
}

function languageOf(elements: XmlElement[], warnings: string[]): string | undefined {
  const written = elements.flatMap(element => line(textOf(element)) ?? [])
  for (const tag of written) {
    const language = canonicalLanguage(tag)
    if (language !== null) return language
  }
  if (written.some(tag => !/^(?:und|mul|zxx)$/i.test(tag))) {
    warnings.push('the language of the package is no language tag, left out')
  }
  return undefined
}

function ratingOf(text: string | undefined): number | undefined {
  const tenths = text === undefined ? Number.NaN : decimal(text)
  // Calibre stores 0 for `not rated`.
  return tenths > 0 && tenths <= 10 ? Math.round(tenths * 10) : undefined
}

function layoutOf(meta: Statements['meta']): Metadata['layout'] {
  const layout = meta('rendition:layout')?.toLowerCase()
  if (layout === 'pre-paginated' || layout === 'reflowable') return layout
  return meta('fixed-layout')?.toLowerCase() === 'true' ? 'pre-paginated' : undefined
}

function directionOf(
  spine: XmlElement | undefined,
  meta: Statements['meta'],
): Metadata['readingDirection'] {
  const direction = spine?.attributes.get('page-progression-direction')?.trim().toLowerCase()
  if (direction === 'rtl' || direction === 'ltr') return direction
  // Kindle's name for it, also in EPUBs made for both.
  const mode = meta('primary-writing-mode')?.toLowerCase()
  return mode?.endsWith('-rl') ? 'rtl' : undefined
}
