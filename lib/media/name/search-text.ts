// Search text of books and series, and the patterns of search queries. Non-ASCII letters and digits are
// encoded as five capitals: this way Postgres trigrams work for every script under every locale, a single Han
// character is long enough for a lookup, and ASCII words, which are in lowercase, never match them.
import { searchKey } from './text.ts'

const apostrophes = /['’‘ʼ`´＇]/gu
const separators = /[^\p{Alphabetic}\p{M}\p{N}]+/gu
const nonAscii = /[^\0-\x7f]/gu
const maxLineLength = 1000
const maxLines = 60
const maxWords = 16

/**
 * Words of letters and digits, folded and encoded, with single spaces: `Émile’s №5, 巨人` → `emiles no5 AJ…
 * AK…`.
 */
export function normalizeSearchText(text: string): string {
  const folded = searchKey(text.slice(0, maxLineLength).normalize('NFKC'))
  return folded
    .replaceAll('ς', 'σ')
    .replace(apostrophes, '')
    .replace(separators, ' ')
    .trim()
    .replace(nonAscii, encodeCharacter)
}

// The first capital occurs only in first position, so a match can only start at the start of a character.
const firstCapitals = 'ABCDE'
const otherCapitals = 'FGHIJKLMNOPQRSTUVWXYZ'
const otherPlaces = 4

/** Unique for all letters, marks and digits, which end below U+ED675. */
function encodeCharacter(character: string): string {
  let rest = character.codePointAt(0)!
  let encoded = ''
  for (let place = 0; place < otherPlaces; place++) {
    encoded += otherCapitals[rest % otherCapitals.length]
    rest = Math.floor(rest / otherCapitals.length)
  }
  return firstCapitals[rest % firstCapitals.length] + encoded
}

/** Separates a series' own text from its books' text: not a character of normalized text. */
export const ofBooks = '|'

/**
 * The text of a search row: one line per value, the title first, a space before each line. The values of
 * `books` follow `ofBooks`.
 */
export function buildSearchText(
  title: string,
  values: (string | null | undefined)[],
  books: string[] = [],
): string {
  const first = normalizeSearchText(title)
  const normalized = (texts: (string | null | undefined)[]) =>
    new Set(texts.slice(0, maxLines).map(value => normalizeSearchText(value ?? '')))
  const own = normalized(values)
  for (const skipped of ['', first]) own.delete(skipped)
  const more = normalized(books)
  for (const skipped of ['', first, ...own]) more.delete(skipped)
  const text = (lines: string[]) => lines.map(line => ` ${line}\n`).join('')
  return text([first, ...own]) + (more.size > 0 ? ofBooks + text([...more]) : '')
}

/** The search text of a book. The title of its series is always the second line. */
export function bookSearchText(book: {
  title: string
  series: string
  authors: { name: string }[]
  number: string | null
  tags: string[]
}): string {
  const [title, ...values] = buildSearchText(book.title, [
    book.number,
    ...book.authors.slice(0, maxLines / 2).map(author => author.name),
    ...book.tags,
  ]).split(/(?<=\n)/)
  return `${title} ${normalizeSearchText(book.series)}\n${values.join('')}`
}

export type SearchQuery = {
  /** The whole query, normalized. */
  phrase: string
  /** `like` patterns; a text matches if it matches all of them. */
  patterns: string[]
}

/**
 * Null for a query without letters and digits. A short ASCII word matches at the start of words, others match
 * anywhere.
 */
export function parseSearchQuery(query: string): SearchQuery | null {
  const phrase = normalizeSearchText(query)
  if (phrase === '') return null
  // Longest first, because it rules out the most rows.
  const words = [...new Set(phrase.split(' '))]
    .slice(0, maxWords)
    .sort((a, b) => b.length - a.length)
  return { phrase, patterns: words.map(word => (word.length < 3 ? `% ${word}%` : `%${word}%`)) }
}
