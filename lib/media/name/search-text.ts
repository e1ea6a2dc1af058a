// Search text of books and series, and search queries as words. Non-ASCII letters and digits are
// encoded as five capitals: this way Postgres trigrams work for every script under every locale, a single Han
// character is long enough for a lookup, and ASCII words, which are in lowercase, never match them.
import { searchKey } from './text.ts'

const apostrophes = /['’‘ʼ`´＇]/gu
const separators = /[^\p{Alphabetic}\p{M}\p{N}]+/gu
const nonAscii = /[^\0-\x7f]/gu
const hasNonAscii = /[^\0-\x7f]/
// The same for ASCII, in a fraction of the time.
const asciiApostrophes = /['`]/g
const asciiSeparators = /[^a-z0-9]+/g
const maxLineLength = 1000
const maxLines = 60
const maxWords = 16
/** Shorter words match only at the start of a word. */
const minInfix = 3

/**
 * Words of letters and digits, folded and encoded, with single spaces: `Émile’s №5, 巨人` → `emiles no5 AJ…
 * AK…`.
 */
export function normalizeSearchText(text: string): string {
  const line = text.slice(0, maxLineLength)
  if (!hasNonAscii.test(line))
    return line.toLowerCase().replace(asciiApostrophes, '').replace(asciiSeparators, ' ').trim()
  return searchKey(line.normalize('NFKC'))
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
/** Before the joined lines, which a search finds by one long word: no character of a normalized text. */
export const joinedLines = '^'

/** Titles are written with and without them. */
const articles = new Set(['a', 'an', 'the'])
const outerArticle = /^(?:an?|the) (?=.)|(?<=.) (?:an?|the)$/g
/** A normalized text without the articles at its ends. */
export const withoutArticles = (text: string) => text.replace(outerArticle, '')
const spaces = / /g
// Written as one, with anything but a space between: `Sci-Fi`, `S.H.I.E.L.D.`
const compound =
  /[\p{Alphabetic}\p{M}\p{N}][^\p{Alphabetic}\p{M}\p{N}\s]+[\p{Alphabetic}\p{M}\p{N}]/u

/** A normalized text as one word, without the articles at its ends: `the spider man` → `spiderman`. */
const joinWords = (line: string) => withoutArticles(line).replace(spaces, '')

/** A normalized text as one word, then with its articles if it has any. Each word ends in a space. */
export function joinedLine(line: string): string {
  const words = new Set([joinWords(line), line.replace(spaces, '')])
  return `${[...words].join(' ')} `
}

const linesOf = (texts: readonly (string | null | undefined)[]) =>
  new Set(texts.slice(0, maxLines).map(value => normalizeSearchText(value ?? '')))

const joinedValues = (values: readonly (string | null | undefined)[]) =>
  values
    .slice(0, maxLines)
    .flatMap(value =>
      value && compound.test(value) ? [joinedLine(normalizeSearchText(value))] : [],
    )

function without(lines: Set<string>, skipped: Iterable<string>): string[] {
  for (const line of skipped) lines.delete(line)
  return [...lines]
}

type Lines = { plain: string[]; joined: string[] }

/** Plain lines have a space before each. What `books` have follows `ofBooks`, in both parts. */
function written(own: Lines, books: Lines = { plain: [], joined: [] }): string {
  const part = (ofOwn: string[], ofTheBooks: string[], space: string) => {
    const text = (lines: string[]) => lines.map(line => `${space}${line}\n`).join('')
    return text(ofOwn) + (ofTheBooks.length > 0 ? ofBooks + text(ofTheBooks) : '')
  }
  return part(own.plain, books.plain, ' ') + joinedLines + part(own.joined, books.joined, '')
}

type SearchedSeries = {
  title: string
  otherTitles: string[]
  values: string[]
  /** What only its books have. */
  books: string[]
}

/** The search text of a series: the title first. What only books have follows `ofBooks`. */
export function seriesSearchText({ title, otherTitles, values, books }: SearchedSeries): string {
  const first = normalizeSearchText(title)
  const own = without(linesOf([...otherTitles, ...values]), ['', first])
  const more = without(linesOf(books), ['', first, ...own])
  const joined = new Set([
    ...[first, ...otherTitles.slice(0, maxLines).map(normalizeSearchText)].map(joinedLine),
    ...joinedValues(values),
  ])
  return written(
    { plain: [first, ...own], joined: [...joined] },
    { plain: more, joined: without(new Set(joinedValues(books)), joined) },
  )
}

/** The search text of a book. The second line, joined or not, is always the title of its series. */
export function bookSearchText(book: {
  title: string
  series: string
  authors: { name: string }[]
  number: string | null
  tags: string[]
}): string {
  const values = [
    book.number,
    ...book.authors.slice(0, maxLines / 2).map(author => author.name),
    ...book.tags,
  ]
  const [title, series] = [book.title, book.series].map(normalizeSearchText) as [string, string]
  const joined = [joinedLine(title), joinedLine(series), ...new Set(joinedValues(values))]
  return written({ plain: [title, series, ...without(linesOf(values), ['', title])], joined })
}

export type SearchWord = {
  /** A text that contains one of these, apart from its joined lines, has the word. */
  parts: string[]
  /**
   * So has one with words in a row that are this word together, which this pattern of SQL and JavaScript finds; a joined
   * line contains `parts[0]` then. Null for a short word.
   */
  pattern: string | null
}

export type SearchQuery = {
  /** The whole query, normalized. */
  phrase: string
  /** The query without the articles at its ends. */
  core: string
  /** The same as one word. */
  joined: string
  /** A text matches when it has all. The longest first, because it rules out most rows. */
  words: SearchWord[]
}

/**
 * Null for a query without letters and digits. A short ASCII word matches at the start of words, others anywhere. Articles
 * count only where there is no other word.
 */
export function parseSearchQuery(query: string): SearchQuery | null {
  const phrase = normalizeSearchText(query)
  if (phrase === '') return null
  const all = phrase.split(' ')
  const named = all.filter(word => !articles.has(word))
  const words = (named.length > 0 ? named : all).slice(0, maxWords)
  const found = new Map(words.map((word, i) => [word, toWord(words, i)]))
  return {
    ...{ phrase, core: withoutArticles(phrase), joined: joinWords(phrase) },
    words: [...found].sort(([a], [b]) => b.length - a.length).map(([, word]) => word),
  }
}

function toWord(words: readonly string[], i: number): SearchWord {
  const word = words[i]!
  if (word.length >= minInfix) return { parts: [word], pattern: ` ${[...word].join(' ?')}[ \n]` }
  // In a title that is written as one, as `3` in `Ironman3`. Without a longer word no index would find it.
  const isTolerant = words.some(other => other.length >= minInfix)
  const before = isTolerant && i > 0 ? [words[i - 1]! + word] : []
  const after = isTolerant && i < words.length - 1 ? [word + words[i + 1]!] : []
  return { parts: [` ${word}`, ...before, ...after], pattern: null }
}

const letter = /[A-E][F-Z]{4}|./g
const anyLetter = '(?:[a-z0-9]|[A-E][F-Z]{4})'
const similarLengths = { min: 3, max: 24 }

/**
 * A pattern of search texts with a word that has at most one letter more, less or other than this one, or two in the other
 * order; such a text contains one of `parts`. `isTitle`: in the title. Null for a word that is too short or too long.
 */
export function similarWord(
  word: string,
  { isTitle = false } = {},
): { parts: string[]; pattern: string } | null {
  const letters = normalizeSearchText(word).replace(spaces, '').match(letter) ?? []
  if (letters.length < similarLengths.min || letters.length > similarLengths.max) return null
  const forms = letters.flatMap((one, i) => {
    const [before, after] = [letters.slice(0, i).join(''), letters.slice(i + 1).join('')]
    const next = letters[i + 1]
    return [
      `${before}${anyLetter}?${after}`,
      `${before}${anyLetter}${one}${after}`,
      ...(next ? [`${before}${next}${one}${letters.slice(i + 2).join('')}`] : []),
    ]
  })
  const any = [...forms, `${letters.join('')}${anyLetter}`].join('|')
  // Two letters beside each other are not in both.
  const middle = Math.floor(letters.length / 2)
  const [start, end] = [letters.slice(0, middle).join(''), letters.slice(middle + 1).join('')]
  return {
    parts: [
      ...[' ', '\n', joinedLines].map(before => before + start),
      ...[' ', '\n'].map(after => end + after),
    ],
    pattern: `${isTitle ? '^[^\n]* ' : `[ \n${joinedLines}]`}(?:${any})[ \n]`,
  }
}
