// Release title parser: titles of the series, spans of volumes and chapters, group, and hints about the files.
//
//   title := ['[' group ']'] name {' / ' name} [spans] {'(' hint | group ')'} {'[' … ']'}
//   spans := span {(',' | '+' | '&' | 'as') span}       v01-31, 276-293   001-005 as v01 + 006-009
//   span  := [marker] number [dash [marker] number]     without a marker: chapters
//
// Lists of spans are read here; a title with at most one volume and one number is parsed as a file name.
import { type ParsedName, parseFilename } from './filename.ts'
import { sortNumber } from './number.ts'
import { splitBrackets } from './tags.ts'
import { asciiDigits } from './text.ts'
import { type Token, tokenize } from './tokens.ts'
import { markerWord } from './words.ts'

export type NumberSpan = { start: number; end: number }

export type ReleaseTitle = {
  /** Titles of the series: `A / B` has two. Empty if the title has no name. */
  titles: string[]
  group: string | null
  language: string | null
  year: number | null
  /** Null if the title has none. Sorted, without overlaps. */
  volumes: NumberSpan[] | null
  chapters: NumberSpan[] | null
  /** `digital`, `omnibus` and the like, each true. */
  hints: Record<string, true>
}

const maxLength = 500
const maxTitles = 10
const maxSpans = 100
/** Extensions of released files. */
export const releaseExtensions = 'cbz|cbr|cb7|cbt|zip|rar|7z|epub|pdf'
const extension = new RegExp(`\\.(?:${releaseExtensions})$`, 'i')
const dashes = /^[-–—~～]$/
const separators = /^(?:[,+&]|as|and)$/
const hintWords: [string, RegExp][] = [
  ['digital', /^(?:hd[- ])?digital(?:[- ](?:hd|compilations?))?\b/i],
  ['jxl', /^jxl$/i],
  ['magazine', /^mag(?:azine|-z)?$/i],
  ['webtoon', /^webtoons?$/i],
  ['bw', /^b ?& ?w$|^bw$|^black (?:and|&) white$/i],
  ['color', /^(?:full )?colou?r(?:ed)?$/i],
  ['omnibus', /^omnibus(?: edition)?$/i],
]

/** Never throws. */
export function parseReleaseTitle(input: string): ReleaseTitle {
  const title = asciiDigits(input.slice(0, maxLength).toWellFormed().normalize('NFC'))
    .replace(/\s+/g, ' ')
    .trim()
    .replace(extension, '')
  const { leading, body } = splitGroup(title)
  const { flat, groups } = splitBrackets(body)
  const list = findList(flat)
  const named = parseFilename(list ? `${list.name}${bracketed(groups)}` : body)
  const spans = list ?? spansOf(named)
  return {
    titles: titlesOf(list ? list.name : (named.series ?? '')),
    group: leading ?? named.groups.findLast(isGroup) ?? null,
    language: named.language,
    year: named.year,
    volumes: merged(spans.volumes),
    chapters: merged(spans.chapters),
    hints: hintsOf(groups),
  }
}

// `[Group] Name v01`, but `[Name] v01`
function splitGroup(title: string): { leading: string | null; body: string } {
  const match = /^\[([^[\]]{1,200})\] ?/.exec(title)
  if (!match) return { leading: null, body: title }
  const rest = title.slice(match[0].length)
  const isName = readSpan(tokenize(rest), 0) !== null
  const text = match[1]!.trim()
  return isName ? { leading: null, body: `${text} ${rest}` } : { leading: text, body: rest }
}

const bracketed = (groups: string[]) => groups.map(group => ` (${group})`).join('')
const hintOf = (group: string) => hintWords.find(([, words]) => words.test(group))?.[0]
const isGroup = (group: string) => hintOf(group) === undefined && !/^\d+p?$/.test(group)

function hintsOf(groups: string[]): Record<string, true> {
  const hints = groups.flatMap(group => hintOf(group) ?? [])
  return Object.fromEntries(hints.map(hint => [hint, true]))
}

// Only a slash with spaces separates titles, unlike in `AC/DC`.
function titlesOf(name: string): string[] {
  const titles = name.split(' / ').map(part =>
    part
      .replace(/ [-–—] /g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  )
  return [...new Set(titles)].filter(title => title !== '').slice(0, maxTitles)
}

type Spans = { volumes: NumberSpan[]; chapters: NumberSpan[] }

/** For a name with at most one volume and one number, each of which may be a range. */
function spansOf({ volume, volumeEnd, chapter, chapterEnd, number }: Readonly<ParsedName>): Spans {
  const volumes = volume === null ? [] : [{ start: volume, end: volumeEnd ?? volume }]
  if (chapterEnd !== null) return { volumes, chapters: [{ start: chapter!, end: chapterEnd }] }
  const [first = null, last = first] = number?.match(/^(.+?)-(\d.*)$/)?.slice(1) ?? [number]
  // With its suffix: `12.extra` is 12.99.
  const start = first === null ? chapter : sortNumber(first)
  if (start === null) return { volumes, chapters: [] }
  return {
    volumes,
    chapters: [{ start, end: last === null ? start : (sortNumber(last) ?? start) }],
  }
}

/** Sorts spans and merges overlapping ones; spans that only touch stay separate. */
function merged(spans: NumberSpan[]): NumberSpan[] | null {
  const result: NumberSpan[] = []
  const inOrder = spans.map(({ start, end }) => ({
    start: Math.min(start, end),
    end: Math.max(start, end),
  }))
  for (const span of inOrder.sort((a, b) => a.start - b.start)) {
    const last = result.at(-1)
    if (last && span.start <= last.end) last.end = Math.max(last.end, span.end)
    else result.push(span)
  }
  return result.length === 0 ? null : result.slice(0, maxSpans)
}

type ReadSpan = NumberSpan & {
  axis: 'volume' | 'chapter' | null
  /** Digits of the last number, which distinguish `v01, 02` from `v01, 009`. */
  width: number
  /** Index of the next token. */
  next: number
}

/** The first list of two or more spans, with the text before it. */
function findList(text: string): (Spans & { name: string }) | null {
  const tokens = tokenize(text)
  for (let at = 0; at < tokens.length; at++) {
    const first = readSpan(tokens, at)
    const isInNumber = tokens[at]!.isGlued && tokens[at - 1]?.text === ','
    if (first === null || (first.axis === null && (first.width < 3 || isInNumber))) continue
    const spans = [first]
    for (let last = first; ; spans.push(last)) {
      const separator = tokens[last.next]
      const following = separator && separators.test(separator.key) ? last.next + 1 : null
      const span = following === null ? null : readSpan(tokens, following)
      if (span === null) break
      last = span
    }
    if (spans.length > 1)
      return { ...byAxis(spans), name: text.slice(0, tokens[at]!.from).replace(/[-–—,:\s]+$/, '') }
  }
  return null
}

function byAxis(spans: ReadSpan[]): Spans {
  const result: Spans = { volumes: [], chapters: [] }
  for (const [i, { axis, start, end, width }] of spans.entries()) {
    const before = spans[i - 1]
    const isNextVolume =
      before?.axis === 'volume' &&
      result.chapters.length === 0 &&
      width === before.width &&
      start > before.end &&
      start <= before.end + 3
    const known = axis ?? (isNextVolume ? 'volume' : 'chapter')
    spans[i]!.axis = known
    result[known === 'volume' ? 'volumes' : 'chapters'].push({ start, end })
  }
  return result
}

function readSpan(tokens: Token[], at: number): ReadSpan | null {
  const marker = readMarker(tokens, at)
  const first = tokens[marker.next]
  if (
    !isNumber(first) ||
    (marker.axis === null && first.isGlued && at > 0 && !isMark(tokens[at - 1]))
  )
    return null
  const dash = tokens[marker.next + 1]
  const again = dash && dashes.test(dash.text) ? readMarker(tokens, marker.next + 2) : null
  const last = again === null ? undefined : tokens[again.next]
  const isRange = isNumber(last) && (again!.axis === null || again!.axis === marker.axis)
  const next = isRange ? again!.next + 1 : marker.next + 1
  // `20th`, `1080p`
  if (tokens[next]?.isGlued && tokens[next].kind === 'word') return null
  const number = isRange ? last : first
  return {
    axis: marker.axis,
    start: Number(first.text),
    end: Number(number.text),
    width: number.text.replace(/\..*/, '').length,
    next,
  }
}

const isMark = (token: Token | undefined) => token?.kind === 'mark' || token?.kind === 'gap'
const isNumber = (token: Token | undefined): token is Token =>
  token?.kind === 'number' && /^\d{1,5}(?:\.\d{1,3})?$/.test(token.text)

/** A volume or chapter marker at `tokens[at]`, with its dot; `axis` is null without one. */
function readMarker(tokens: Token[], at: number): Pick<ReadSpan, 'axis' | 'next'> {
  const word = tokens[at]?.kind === 'word' ? markerWord(tokens[at].key) : null
  const axis = word?.kind === 'volume' || word?.kind === 'chapter' ? word.kind : null
  if (axis === null) return { axis, next: at }
  return { axis, next: tokens[at + 1]?.text === '.' ? at + 2 : at + 1 }
}
