// Selects the book number among the numbers in a file name.
//
// Order: `#1` or `Issue 1`, a chapter marker, a plain number, `No. 1`; then the brackets: `(1 of 3)`,
// `(Series, #2)`, `(#3)`, `(Ch. 4)`, `(5)`.
import type { Marker, Markers } from './markers.ts'
import { stripLeadingZeros } from './number.ts'
import type { Tag } from './tags.ts'
import { type Token, tokenize } from './tokens.ts'
import {
  findUnmarkedNumber,
  firstNumber,
  leadingNumber,
  numberAfterVolume,
  numberBeforeVolume,
  type UnmarkedNumber,
} from './unmarked-number.ts'

/** Offsets in the text outside brackets; a number in brackets is located at its end. */
export type ChosenNumber = {
  text: string
  source: 'issue' | 'chapter' | 'unmarked' | 'tag'
  from: number
  to: number
  marker: Marker | null
}

export type NameParts = {
  /** The text outside brackets, with its tokens and markers; `groups`: the markers inside. */
  text: string
  tokens: Token[]
  own: Markers
  groups: Markers
  tags: Tag[]
}

const boundChapters = / (\d{1,4}-\d{1,4}) as $/

/** `series` is the known name of the series, whose digits do not count as numbers. */
export function chooseNumber(name: NameParts, series: string | null): ChosenNumber | null {
  const { own } = name
  if (own.issue) return { ...own.issue, source: 'issue', marker: own.issue }
  if (own.chapter && !isInNameBeforeVolume(name, own.chapter))
    return { ...own.chapter, source: 'chapter', marker: own.chapter }
  const unmarked = unmarkedNumber(name, series)
  // `Area 77 - nr. 165`, but `Kaiju No. 8 036`
  const isInName =
    unmarked !== null &&
    own.weakIssue !== undefined &&
    own.weakIssue.from > unmarked.from &&
    !/^-?0\d/.test(name.text.slice(unmarked.from))
  if (unmarked && !isInName) return { ...unmarked, source: 'unmarked', marker: null }
  if (own.weakIssue && !isInNameBeforeVolume(name, own.weakIssue))
    return { ...own.weakIssue, source: 'issue', marker: own.weakIssue }
  return numberFromBrackets(name)
}

// `Kaiju No. 8 v02`, `Angels of Death Episode.0 v01`, but `Nr. 8 Band 2`, `Ep. 8 v02`
function isInNameBeforeVolume({ text, own }: NameParts, { from, to }: Marker): boolean {
  const isWord = /^(?:no\b|episode\.)\D*(?!0\d)\d+$/i.test(text.slice(from, to))
  return isWord && own.volume !== undefined && own.volume.from > from
}

/** `#008 - Simple Truth 03 (of 06)`: next to an issue number, the counted number is the volume. */
export function countedVolume(
  name: NameParts,
  number: ChosenNumber | null,
): Omit<Marker, 'at' | 'next'> | null {
  if (!number || number.source === 'tag' || name.own.volume) return null
  if (!name.tags.some(tag => tag.kind === 'count')) return null
  const match = / (\d{1,3}) ?\n/.exec(name.text.slice(number.to))
  if (!match) return null
  const from = number.to + match.index
  const value = Number(match[1])
  return { kind: 'volume', text: String(value), value, end: null, from, to: from + match[0].length }
}

function numberFromBrackets({ text, own, groups, tags }: NameParts): ChosenNumber | null {
  const at = { from: text.length, to: text.length }
  const chosen = (number: string): ChosenNumber => ({
    ...at,
    text: stripLeadingZeros(number),
    source: 'tag',
    marker: null,
  })
  for (const tag of tags) {
    if (tag.kind === 'series') return tag.isVolume ? null : chosen(tag.number)
    if (tag.kind === 'count' && tag.number !== null && !own.volume) return chosen(tag.number)
  }
  const marker = groups.issue ?? groups.chapter ?? groups.weakIssue
  if (marker) {
    return { ...marker, ...at, source: marker === groups.chapter ? 'chapter' : 'issue', marker }
  }
  const plain = tags.find(tag => tag.kind === 'number')
  const isRange = plain?.text.includes('-')
  return plain && (isRange || !own.volume) && !own.part ? chosen(plain.text) : null
}

function unmarkedNumber(
  { text, tokens, own }: NameParts,
  series: string | null,
): UnmarkedNumber | null {
  const volume = own.volume ?? own.season
  if (series !== null && !volume) {
    const number = numberAfterSeries(text, series)
    if (number) return number
  }
  if (!volume) return findUnmarkedNumber(tokens, Object.values(own))
  // `Never Say Ugly 001-050 as v01-10`: chapters collected in volumes.
  const bound = boundChapters.exec(text.slice(0, volume.from))
  if (bound) return { text: stripLeadingZeros(bound[1]!), from: bound.index, to: volume.from }
  return (
    numberAfterVolume(tokens, volume) ??
    numberBeforeVolume(tokens, volume) ??
    leadingNumber(tokens, volume)
  )
}

function numberAfterSeries(text: string, series: string): UnmarkedNumber | null {
  const at = text.toLowerCase().startsWith(series.toLowerCase()) ? series.length : 0
  const rest = text.slice(at).replace(/(?:ver|v)\d{1,4}/gi, version => ' '.repeat(version.length))
  const number = findUnmarkedNumber(tokenize(rest), []) ?? firstNumber(rest)
  return number && { ...number, from: number.from + at, to: number.to + at }
}
