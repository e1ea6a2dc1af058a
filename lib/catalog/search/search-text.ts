// The text that searches look into, and the patterns they look for. Letters and digits beyond ASCII
// are written as four ASCII characters, one capital and three others: trigrams of Postgres then
// serve every script under every locale, and one Han character is long enough to be looked up.
import { searchKey } from '../../name/normalise.ts'

const apostrophes = /['’‘ʼ`´＇]/gu
const separators = /[^\p{Alphabetic}\p{M}\p{N}]+/gu
const foreign = /[^\0-\x7f]/gu
const longestLine = 1000
const mostLines = 60
const mostWords = 16

/** Words of letters and digits, folded and coded, with single spaces: `Émile’s №5, 巨人` → `emiles no5 A1…Z0…`. */
export function searchLine(text: string): string {
  const folded = searchKey(text.slice(0, longestLine).normalize('NFKC'))
  return folded.replace(apostrophes, '').replace(separators, ' ').trim().replace(foreign, coded)
}

function coded(character: string): string {
  const code = character.codePointAt(0)!
  const first = String.fromCharCode(0x41 + Math.floor(code / 46_656))
  return first + (code % 46_656).toString(36).padStart(3, '0')
}

/** What the row of a book or series holds: a line each, the title first, every line after a space. */
export function searchText(title: string, others: (string | null | undefined)[]): string {
  const first = searchLine(title)
  const lines = new Set(others.slice(0, mostLines).map(other => searchLine(other ?? '')))
  for (const empty of ['', first]) lines.delete(empty)
  return [first, ...lines].map(line => ` ${line}\n`).join('')
}

/** The search text of a book. The title of its series is always its second line. */
export function bookSearchText(book: {
  title: string
  series: string
  authors: { name: string }[]
  number: string | null
  tags: string[]
}): string {
  const [title, ...others] = searchText(book.title, [
    book.number,
    ...book.authors.slice(0, mostLines / 2).map(author => author.name),
    ...book.tags,
  ]).split(/(?<=\n)/)
  return `${title} ${searchLine(book.series)}\n${others.join('')}`
}

export type Query = {
  /** The whole query as it would stand in a text. */
  line: string
  /** For `like`; a text matches when it matches all. */
  patterns: string[]
}

/** Null for a query without letters and digits. A short word of ASCII is the beginning of a word, others stand anywhere. */
export function searchQuery(query: string): Query | null {
  const line = searchLine(query)
  if (line === '') return null
  // The longest first: the one that fails most rows.
  const words = [...new Set(line.split(' '))]
    .slice(0, mostWords)
    .sort((a, b) => b.length - a.length)
  return { line, patterns: words.map(word => (word.length < 3 ? `% ${word}%` : `%${word}%`)) }
}
