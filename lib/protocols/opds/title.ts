// Display title of a book in a feed. Apps display only the title, so it includes the series (among books of other
// series) and the number, unless the title already contains them.
import { asciiDigits } from '../../media/name/text.ts'
import type { Publication } from '../publication/publication.ts'

/** Shown instead of a blank title. */
export const untitled = 'Untitled'

type Titled = Pick<Publication, 'title' | 'number' | 'series' | 'unreadableReason'>

/**
 * `isMixed`: whether it is shown among books of other series. Blank only if title, number and series are.
 * An unreadable file is marked.
 */
export function displayTitle(book: Titled, isMixed: boolean): string {
  const title = readableTitle(book, isMixed)
  return book.unreadableReason === null ? title : `${title} (unreadable)`.trim()
}

function readableTitle({ title, number, series }: Titled, isMixed: boolean): string {
  const prefixLength = seriesPrefixLength(normalize(title), normalize(series.title))
  // The 51 of `Area 51` is not the number of a book.
  const rest = normalize(title).slice(prefixLength ?? 0)
  const missingNumber = number !== null && !containsNumber(rest, normalize(number)) ? number : null
  if (!isMixed) return join(missingNumber ?? '', title)
  if (prefixLength === null) return join(appendNumber(series.title, missingNumber), title)
  return appendNumber(title, missingNumber)
}

const join = (...parts: string[]) => parts.filter(part => part.trim() !== '').join(' - ')

/** `300 #3`, so that it cannot be read as 3003. */
function appendNumber(text: string, number: string | null): string {
  if (number === null || text.trim() === '') return number ?? text
  return `${text}${/\d\s*$/.test(text) && /^\s*\d/.test(number) ? ' #' : ' '}${number}`
}

/** Removes differences that readers ignore: width, letter case, `½` or `1/2`, `#003` or `3`. */
const normalize = (text: string) =>
  // The inserted space keeps `1½` from becoming 11/2.
  asciiDigits(text.replace(/[¼-¾⅐-⅞]/gu, ' $&').normalize('NFKC'))
    .toLowerCase()
    .replaceAll('⁄', '/')
    .replace(/[#\s]+/gu, ' ')
    .replace(/(?<!\d)(?<!\d[.,])0+(?=\d)/g, '')
    .trim()

/** Length of the series name at the start of a title, including a year or count after it; null if absent. */
function seriesPrefixLength(title: string, series: string): number | null {
  const withoutSuffix = series.replace(/ ?\([^()]*\)$/u, '')
  if (series === '') return 0
  const prefix = [series, withoutSuffix].find(name => name !== '' && startsWith(title, name))
  return prefix?.length ?? null
}

/** At a word boundary: `Italian Job` does not start with `It`, nor does `It's late`, nor `Area 51` with `Area 5`. */
function startsWith(title: string, name: string): boolean {
  if (!title.startsWith(name)) return false
  const next = title.slice(name.length)
  if (/\d$/.test(name) && /^[.,]?\d/.test(next)) return false
  // Japanese has no space before `第3巻`.
  return /^(?:第|(?!['’]?[\p{L}\p{M}]))/u.test(next)
}

/** Not the 1 in `10`, `2.1` or `1.5`; `T01`, `c1` and `第1話` contain the number 1. */
function containsNumber(title: string, number: string): boolean {
  if (number === '') return true
  const before = /^\d/.test(number) ? /(?:\d|\d[.,])$/ : /[\p{L}\p{N}]$/u
  const after = /\d$/.test(number) ? /^[.,]?\d/ : /^\p{L}/u
  for (let at = title.indexOf(number); at >= 0; at = title.indexOf(number, at + 1))
    if (!before.test(title.slice(0, at)) && !after.test(title.slice(at + number.length)))
      return true
  return false
}
