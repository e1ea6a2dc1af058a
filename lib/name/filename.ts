// Reads a book's file name: series, number, volume, chapter, year, title and what the brackets say.
//
//   name := [group] series {marker | number} [title] {bracket}
//
// Markers are looked for in the running text first, then in the brackets. The series is the text
// before the first of them, the title the text after the last.
import { splitBrackets } from './brackets.ts'
import { type Chosen, chooseNumber, countedVolume, type Sources } from './choose.ts'
import { type NamedDate, takeDates } from './dates.ts'
import { asciiDigits } from './digits.ts'
import { findMarkers, type Marker } from './markers.ts'
import { type BookForm, formOf, readTag, type Tag } from './tags.ts'
import { cutEdition, seriesText, titleText } from './wording.ts'

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
  /** How many there are: `(of 6)`. */
  count: number | null
  form: BookForm | null
  /** As written: `Omnibus Edition`, else the source: `digital`, `Webrip`. */
  edition: string | null
  /** BCP 47. */
  language: string | null
  /** Bracketed texts with no other meaning: release groups, publishers. */
  groups: string[]
}

// A file name has at most 255 bytes; whatever is longer is no file name, and every pattern stays cheap.
const longest = 512

/**
 * Never throws; about 50 k names/s. `known.series` is the series' name when a folder or the embedded
 * metadata told it.
 */
export function parseFilename(stem: string, known: { series?: string | null } = {}): ParsedName {
  const { flat, groups } = splitBrackets(tidy(stem))
  const { text, date } = takeDates(flat)
  const tags = groups.map(readTag)
  // `(C99)` is a fair, not a chapter.
  const marked = groups.filter(group => !/^C\d{2,3}$/.test(group))
  const name = { text, tags, own: findMarkers(text), groups: findMarkers(marked.join('\n')) }
  const special = name.own.special ?? name.groups.special
  const number = special ? null : chooseNumber(name, known.series ?? null)
  const counted = countedVolume(name, number)
  const volume =
    name.own.volume ?? name.groups.volume ?? counted ?? (name.own.issue ? null : name.own.book)
  const chapter = number?.source === 'chapter' ? number.marker : null
  const words = readWords(name, { number, counted })
  return {
    ...words,
    series: known.series ?? words.series,
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
    edition: editionOf(tags, 'edition') ?? words.edition ?? editionOf(tags, 'source'),
    language: tags.find(tag => tag.kind === 'language')?.code ?? null,
    groups: tags.flatMap(groupOf),
  }
}

function tidy(stem: string): string {
  const text = asciiDigits(stem.slice(0, longest).toWellFormed().normalize('NFC'))
    .replaceAll('＃', '#')
    .replace(/__([^_]{1,80})__/g, ' ($1) ')
    .replace(/[_\s]+/g, ' ')
    .trim()
  if (text.includes(' ')) return text
  // `Series.Name.v01`: dots for spaces, unless the name is an abbreviation or the dot a decimal's.
  const words = text.split('.')
  if (words.length > 3 && words.every(word => word.length > 1)) return words.join(' ')
  return text.replace(/(?<=\p{L}{2}|\d)\.(?=\p{L}{2}|[vct]\d)|(?<=\p{L}{2})\.(?=\d)/giu, ' ')
}

type Found = { number: Chosen | null; counted: Marker | null }
type Words = Pick<ParsedName, 'series' | 'title' | 'edition'>

function readWords({ text, own, tags }: Sources, found: Found): Words {
  const { number, counted } = found
  const book = own.issue || own.volume ? null : own.book
  const cuts = [own.volume, book, number, own.special].filter(cut => cut !== null)
  const none = { from: text.length, to: text.length }
  const first = cuts.reduce((a, b) => (b.from < a.from ? b : a), cuts[0] ?? none)
  const last = cuts.reduce((a, b) => (b.to > a.to ? b : a), first)
  const { name, edition } = cutEdition(seriesText(text.slice(0, first.from)) ?? '')
  const title =
    titleText(text.slice(last.to, Math.max(counted?.from ?? text.length, last.to))) ??
    (first === last ? null : titleText(text.slice(first.to, last.from))) ??
    (book && titleText(text.slice(book.from, book.to)))
  const whole = tags.find(tag => tag.kind === 'series')
  if (whole) return { series: whole.name, title: name || title, edition }
  // A name without any number names both.
  if (cuts.length === 0) return { series: name || null, title: name || null, edition }
  const colon = number?.source === 'issue' && title === null ? name.indexOf(': ') : -1
  // `Series: Title #1`: before an issue number the part after the colon is the story.
  if (colon > 0) return { series: name.slice(0, colon), title: name.slice(colon + 2), edition }
  return { series: name || null, title, edition }
}

function dateOf(tags: Tag[], running: NamedDate | null): NamedDate {
  const dates = tags.flatMap(tag => (tag.kind === 'date' ? [tag.date] : []))
  const found = dates.find(date => date.year !== null) ?? running ?? dates[0]
  return found ?? { year: null, month: null, day: null }
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
  return [volume, chapter, issue].some(found => found?.from === 0 && found.to === text.length)
}

// Beside a number `+ TPB` and the like are extras, only what stands before it tells the form.
function formIn({ text, tags }: Sources, number: Chosen | null): BookForm | null {
  const tagged = tags.flatMap(tag => (tag.kind === 'edition' ? [formOf(tag.text)] : []))
  return tagged.find(form => form !== null) ?? formOf(text.slice(0, number?.to))
}
