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
import type { Author, Identifier, Link, PageNote, StoryArc } from './values.ts'
import { childrenOf, descendantsOf, ownText, parseXml, type XmlElement } from './xml.ts'

type Fields = { text(name: string): string | undefined; reject(name: string): undefined }

const source = 'comicinfo'

// Each has an element of its name, without the underscore.
const roles = 'writer penciller inker colorist letterer cover_artist editor translator'.split(' ')

/** Never throws: an unreadable document only yields warnings; an invalid field is ignored with a warning. */
export function parseComicInfo(bytes: Uint8Array): SourceReading {
  const { root, warnings } = parseXml(bytes)
  if (root?.name !== source)
    return { source, metadata: {}, warnings: [...warnings, 'not a ComicInfo document'] }
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
  return { source, metadata, warnings }
}

/**
 * Elements at any depth, because the rest of the file is nested in an unclosed element. The first element of
 * each name is used.
 */
function elementsByName(root: XmlElement): Map<string, XmlElement> {
  const elements = new Map<string, XmlElement>()
  for (const element of descendantsOf(root))
    if (!elements.has(element.name)) elements.set(element.name, element)
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
  for (const role of roles)
    for (const name of uniqueNames(splitList(text(role.replace('_', '')))) ?? [])
      authors.push({ name, role, sortName: null })
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
    if (url !== undefined) urls.set(url, { source, url, externalId: null })
  }
  return urls.size > 0 ? [...urls.values()] : reject('web')
}

const pageTypes = [
  ...['FrontCover', 'InnerCover', 'Roundup', 'Story', 'Advertisement', 'Editorial', 'Letters'],
  ...['Preview', 'BackCover', 'Other', 'Deleted'],
]

const maxPages = 65_536

/**
 * Notes by image index (the first one of duplicates); ignores entries without information. Invalid entries
 * yield one warning in total.
 */
export function pageNotes(
  pages: XmlElement | undefined,
  warnings: string[],
): PageNote[] | undefined {
  const notes = new Map<number, PageNote>()
  let invalid = 0
  for (const element of childrenOf(pages, 'page').slice(0, maxPages)) {
    const note = noteOf(element)
    if (note === null) invalid++
    else if (note.type !== null || note.double || note.bookmark !== null) {
      if (!notes.has(note.image)) notes.set(note.image, note)
    }
  }
  if (invalid > 0)
    warnings.push(`ComicInfo Pages has ${invalid} entries without a valid Image number`)
  return notes.size > 0 ? [...notes.values()] : undefined
}

function noteOf({ attributes }: XmlElement): PageNote | null {
  const image = parseInteger(attributes.get('image') ?? '')
  if (!(image >= 0 && image < maxPages)) return null
  // The schema declares Type as a list; ComicRack writes a single value.
  const type = attributes.get('type')?.trim().split(/\s+/)[0]?.toLowerCase()
  return {
    image,
    type: pageTypes.find(known => known.toLowerCase() === type) ?? null,
    double: /^\s*(?:true|1|yes)\s*$/i.test(attributes.get('doublepage') ?? ''),
    bookmark: singleLine(attributes.get('bookmark')) ?? null,
  }
}
