// What a book is called in a feed. Apps show nothing but the title: beside other series it names its
// own, and its number in any case, but nothing twice.
import { asciiDigits } from '../name/digits.ts'
import type { Publication } from './publication.ts'

/** What is shown where nothing is left of a title. */
export const untitled = 'Untitled'

/** `isMixed`: it stands beside books of other series, or alone. Blank only where title, number and series are. */
export function shownTitle(
  { title, number, series }: Pick<Publication, 'title' | 'number' | 'series'>,
  isMixed: boolean,
): string {
  const begun = beginning(folded(title), folded(series.title))
  // The 51 of `Area 51` is no number of a book.
  const rest = folded(title).slice(begun ?? 0)
  const missing = number !== null && !saysNumber(rest, folded(number)) ? number : null
  if (!isMixed) return joined(missing ?? '', title)
  if (begun === null) return joined(numbered(series.title, missing), title)
  return numbered(title, missing)
}

const joined = (...parts: string[]) => parts.filter(part => part.trim() !== '').join(' - ')

/** `300 #3`, lest it be read as 3003. */
function numbered(text: string, number: string | null): string {
  if (number === null || text.trim() === '') return number ?? text
  return `${text}${/\d\s*$/.test(text) && /^\s*\d/.test(number) ? ' #' : ' '}${number}`
}

/** What is equal to readers: wide or narrow, small or large, `½` or `1/2`, `#003` or `3`. */
const folded = (text: string) =>
  // `1½` is not eleven halves.
  asciiDigits(text.replace(/[¼-¾⅐-⅞]/gu, ' $&').normalize('NFKC'))
    .toLowerCase()
    .replaceAll('⁄', '/')
    .replace(/[#\s]+/gu, ' ')
    .replace(/(?<!\d)(?<!\d[.,])0+(?=\d)/g, '')
    .trim()

/** How much of a title is the name of its series, with or without a year or a count after it; null for nothing. */
function beginning(title: string, series: string): number | null {
  const bare = series.replace(/ ?\([^()]*\)$/u, '')
  if (series === '') return 0
  const found = [series, bare].find(name => name !== '' && startsWith(title, name))
  return found?.length ?? null
}

/** Up to the end of a word: `Italian Job` is none of `It`, nor is `It's late`, nor `Area 51` of `Area 5`. */
function startsWith(title: string, name: string): boolean {
  if (!title.startsWith(name)) return false
  const next = title.slice(name.length)
  if (/\d$/.test(name) && /^[.,]?\d/.test(next)) return false
  // Japanese has no blank before `第3巻`.
  return /^(?:第|(?!['’]?[\p{L}\p{M}]))/u.test(next)
}

/** Not the 1 of `10`, of `2.1` or of `1.5`; `T01`, `c1` and `第1話` say it. */
function saysNumber(title: string, number: string): boolean {
  if (number === '') return true
  const before = /^\d/.test(number) ? /(?:\d|\d[.,])$/ : /[\p{L}\p{N}]$/u
  const after = /\d$/.test(number) ? /^[.,]?\d/ : /^\p{L}/u
  for (let at = title.indexOf(number); at >= 0; at = title.indexOf(number, at + 1))
    if (!before.test(title.slice(0, at)) && !after.test(title.slice(at + number.length)))
      return true
  return false
}
