// ComicInfo.xml, versions 1.0 to 2.1 and what taggers add to it.
//
//   ComicInfo = { Title | Series | Number | … }          once each, any case, any order
//   lists     = value { "," value }
//   Pages     = { Page @Image @Type @DoublePage @Bookmark … }
//   absent    = missing | empty | -1 (integers) | Unknown (enumerations)
// Source: the anansi-project schemas; TitleSort, SeriesSort and LocalizedSeries are Kavita's.
import { ageRating } from './age-rating.ts'
import { descriptionOf } from './html.ts'
import { isbn13 } from './isbn.ts'
import { canonicalLanguage } from './language.ts'
import type { Author, Identifier, Link, Metadata, SourceReading, StoryArc } from './metadata.ts'
import { pageNotes } from './page-notes.ts'
import { decimal, integer, line, names, prose, said, split, webAddress } from './text.ts'
import { descendantsOf, ownText, parseXml, type XmlElement } from './xml.ts'

type Fields = { text(name: string): string | undefined; drop(name: string): undefined }

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

/** Never throws: a document that cannot be read gives warnings and no metadata, a bad field only loses itself. */
export function parseComicInfo(bytes: Uint8Array): SourceReading {
  const { root, warnings } = parseXml(bytes)
  if (root?.name !== 'comicinfo') {
    return { source: 'comicinfo', metadata: {}, warnings: [...warnings, 'this is not a ComicInfo'] }
  }
  const elements = elementsByName(root)
  const fields: Fields = {
    text: name => line(ownText(elements.get(name))),
    drop: name => void warnings.push(`ComicInfo ${name} has a value of the wrong kind, left out`),
  }
  const metadata: Metadata = said({
    ...plainFields(fields, elements),
    ...numbers(fields),
    ...people(fields),
    ...lists(fields),
    ...reading(fields),
    ...numbersOfRecord(fields),
    links: links(fields),
    pageNotes: pageNotes(elements.get('pages'), warnings),
  })
  return { source: 'comicinfo', metadata, warnings }
}

/** At any depth: after an unclosed element the rest of the file is nested in it. The first of a name wins. */
function elementsByName(root: XmlElement): Map<string, XmlElement> {
  const elements = new Map<string, XmlElement>()
  for (const element of descendantsOf(root)) {
    if (!elements.has(element.name)) elements.set(element.name, element)
  }
  return elements
}

function plainFields({ text }: Fields, elements: Map<string, XmlElement>): Metadata {
  const long = (name: string) => descriptionOf(elements.get(name))
  const localized = text('localizedseries')
  return {
    title: text('title'),
    titleSort: text('titlesort'),
    series: text('series'),
    seriesSort: text('seriessort'),
    seriesGroup: text('seriesgroup'),
    alternateTitles:
      localized === undefined ? undefined : [{ label: 'localized', title: localized }],
    number: text('number'),
    summary: long('summary'),
    notes: prose(ownText(elements.get('notes'))),
    review: long('review'),
    publisher: text('publisher'),
    imprint: text('imprint'),
    format: text('format'),
    scanInformation: text('scaninformation'),
  }
}

function numbers({ text, drop }: Fields): Metadata {
  const whole = (name: string, least: number, most: number) => {
    const value = text(name)
    if (value === undefined) return undefined
    const number = integer(value)
    // -1 is the schema's default; editors also leave 0 where nothing is meant.
    if (number === -1 || (number === 0 && least > 0)) return undefined
    return number >= least && number <= most ? number : drop(name)
  }
  const rating = text('communityrating')
  const stars = rating === undefined ? Number.NaN : decimal(rating)
  return {
    count: whole('count', 1, 1_000_000),
    volume: whole('volume', 0, 1_000_000),
    year: whole('year', 1, 9999),
    month: whole('month', 1, 12),
    day: whole('day', 1, 31),
    rating: stars >= 0 && stars <= 5 ? Math.round(stars * 20) : rating && drop('communityrating'),
  } as Metadata
}

function people({ text }: Fields): Metadata {
  const authors: Author[] = []
  for (const [element, role] of Object.entries(roles)) {
    for (const name of names(split(text(element))) ?? [])
      authors.push({ name, role, sortName: null })
  }
  return authors.length > 0 ? { authors } : {}
}

function lists({ text }: Fields): Metadata {
  const list = (name: string) => names(split(text(name)))
  const teams = list('teams')
  const lead = text('maincharacterorteam')
  const isTeam = lead !== undefined && teams?.some(team => team === lead)
  return {
    genres: list('genre'),
    tags: list('tags'),
    characters: names([...split(text('characters')), ...(isTeam ? [] : [lead])]),
    teams,
    locations: list('locations'),
    storyArcs: storyArcs(text),
  }
}

/** AlternateSeries is ComicRack's older place for the cross-over a book belongs to. */
function storyArcs(text: Fields['text']): StoryArc[] | undefined {
  const arcNumbers = text('storyarcnumber')?.split(',') ?? []
  const arcs = new Map<string, StoryArc>()
  const add = (name: string | undefined, number: string | undefined) => {
    const key = name?.toLowerCase()
    if (name && key && !arcs.has(key)) arcs.set(key, { name, number: line(number) ?? null })
  }
  for (const [i, name] of split(text('storyarc')).entries()) add(line(name), arcNumbers[i])
  add(text('alternateseries'), text('alternatenumber'))
  return arcs.size > 0 ? [...arcs.values()] : undefined
}

function reading({ text, drop }: Fields): Metadata {
  const choice = <T>(name: string, values: Record<string, T>): T | undefined => {
    const value = text(name)?.toLowerCase()
    if (value === undefined || value === 'unknown') return undefined
    return Object.hasOwn(values, value) ? values[value] : drop(name)
  }
  const yesNo = { yes: true, true: true, 1: true, no: false, false: false, 0: false }
  const language = text('languageiso')
  const rating = ageRating(text('agerating') ?? '')
  return {
    language: language && (canonicalLanguage(language) ?? drop('languageiso')),
    ageRating: rating === null ? drop('agerating') : rating,
    manga: choice('manga', { ...yesNo, yesandrighttoleft: true }),
    readingDirection: text('manga')?.toLowerCase() === 'yesandrighttoleft' ? 'rtl' : undefined,
    blackAndWhite: choice('blackandwhite', yesNo),
  }
}

/** GTIN is an ISBN for books, an EAN or UPC for issues; taggers leave their own ids in Notes. */
function numbersOfRecord({ text }: Fields): Metadata {
  const identifiers: Identifier[] = []
  const gtin = text('gtin')
  const isbn = gtin === undefined ? null : isbn13(gtin)
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

function links({ text, drop }: Fields): Link[] | undefined {
  const web = text('web')
  if (web === undefined) return undefined
  const found = new Map<string, Link>()
  // Comma and semicolon are legal inside an address, so they separate only before the next one.
  for (const part of web.split(/[\s,;]+(?=https?:)|\s+/i)) {
    const url = webAddress(part)
    if (url !== undefined) found.set(url, { source: 'comicinfo', url, externalId: null })
  }
  return found.size > 0 ? [...found.values()] : drop('web')
}
