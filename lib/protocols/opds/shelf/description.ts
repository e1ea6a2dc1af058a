// One-line descriptions of navigation entries: how many items, by whom, and the summary.
import { singleLine } from '../../../media/metadata/text.ts'
import type { Author } from '../../../media/metadata/values.ts'
import { namesOf } from '../../publication/publication.ts'

const maxAuthors = 3
const maxSummaryLength = 300

/** `1 book`, `1,200 books`; `series` has no plural. */
export function countOf(count: number, noun: 'book' | 'series'): string {
  const isPlural = count !== 1 && noun === 'book'
  return `${count.toLocaleString('en')} ${noun}${isPlural ? 's' : ''}`
}

type Described = { bookCount: number; summary: string | null; authors: readonly Author[] }

/** `12 books by Ann Author and Ben Writer. The summary` */
export function seriesDescription({ bookCount, summary, authors }: Described): string {
  const names = namesOf(authors).authors.flatMap(name => singleLine(name) ?? [])
  const by = names.length > 0 ? ` by ${enumeration(names)}` : ''
  const text = singleLine(summary ?? '')
  return `${countOf(bookCount, 'book')}${by}.${text ? ` ${shortened(text)}` : ''}`
}

function enumeration(names: readonly string[]): string {
  const others = names.length - maxAuthors
  const shown = others > 0 ? [...names.slice(0, maxAuthors), `${others} others`] : names
  if (shown.length === 1) return shown[0]!
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

/** Cut between words, if there are any. */
function shortened(text: string): string {
  if (text.length <= maxSummaryLength) return text
  const cut = text.slice(0, maxSummaryLength + 1).replace(/\s+\S*$/, '')
  return `${cut.slice(0, maxSummaryLength).toWellFormed()}…`
}
