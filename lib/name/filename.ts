// File name parser: series, number, volume, chapter, year, title, and tags in brackets.
//
//   name := [group] series {marker | number} [title] {bracket}
//
// Markers are searched outside of brackets first, then inside. The series is the text before the first
// marker, the title the text after the last.
import { splitBrackets } from './brackets.ts'
import { type ChosenNumber, chooseNumber, countedVolume, type NameParts } from './choose-number.ts'
import { seriesText, splitEdition, titleText } from './cleanup.ts'
import { extractDates, type NamedDate } from './dates.ts'
import { findMarkers, type Marker } from './markers.ts'
import { type BookForm, formOf, readTag, type Tag } from './tags.ts'
import { asciiDigits, matchKey } from './text.ts'

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
  /** The N of `SPN`. */
  special: number | null
  year: number | null
  month: number | null
  day: number | null
  /** Total number: `(of 6)`. */
  count: number | null
  form: BookForm | null
  /** As written: `Omnibus Edition`, else the source: `digital`, `Webrip`. */
  edition: string | null
  /** BCP 47. */
  language: string | null
  /** Bracketed texts with no other meaning: release groups, publishers. */
  groups: string[]
}

// A file name has at most 255 bytes; the limit bounds the cost of all patterns.
const maxLength = 512

/**
 * Never throws; about 50 k names/s. `known.series` is the name of the series when known from a folder
 * or the embedded metadata.
 */
export function parseFilename(stem: string, known: { series?: string | null } = {}): ParsedName {
  const { flat, groups } = splitBrackets(normalizeStem(stem))
  const { text, date } = extractDates(flat)
  const tags = groups.map(readTag)
  // `(C99)` is a convention (Comiket), not a chapter.
  const withMarkers = groups.filter(group => !/^C\d{2,3}$/.test(group))
  const name = { text, tags, own: findMarkers(text), groups: findMarkers(withMarkers.join('\n')) }
  const special = name.own.special ?? name.groups.special
  const number = special ? null : chooseNumber(name, known.series ?? null)
  const counted = countedVolume(name, number)
  const volume =
    name.own.volume ?? name.groups.volume ?? counted ?? (name.own.issue ? null : name.own.book)
  const chapter = number?.source === 'chapter' ? number.marker : null
  const texts = readTexts(name, { number, counted })
  return {
    ...texts,
    series: known.series ?? texts.series,
    number: number?.text ?? null,
    volume: volume?.value ?? null,
    volumeEnd: volume?.end ?? null,
    chapter: chapter?.value ?? null,
    chapterEnd: chapter?.end ?? null,
    part: (name.own.part ?? name.groups.part)?.value ?? null,
    special: special?.value ?? null,
    ...dateOf(tags, date),
    count: tags.find(tag => tag.kind === 'count')?.count ?? countIn(text),
    form: special ? 'special' : formIn(name, number),
    edition: editionOf(tags, 'edition') ?? texts.edition ?? editionOf(tags, 'source'),
    language: tags.find(tag => tag.kind === 'language')?.code ?? null,
    groups: tags.flatMap(groupOf),
  }
}

function normalizeStem(stem: string): string {
  const text = asciiDigits(stem.slice(0, maxLength).toWellFormed().normalize('NFC'))
    .replaceAll('＃', '#')
    .replace(/__([^_]{1,80})__/g, ' ($1) ')
    .replace(/[_\s]+/g, ' ')
    .trim()
  if (text.includes(' ')) return text
  // `Series.Name.v01`: dots instead of spaces, except in abbreviations and decimals.
  const words = text.split('.')
  if (words.length > 3 && words.every(word => word.length > 1)) return words.join(' ')
  return text.replace(/(?<=\p{L}{2}|\d)\.(?=\p{L}{2}|[vct]\d)|(?<=\p{L}{2})\.(?=\d)/giu, ' ')
}

type FoundNumbers = { number: ChosenNumber | null; counted: Marker | null }
type NameTexts = Pick<ParsedName, 'series' | 'title' | 'edition'>

function readTexts({ text, own, tags }: NameParts, numbers: FoundNumbers): NameTexts {
  const { number, counted } = numbers
  const book = own.issue || own.volume ? null : own.book
  const cuts = [own.volume, book, number, own.special].filter(cut => cut !== null)
  const none = { from: text.length, to: text.length }
  const first = cuts.reduce((a, b) => (b.from < a.from ? b : a), cuts[0] ?? none)
  const last = cuts.reduce((a, b) => (b.to > a.to ? b : a), first)
  const { name, edition } = splitEdition(seriesText(text.slice(0, first.from)) ?? '')
  const title =
    titleText(text.slice(last.to, Math.max(counted?.from ?? text.length, last.to))) ??
    (first === last ? null : titleText(text.slice(first.to, last.from))) ??
    (book && titleText(text.slice(book.from, book.to)))
  const whole = tags.find(tag => tag.kind === 'series')
  if (whole) return { series: whole.name, title: name || title, edition }
  // A name without a number is both series and title.
  if (cuts.length === 0) return { series: name || null, title: name || null, edition }
  const colon = number?.source === 'issue' && title === null ? name.indexOf(': ') : -1
  // `Series: Title #1`: before an issue number the part after the colon is the title.
  if (colon > 0) return { series: name.slice(0, colon), title: name.slice(colon + 2), edition }
  return { series: name || null, title, edition }
}

function dateOf(tags: Tag[], running: NamedDate | null): NamedDate {
  const dates = tags.flatMap(tag => (tag.kind === 'date' ? [tag.date] : []))
  const date = dates.find(date => date.year !== null) ?? running ?? dates[0]
  return date ?? { year: null, month: null, day: null }
}

// `1 of 4` at the end of the text, but not `Part 1 of 2`.
function countIn(text: string): number | null {
  const match = /(\p{L}{0,4})\.? ?#?\d{1,4} of (\d{1,4})(?= ?(?:$|[\n\t]))/u.exec(text)
  return match && !/^(?:part|pt)$/i.test(match[1]!) ? Number(match[2]) : null
}

function editionOf(tags: Tag[], kind: 'edition' | 'source'): string | null {
  const tag = tags.find(tag => tag.kind === kind)
  return tag && 'text' in tag ? tag.text : null
}

function groupOf(tag: Tag): string[] {
  if (tag.kind === 'source') return tag.group === null ? [] : [tag.group]
  return tag.kind === 'other' && !isMarker(tag.text) ? [tag.text] : []
}

function isMarker(text: string): boolean {
  const { volume, chapter, issue } = findMarkers(text)
  return [volume, chapter, issue].some(marker => marker?.from === 0 && marker.to === text.length)
}

// After a number, `+ TPB` and the like are extras; only text before it determines the form.
function formIn({ text, tags }: NameParts, number: ChosenNumber | null): BookForm | null {
  const tagged = tags.flatMap(tag => (tag.kind === 'edition' ? [formOf(tag.text)] : []))
  return tagged.find(form => form !== null) ?? formOf(text.slice(0, number?.to))
}

/**
 * Parses a library-relative path with `/` separators, whose last part is a file name without extension.
 * Folders supply missing series, volume and year, the nearest first, if they name the same series:
 * `Venom (2021)/Venom #1` has a year, `Sale 2020/Venom #1` does not.
 */
export function parsePath(path: string): ParsedName {
  const parts = path.split('/').filter(part => part !== '')
  const parsed = parseFilename(parts.at(-1) ?? '')
  for (const part of parts.slice(0, -1).slice(-8).reverse()) {
    const folder = parseFilename(part)
    const isUnnamed = folder.series === null || parsed.series === null
    if (!isUnnamed && seriesKey(folder.series) !== seriesKey(parsed.series)) continue
    parsed.series ??= folder.series
    parsed.volume ??= folder.volume
    parsed.year ??= folder.year
  }
  return parsed
}

// `Batman-Annual` and `Batman Annual` are the same.
function seriesKey(series: string | null): string {
  return matchKey(series ?? '').replaceAll(' ', '')
}
