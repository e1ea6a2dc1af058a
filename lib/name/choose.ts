// Which of the numbers in a name is the book's own.
//
// Order: `#1` or `Issue 1`, a chapter marker, a plain number, `No. 1`; then the brackets: `(1 of 3)`,
// `(Series, #2)`, `(#3)`, `(Ch. 4)`, `(5)`.
import { type Bare, bareAfter, findBare, firstNumber } from './bare.ts'
import type { Marker, Markers } from './markers.ts'
import { plainNumber } from './number.ts'
import type { Tag } from './tags.ts'

/** Offsets in the running text; a number from a bracket stands at its end. */
export type Chosen = {
  text: string
  source: 'issue' | 'chapter' | 'bare' | 'tag'
  from: number
  to: number
  marker: Marker | null
}

export type Sources = { text: string; own: Markers; groups: Markers; tags: Tag[] }

const boundChapters = / (\d{1,4}-\d{1,4}) as $/

/** `series` is the known name of the series, whose digits are then no numbers. */
export function chooseNumber(name: Sources, series: string | null): Chosen | null {
  const { text, own } = name
  if (own.issue) return { ...own.issue, source: 'issue', marker: own.issue }
  if (own.chapter) return { ...own.chapter, source: 'chapter', marker: own.chapter }
  const bare = bareNumber(text, own.volume, series)
  if (bare) return { ...bare, source: 'bare', marker: null }
  // `Kaiju No. 8 v02`: beside a volume it belongs to the name.
  if (own.weakIssue && !own.volume)
    return { ...own.weakIssue, source: 'issue', marker: own.weakIssue }
  return numberFromBrackets(name)
}

/** `#008 - Simple Truth 03 (of 06)`: beside an issue the counted number is the volume's. */
export function countedVolume(name: Sources, number: Chosen | null): Marker | null {
  if (!number || number.source === 'tag' || name.own.volume) return null
  if (!name.tags.some(tag => tag.kind === 'count')) return null
  const match = / (\d{1,3}) ?\n/.exec(name.text.slice(number.to))
  if (!match) return null
  const from = number.to + match.index
  const value = Number(match[1])
  return { text: String(value), value, end: null, from, to: from + match[0].length }
}

function numberFromBrackets({ text, own, groups, tags }: Sources): Chosen | null {
  const at = { from: text.length, to: text.length }
  const told = (number: string): Chosen => ({
    ...at,
    text: plainNumber(number),
    source: 'tag',
    marker: null,
  })
  for (const tag of tags) {
    if (tag.kind === 'series') return told(tag.number)
    if (tag.kind === 'count' && tag.number !== null) return told(tag.number)
  }
  const marker = groups.issue ?? groups.chapter ?? groups.weakIssue
  if (marker) {
    return { ...marker, ...at, source: marker === groups.chapter ? 'chapter' : 'issue', marker }
  }
  const plain = tags.find(tag => tag.kind === 'number')
  return plain && !own.volume ? told(plain.text) : null
}

function bareNumber(text: string, volume: Marker | null, series: string | null): Bare | null {
  if (series !== null && !volume) {
    const found = numberBeyond(text, series)
    if (found) return found
  }
  if (!volume) return findBare(text)
  // `Never Say Ugly 001-050 as v01-10`: chapters bound as volumes.
  const bound = boundChapters.exec(text.slice(0, volume.from))
  if (bound) return { text: plainNumber(bound[1]!), from: bound.index, to: volume.from }
  return bareAfter(text, volume.to)
}

function numberBeyond(text: string, series: string): Bare | null {
  const at = text.toLowerCase().startsWith(series.toLowerCase()) ? series.length : 0
  const rest = text.slice(at).replace(/(?:ver|v)\d{1,4}/gi, version => ' '.repeat(version.length))
  const found = findBare(rest) ?? firstNumber(rest)
  return found && { ...found, from: found.from + at, to: found.to + at }
}
