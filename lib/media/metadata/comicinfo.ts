// Parser for ComicInfo.xml (schema 1.0-2.1) with the extensions of taggers.
//
//   ComicInfo = { Title | Series | Number | … }          each once, in any order and case
//   lists     = value { "," value }
//   Pages     = { Page @Image @Type @DoublePage @Bookmark … }
//   absent    = missing | empty | -1 (integers) | Unknown (enumerations)
// Source: the anansi-project schemas; TitleSort, SeriesSort and LocalizedSeries are Kavita's.
import { ageRating } from './age-rating.ts'
import { descriptionText } from './html.ts'
import { findIsbn, isbn13 } from './isbn.ts'
import { canonicalLanguage } from './language.ts'
import type { Metadata, SourceReading } from './metadata.ts'
import { pageNotes } from './page-notes.ts'
import {
  httpUrl,
  multiLine,
  numberText,
  omitUndefined,
  parseDecimal,
  parseInteger,
  singleLine,
  splitList,
  uniqueNames,
} from './text.ts'
import type { Author, Identifier, Link, StoryArc } from './values.ts'
import { descendantsOf, ownText, parseXml, type XmlElement } from './xml.ts'

type Fields = { text(name: string): string | undefined; reject(name: string): undefined }

const roles: Record<string, string> = {
  writer: 'writer',
  penciller: 'penciller',
  inker: 'inker',
  colorist: 'colorist',
  letterer: 'letterer',
  coverartist: 'cover_artist',
  editor: 'editor',
  translator: 'translator',
}

/** Never throws: an unreadable document only yields warnings; an invalid field is ignored with a warning. */
export function parseComicInfo(bytes: Uint8Array): SourceReading {
  const { root, warnings } = parseXml(bytes)
  if (root?.name !== 'comicinfo') {
    return {
      source: 'comicinfo',
      metadata: {},
      warnings: [...warnings, 'not a ComicInfo document'],
    }
  }
  const elements = elementsByName(root)
  const fields: Fields = {
    text: name => singleLine(ownText(elements.get(name))),
    reject: name => void warnings.push(`ComicInfo ${name} has an invalid value, ignored`),
  }
  const metadata: Metadata = omitUndefined({
    ...textFields(fields, elements),
    ...numberFields(fields),
    ...authorFields(fields),
    ...listFields(fields),
    ...readingFields(fields),
    ...identifierFields(fields),
    links: links(fields),
    pageNotes: pageNotes(elements.get('pages'), warnings),
  })
  return { source: 'comicinfo', metadata, warnings }
}

/**
 * Elements at any depth, because the rest of the file is nested in an unclosed element. The first element of
 * each name is used.
 */
function elementsByName(root: XmlElement): Map<string, XmlElement> {
  const elements = new Map<string, XmlElement>()
  for (const element of descendantsOf(root)) {
    if (!elements.has(element.name)) elements.set(element.name, element)
  }
  return elements
}

function textFields({ text }: Fields, elements: Map<string, XmlElement>): Metadata {
  const description = (name: string) => descriptionText(elements.get(name))
  const localized = text('localizedseries')
  return {
    title: text('title'),
    titleSort: text('titlesort'),
    series: text('series'),
    seriesSort: text('seriessort'),
    seriesGroup: text('seriesgroup'),
    alternateTitles:
      localized === undefined ? undefined : [{ label: 'localized', title: localized }],
    number: numberText(text('number')),
    summary: description('summary'),
    notes: multiLine(ownText(elements.get('notes'))),
    review: description('review'),
    publisher: text('publisher'),
    imprint: text('imprint'),
    format: text('format'),
    scanInformation: text('scaninformation'),
  }
}

function numberFields({ text, reject }: Fields): Metadata {
  const integerField = (name: string, min: number, max: number) => {
    const value = text(name)
    if (value === undefined) return undefined
    const number = parseInteger(value)
    // -1 is the schema's default; editors also write 0 for no value.
    if (number === -1 || (number === 0 && min > 0)) return undefined
    return number >= min && number <= max ? number : reject(name)
  }
  const rating = text('communityrating')
  const stars = rating === undefined ? Number.NaN : parseDecimal(rating)
  return {
    count: integerField('count', 1, 1_000_000),
    volume: integerField('volume', 0, 1_000_000),
    year: integerField('year', 1, 9999),
    month: integerField('month', 1, 12),
    day: integerField('day', 1, 31),
    rating: stars >= 0 && stars <= 5 ? Math.round(stars * 20) : rating && reject('communityrating'),
  } as Metadata
}

function authorFields({ text }: Fields): Metadata {
  const authors: Author[] = []
  for (const [element, role] of Object.entries(roles)) {
    for (const name of uniqueNames(splitList(text(element))) ?? [])
      authors.push({ name, role, sortName: null })
  }
  return authors.length > 0 ? { authors } : {}
}

function listFields({ text }: Fields): Metadata {
  const list = (name: string) => uniqueNames(splitList(text(name)))
  const teams = list('teams')
  const lead = text('maincharacterorteam')
  const isTeam = lead !== undefined && teams?.some(team => team === lead)
  return {
    genres: list('genre'),
    tags: list('tags'),
    characters: uniqueNames([...splitList(text('characters')), ...(isTeam ? [] : [lead])]),
    teams,
    locations: list('locations'),
    storyArcs: storyArcs(text),
  }
}

/** AlternateSeries is ComicRack's older element for crossovers. */
function storyArcs(text: Fields['text']): StoryArc[] | undefined {
  const arcNumbers = text('storyarcnumber')?.split(',') ?? []
  const arcs = new Map<string, StoryArc>()
  const add = (name: string | undefined, number: string | undefined) => {
    const key = name?.toLowerCase()
    if (name && key && !arcs.has(key)) arcs.set(key, { name, number: singleLine(number) ?? null })
  }
  for (const [i, name] of splitList(text('storyarc')).entries())
    add(singleLine(name), arcNumbers[i])
  add(text('alternateseries'), text('alternatenumber'))
  return arcs.size > 0 ? [...arcs.values()] : undefined
}

function readingFields({ text, reject }: Fields): Metadata {
  const choice = <T>(name: string, values: Record<string, T>): T | undefined => {
    const value = text(name)?.toLowerCase()
    if (value === undefined || value === 'unknown') return undefined
    return Object.hasOwn(values, value) ? values[value] : reject(name)
  }
  const yesNo = { yes: true, true: true, 1: true, no: false, false: false, 0: false }
  const language = text('languageiso')
  const rating = ageRating(text('agerating') ?? '')
  return {
    language: language && (canonicalLanguage(language) ?? reject('languageiso')),
    ageRating: rating === null ? reject('agerating') : rating,
    manga: choice('manga', { ...yesNo, yesandrighttoleft: true }),
    readingDirection: text('manga')?.toLowerCase() === 'yesandrighttoleft' ? 'rtl' : undefined,
    blackAndWhite: choice('blackandwhite', yesNo),
  }
}

/** GTIN is an ISBN for books, an EAN or UPC for issues; taggers write their ids to Notes. */
function identifierFields({ text }: Fields): Metadata {
  const identifiers: Identifier[] = []
  const gtin = text('gtin')
  const isbn = gtin === undefined ? null : (isbn13(gtin) ?? findIsbn([gtin]) ?? null)
  if (gtin !== undefined && isbn === null) identifiers.push({ scheme: 'gtin', value: gtin })
  const notes = text('notes') ?? ''
  const comicVine = /\[CVDB(\d{1,12})\]/.exec(notes)?.[1]
  const [, tagger, issue] =
    /from (Comic ?Vine|Metron)\b.*?\[Issue ID (\d{1,12})\]/i.exec(notes) ?? []
  if (comicVine !== undefined) identifiers.push({ scheme: 'comicvine', value: comicVine })
  else if (tagger !== undefined && issue !== undefined) {
    identifiers.push({ scheme: tagger.toLowerCase().replace(' ', ''), value: issue })
  }
  return {
    isbn: isbn ?? undefined,
    identifiers: identifiers.length > 0 ? identifiers : undefined,
  }
}

function links({ text, reject }: Fields): Link[] | undefined {
  const web = text('web')
  if (web === undefined) return undefined
  const urls = new Map<string, Link>()
  // Comma and semicolon are valid in a URL, so they only separate before the next URL.
  for (const part of web.split(/[\s,;]+(?=https?:)|\s+/i)) {
    const url = httpUrl(part)
    if (url !== undefined) urls.set(url, { source: 'comicinfo', url, externalId: null })
  }
  return urls.size > 0 ? [...urls.values()] : reject('web')
}
