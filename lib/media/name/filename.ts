// File name parser: series, number, volume, chapter, year, title, and tags in brackets.
//
//   name   := {tag} series [sep] {number | marker} [sep title] {tag}
//   marker := word number | number word | # number      in any of the languages of words.ts
//   tag    := bracketed date, count, edition, source, language, version, series or group
//
// normalize, split brackets, extract dates, tokenize; find markers; choose the number; the series is the text before the
// first of these, the title the text after the last. Markers outside brackets take precedence.
import { type ChosenNumber, chooseNumber, countedVolume, type NameParts } from './choose-number.ts'
import { extractDates, isYear, type NamedDate } from './dates.ts'
import { findMarkers } from './markers.ts'
import {
  isEdition,
  normalizeStem,
  ofWords,
  seriesText,
  splitEdition,
  titleText,
  withoutVersion,
} from './normalize.ts'
import { type BookForm, formOf, readSeriesTag, readTag, splitBrackets, type Tag } from './tags.ts'
import { tokenize } from './tokens.ts'
import { findUnmarkedNumber } from './unmarked-number.ts'

export type ParsedName = {
  series: string | null
  title: string | null
  /** Issue, chapter or plain number as written, without leading zeros: `1`, `1.5`, `1-6`, `78.BEY`, `½`. */
  number: string | null
  /** May be fractional; `volumeEnd` closes a range. */
  volume: number | null
  volumeEnd: number | null
  /** Only when marked as a chapter. May be fractional. */
  chapter: number | null
  chapterEnd: number | null
  part: number | null
  /** The N in `SPN`. */
  special: number | null
  year: number | null
  month: number | null
  day: number | null
  /** Total number, as in `(of 6)`. */
  count: number | null
  form: BookForm | null
  /** As written: `Omnibus Edition`, otherwise the source: `digital`, `Webrip`. */
  edition: string | null
  /** BCP 47. */
  language: string | null
  /** Bracketed texts with no other meaning: release groups, publishers. */
  groups: string[]
}

/**
 * Never throws; parses tens of thousands of names/s. `series` is the name of the series if known from a
 * folder or the embedded metadata.
 */
export function parseFilename(
  stem: string,
  { series = null }: { series?: string | null } = {},
): Readonly<ParsedName> {
  if (latest?.stem !== stem || latest.series !== series)
    latest = { stem, series, parsed: parse(stem, series) }
  return latest.parsed
}

// A book's metadata, number and title are derived from the same name in succession.
let latest: { stem: string; series: string | null; parsed: ParsedName } | null = null

function parse(stem: string, knownSeries: string | null): ParsedName {
  const { flat, groups } = splitBrackets(normalizeStem(stem))
  const tags = readTags(flat, groups)
  const versionless = withoutVersion(flat, tags.at(-1)?.kind === 'date')
  const isDated = tags.some(tag => tag.kind === 'date')
  const { text, date } = extractDates(versionless, isDated)
  const tokens = tokenize(text)
  const own = findMarkers(tokens)
  const withMarkers = groupsWithMarkers(groups, tags, { text, tokens, own })
  const inGroups = findMarkers(tokenize(withMarkers.join('\n')))
  const name: NameParts = { text, tokens, tags, own, groups: inGroups }
  const special = own.special ?? inGroups.special
  const isTitle = knownSeries === null && isDated && isNumberTitle(text)
  const number = special || isTitle ? null : chooseNumber(name, knownSeries)
  const counted = countedVolume(name, number)
  const volume = volumeOf(name, counted)
  const chapter = number?.source === 'chapter' ? number.marker : null
  const texts = readTexts(name, { number, counted })
  const count = own.total?.value ?? tags.find(tag => tag.kind === 'count')?.count ?? countIn(text)
  return {
    ...texts,
    series: knownSeries ?? texts.series,
    number: number?.text ?? null,
    volume: volume?.value ?? null,
    volumeEnd: volume?.end ?? null,
    chapter: chapter?.value ?? null,
    chapterEnd: chapter?.end ?? null,
    part: (own.part ?? inGroups.part)?.value ?? null,
    special: special?.value ?? null,
    ...dateOf(tags, date ?? yearAtEnd(name, number)),
    count,
    form: special ? 'special' : formIn(name, number, texts),
    edition: editionOf(tags, 'edition') ?? texts.edition ?? editionOf(tags, 'source'),
    language: tags.find(tag => tag.kind === 'language')?.code ?? null,
    groups: tags.flatMap(groupOf),
  }
}

// `300 (1998)`, but `12 (1998)` and `012 (1998)` are issues in a series folder.
const isNumberTitle = (text: string) => /^[1-9]\d{2,3} ?(?:\n ?)+$/.test(text)

// `(C99)` is a convention (Comiket), not a chapter; `(v2)` after a number is a version.
function groupsWithMarkers(
  groups: string[],
  tags: Tag[],
  { text, tokens, own }: Pick<NameParts, 'text' | 'tokens' | 'own'>,
): string[] {
  const first = Math.min(
    ...[...Object.values(own), findUnmarkedNumber(tokens, [])].map(
      number => number?.from ?? Number.POSITIVE_INFINITY,
    ),
  )
  const gaps = tokens.filter(token => token.kind === 'gap' && text[token.from] === '\n')
  return groups.filter((group, i) => {
    const isAfterNumber = (gaps[i]?.from ?? 0) > first
    return !/^C\d{2,3}$/.test(group) && !(isAfterNumber && tags[i]!.kind === 'version')
  })
}

function readTags(flat: string, groups: string[]): Tag[] {
  const infix = flat.indexOf(' - \n - ')
  const at = infix < 0 ? -1 : flat.slice(0, infix).split('\n').length - 1
  return groups.map((group, i) => (i === at && readSeriesTag(group)) || readTag(group))
}

function volumeOf({ own, groups, tags }: NameParts, counted: MarkedNumber | null) {
  const tag = tags.find(tag => tag.kind === 'series')
  const ofSeries = tag?.isVolume ? { value: Number(tag.number), end: null } : null
  const marked = own.volume ?? own.season ?? groups.volume ?? groups.season
  return ofSeries ?? marked ?? counted ?? (own.issue ? null : (own.book ?? groups.book))
}

type MarkedNumber = { value: number; end: number | null; from: number; to: number }
type FoundNumbers = { number: ChosenNumber | null; counted: MarkedNumber | null }
type NameTexts = Pick<ParsedName, 'series' | 'title' | 'edition'>
type Cut = { from: number; to: number }

function readTexts({ text, own, tags }: NameParts, numbers: FoundNumbers): NameTexts {
  const { number, counted } = numbers
  const book = own.issue || own.volume ? null : own.book
  // `5 - Spider-Man Volume 2`
  const isLeading = number?.from === 0 && number.source === 'unmarked' && own.volume !== undefined
  const start = isLeading ? number.to : 0
  const marks = [own.volume, own.season, book, number, own.special, own.total]
  const cuts: Cut[] = marks.filter(cut => cut != null && cut.to > start) as Cut[]
  // Next to other numbers, a part belongs to the series: `Part 2 v03`.
  if (cuts.length === 0 && own.part) cuts.push(own.part)
  const none = { from: text.length, to: text.length }
  const first = cuts.reduce((a, b) => (b.from < a.from ? b : a), cuts[0] ?? none)
  const last = cuts.reduce((a, b) => (b.to > a.to ? b : a), first)
  const before = withoutPosition(text.slice(start, first.from), number)
  const { name, edition } = splitEdition(seriesText(before) ?? '')
  const after =
    titleText(text.slice(last.to, Math.max(counted?.from ?? text.length, last.to))) ??
    (first === last ? null : titleText(text.slice(first.to, last.from)))
  const formAfter = after !== null && isEdition(after) ? after : null
  const title =
    after === null || formAfter || isTagText(after)
      ? titleText(book ? text.slice(book.from, book.to) : '')
      : after
  const whole = tags.find(tag => tag.kind === 'series')
  if (whole) {
    const behind = / - \n - (.*)/.exec(text)?.[1]
    return {
      series: whole.name,
      title: behind ? titleText(behind) : name || title || null,
      edition,
    }
  }
  // A name without a number is both series and title.
  if (cuts.length === 0) return { series: name || null, title: name || null, edition }
  const colon = number?.source === 'issue' && title === null ? name.indexOf(': ') : -1
  // `Series: Title #1`: before an issue number, the part after the colon is the title.
  if (colon > 0) return { series: name.slice(0, colon), title: name.slice(colon + 2), edition }
  return { series: name || null, title, edition: edition ?? formAfter }
}

// `Mushishi - 0043 - Chapter 43`: the chapter number, for sorting.
const positionBefore = / - (\d{2,4}) - $/

function withoutPosition(text: string, number: ChosenNumber | null): string {
  const position = number?.marker ? positionBefore.exec(text) : null
  return position && Number(position[1]) === number!.marker!.value
    ? text.slice(0, position.index)
    : text
}

// `cap. 364 ITA`, `Nr. 23 2021`
function isTagText(title: string): boolean {
  const { kind } = readTag(title)
  if (kind === 'language') return /^(?:[A-Z]{3,}|FR|EN|DE|ES|NL|PL|RU|JP)$/.test(title)
  return kind === 'source' || kind === 'version' || (kind === 'date' && /^\d{4}$/.test(title))
}

// `Nr. 23 2021`, `Issue 203, 2020`
function yearAtEnd({ text }: NameParts, number: ChosenNumber | null): NamedDate | null {
  const match = number && /^ ?[-/,]? ?(\d{4}) ?(?=$|[\n\t])/.exec(text.slice(number.to))
  return match && isYear(match[1]!) ? { year: Number(match[1]), month: null, day: null } : null
}

function dateOf(tags: Tag[], running: NamedDate | null): NamedDate {
  const dates = tags.flatMap(tag => (tag.kind === 'date' ? [tag.date] : []))
  const published = tags.find(tag => tag.kind === 'publisher')?.date
  const date = dates.find(date => date.year !== null) ?? running ?? dates[0] ?? published
  return date ?? { year: null, month: null, day: null }
}

const countPattern = new RegExp(
  `(\\p{L}{0,4})\\.? ?#?\\d{1,4} (?:${ofWords}) (\\d{1,4})(?= ?(?:$|[\\n\\t]))`,
  'u',
)

// Matches `1 of 4` at the end of the text, but not `Part 1 of 2`.
function countIn(text: string): number | null {
  const match = countPattern.exec(text)
  return match && !/^(?:part|pt)$/i.test(match[1]!) ? Number(match[2]) : null
}

function editionOf(tags: Tag[], kind: 'edition' | 'source'): string | null {
  const tag = tags.find(tag => tag.kind === kind)
  return tag && 'text' in tag ? tag.text : null
}

function groupOf(tag: Tag): string[] {
  if (tag.kind === 'source') return tag.group === null ? [] : [tag.group]
  if (tag.kind === 'publisher') return [tag.text]
  return tag.kind === 'other' && !isMarker(tag.text) ? [tag.text] : []
}

function isMarker(text: string): boolean {
  const { volume, season, chapter, issue } = findMarkers(tokenize(text))
  return [volume, season, chapter, issue].some(
    marker => marker?.from === 0 && marker.to === text.length,
  )
}

// After a number, `+ TPB` and the like are extras; only text before it determines the form, and the edition
// next to it.
function formIn(
  { text, tags, own }: NameParts,
  number: ChosenNumber | null,
  { edition, series }: NameTexts,
): BookForm | null {
  const tagged = tags.flatMap(tag => (tag.kind === 'edition' ? [formOf(tag.text)] : []))
  return (
    tagged.find(form => form !== null) ??
    formOf(text.slice(0, number?.to ?? own.volume?.to)) ??
    formOf(text.slice(0, number?.from ?? own.volume?.from).trimEnd()) ??
    formOf(edition ?? '') ??
    formOf(series ?? '')
  )
}
