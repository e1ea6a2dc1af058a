// Parser for MetronInfo.xml 1.0 (and the 1.1 draft), the Metron project's successor to ComicInfo.
//
//   MetronInfo = { IDS | Publisher | Series | MangaVolume | Number | Stories | … }
//   resource   = name text, optionally with an @id of the primary source
//   Series     = Name [SortName] [Volume] [Format] [StartYear] [IssueCount] [AlternativeNames], @lang
//   Credits    = { Credit( Creator, Roles{ Role } ) }
// Prices, Reprints, Universes and LastModified are not read.
import { byWord } from '../../base/words.ts'
import { ageRating } from './age-rating.ts'
import { descriptionText } from './html.ts'
import { findIsbn, isbn13 } from './isbn.ts'
import { canonicalLanguage } from './language.ts'
import type { Metadata, SourceReading } from './metadata.ts'
import {
  httpUrl,
  multiLine,
  numberText,
  omitUndefined,
  parseInteger,
  partialDate,
  singleLine,
  uniqueNames,
} from './text.ts'
import type { AlternateTitle, Author, Identifier, Link } from './values.ts'
import { childOf, childrenOf, parseXml, textOf, type XmlElement } from './xml.ts'

const source = 'metroninfo'

const roles = byWord({
  writer: 'writer, script, story, plot',
  illustrator: 'artist, illustrator',
  penciller: 'penciller, breakdowns, layouts',
  inker: 'inker, embellisher, finishes, ink assists',
  colorist:
    'colorist, color separations, color assists, color flats, digital art technician, gray tone',
  letterer: 'letterer',
  cover_artist: 'cover',
  translator: 'translator',
})

/** Never throws: an unreadable document only yields warnings. */
export function parseMetronInfo(bytes: Uint8Array): SourceReading {
  const { root, warnings } = parseXml(bytes)
  if (root?.name !== source)
    return { source, metadata: {}, warnings: [...warnings, 'not a MetronInfo document'] }
  const gtin = childOf(root, 'gtin')
  const stated = textOf(childOf(gtin, 'isbn'))
  const isbn = isbn13(stated) ?? findIsbn([stated]) ?? null
  const rating = ageRating(textOf(childOf(root, 'agerating')))
  if (rating === null) warnings.push('MetronInfo AgeRating has an unknown value, ignored')
  const metadata: Metadata = omitUndefined({
    ...seriesOf(root, warnings),
    ...datesOf(root, warnings),
    title:
      singleLine(textOf(childOf(root, 'collectiontitle'))) ??
      singleLine(resources(root, 'stories', 'story')?.join('; ')),
    number: numberText(singleLine(textOf(childOf(root, 'number')))),
    summary: descriptionText(childOf(root, 'summary')),
    notes: multiLine(textOf(childOf(root, 'notes'))),
    publisher: singleLine(textOf(childOf(childOf(root, 'publisher'), 'name'))),
    imprint: singleLine(textOf(childOf(childOf(root, 'publisher'), 'imprint'))),
    genres: resources(root, 'genres', 'genre'),
    tags: resources(root, 'tags', 'tag'),
    characters: resources(root, 'characters', 'character'),
    teams: resources(root, 'teams', 'team'),
    locations: resources(root, 'locations', 'location'),
    storyArcs: arcsOf(root),
    authors: creditsOf(root),
    ageRating: rating ?? undefined,
    isbn: isbn ?? undefined,
    identifiers: identifiersOf(root, isbn === null ? stated : ''),
    links: linksOf(root),
  })
  return { source, metadata, warnings }
}

function resources(root: XmlElement, list: string, item: string): string[] | undefined {
  return uniqueNames(childrenOf(childOf(root, list), item).map(textOf))
}

function seriesOf(root: XmlElement, warnings: string[]): Metadata {
  const series = childOf(root, 'series')
  const integerField = (element: XmlElement | undefined) => {
    const text = singleLine(textOf(element))
    const number = text === undefined ? undefined : parseInteger(text)
    if (number === undefined || (number >= 0 && number <= 1_000_000)) return number
    warnings.push(`MetronInfo ${element?.name} is not a number, ignored`)
    return undefined
  }
  const lang = series?.attributes.get('lang')
  const others: AlternateTitle[] = []
  for (const element of childrenOf(childOf(series, 'alternativenames'), 'alternativename')) {
    const title = singleLine(textOf(element))
    const label = canonicalLanguage(element.attributes.get('lang') ?? '') ?? 'alternative'
    if (title !== undefined && others.length < 100) others.push({ label, title })
  }
  // A collected volume may be written `1-3`: the first number is used.
  const mangaVolume = /\d{1,6}/.exec(textOf(childOf(root, 'mangavolume')).normalize('NFKC'))?.[0]
  return {
    series: singleLine(textOf(childOf(series, 'name'))),
    seriesSort: singleLine(textOf(childOf(series, 'sortname'))),
    volume:
      mangaVolume === undefined ? integerField(childOf(series, 'volume')) : Number(mangaVolume),
    count: integerField(childOf(series, 'issuecount')) || undefined,
    format: singleLine(textOf(childOf(series, 'format'))),
    alternateTitles: others.length > 0 ? others : undefined,
    language: (lang && canonicalLanguage(lang)) || undefined,
  }
}

function datesOf(root: XmlElement, warnings: string[]): Metadata {
  for (const name of ['coverdate', 'storedate']) {
    const text = singleLine(textOf(childOf(root, name)))
    const date = text === undefined ? null : partialDate(text)
    if (date !== null) return date
    if (text !== undefined) warnings.push(`MetronInfo ${name} is not a date, ignored`)
  }
  return {}
}

function arcsOf(root: XmlElement): Metadata['storyArcs'] {
  const arcs: NonNullable<Metadata['storyArcs']> = []
  for (const arc of childrenOf(childOf(root, 'arcs'), 'arc').slice(0, 1000)) {
    const name = singleLine(textOf(childOf(arc, 'name')))
    const number = singleLine(textOf(childOf(arc, 'number'))) ?? null
    if (name !== undefined) arcs.push({ name, number })
  }
  return arcs.length > 0 ? arcs : undefined
}

function creditsOf(root: XmlElement): Author[] | undefined {
  const authors = new Map<string, Author>()
  for (const credit of childrenOf(childOf(root, 'credits'), 'credit').slice(0, 1000)) {
    const name = singleLine(textOf(childOf(credit, 'creator')))
    if (name === undefined) continue
    for (const role of rolesOf(credit))
      authors.set(`${role}:${name}`, { name, role, sortName: null })
  }
  return authors.size > 0 ? [...authors.values()] : undefined
}

function rolesOf(credit: XmlElement): (string | null)[] {
  const written = childrenOf(childOf(credit, 'roles'), 'role').map(textOf)
  if (written.length === 0) return [null]
  return written.slice(0, 50).map(role => {
    const key = role.trim().toLowerCase()
    if (/\beditor\b/.test(key)) return 'editor'
    return roles.get(key) ?? 'contributor'
  })
}

const sources: Record<string, string> = {
  grandcomicsdatabase: 'gcd',
  leagueofcomicgeeks: 'locg',
}

function identifiersOf(root: XmlElement, badIsbn: string): Identifier[] | undefined {
  const identifiers: Identifier[] = []
  const add = (scheme: string, text: string) => {
    const value = singleLine(text)
    if (value !== undefined && scheme !== '') identifiers.push({ scheme, value })
  }
  for (const id of childrenOf(childOf(root, 'ids'), 'id').slice(0, 100)) {
    const source = (id.attributes.get('source') ?? '').toLowerCase().replace(/[^a-z\d]/g, '')
    add(sources[source] ?? source.slice(0, 50), textOf(id))
  }
  add('isbn', badIsbn)
  add('upc', textOf(childOf(childOf(root, 'gtin'), 'upc')))
  return identifiers.length > 0 ? identifiers : undefined
}

function linksOf(root: XmlElement): Link[] | undefined {
  const links = new Map<string, Link>()
  // 1.0 has a list with a primary URL; the drafts had a single URL element.
  const elements = [...childrenOf(childOf(root, 'urls'), 'url'), ...childrenOf(root, 'url')]
  elements.sort((a, b) => Number(isPrimary(b)) - Number(isPrimary(a)))
  for (const element of elements.slice(0, 100)) {
    const url = httpUrl(textOf(element))
    if (url !== undefined) links.set(url, { source, url, externalId: null })
  }
  return links.size > 0 ? [...links.values()] : undefined
}

function isPrimary(element: XmlElement): boolean {
  return /^(?:true|1)$/.test(element.attributes.get('primary') ?? '')
}
