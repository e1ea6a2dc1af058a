// Cleans up series names and titles after markers have been removed.

const leading = /^[\s\-–—,;:~.]+(?=\S)|^['’](?!.*['’](?:\s|$))/u
const trailing = /[\s\-–—,;:~+]{1,50}$/u
const ordinal = /^(?:\d{1,3}\. |0\d{1,2} )(?=\p{L})/u
// `012 - Episode 12`
const positionOnly = /^ ?0\d{1,2} - ?$/
// French scene names start with the kind of work.
const kind = /^(?:bd fr|manga|comic)\s?-\s?/iu
const editionWords =
  "(?:(?:deluxe|complete|collector['’]?s|master|special|anniversary|definitive|library|perfect|omnibus|absolute|ultimate|expanded) edition)|omnibus|uncensored|trade paper ?back|tpb|hard ?cover|one[- ]?shot"
const editionEnd = new RegExp(`(?: -)? (${editionWords})$`, 'iu')
// Abbreviations, in capitals only.
const formEnd = /(?: -)? (HC|OS|GN|OGN)$/
const editionOnly = new RegExp(
  `^(?:${editionWords}|trade paper ?back|hc|os|gn|ogn|annual)(?: back)?$`,
  'iu',
)
const specialEnd = /(?: -) (?:specials?|omake|bonus|extras?)$/iu
const noise = /(?<![\p{L}\p{N}])(?:c2c|uncensored|read online)(?![\p{L}\p{N}])/giu
/** Between a number and the total: `1 of 4`. */
export const ofWords = 'of|de|di|von|sur|van|из'
const countRemainder = new RegExp(`^(?:\\+|(?:${ofWords}) \\d+$|of \\d+|\\d+ of \\d+ covers)`, 'iu')

/** The first segment of `text` that contains a name, or null. Segments are separated by removed brackets and dates. */
export function seriesText(text: string): string | null {
  for (const segment of text.split(/[\n\t]/)) {
    if (positionOnly.test(segment)) continue
    const name = trimPunctuation(segment).replace(kind, '')
    if (/[\p{L}\p{N}!?]/u.test(name)) return name.replace(ordinal, '')
  }
  return null
}

/** The first segment of `text` that is a title, or null. */
export function titleText(text: string): string | null {
  for (const segment of text.split(/[\n\t]/)) {
    const title = trimPunctuation(segment.replace(noise, ' ').replace(/ {2,}/g, ' '))
    if (/[\p{L}\p{N}]/u.test(title) && !countRemainder.test(title)) return title
  }
  return null
}

/** Splits `Omnibus Edition` and the like off the end of a series name. */
export function splitEdition(name: string): { name: string; edition: string | null } {
  const match = editionEnd.exec(name) ?? formEnd.exec(name)
  if (match && match.index > 0)
    return { name: trimPunctuation(name.slice(0, match.index)), edition: match[1]! }
  return { name: name.replace(specialEnd, ''), edition: null }
}

/** Whether a title is just the form or edition of the book: `v01 HC`. */
export function isEdition(title: string): boolean {
  return editionOnly.test(title)
}

function trimPunctuation(text: string): string {
  return text.trim().replace(leading, '').replace(leading, '').replace(trailing, '')
}

const versionEnd = / ?(\n ?)?(?<![\p{L}\p{N}])(ver\.? ?|v)?\d(\.\d)? ?$/iu

/**
 * Removes the version of the scan, which follows the number of the book: `012 - Title v1.1`, `012 ver 2`, or
 * brackets other than a date's: `1.1` and `v2`.
 */
export function withoutVersion(text: string, isAfterDate: boolean): string {
  const match = versionEnd.exec(text)
  if (!match || !/\d/.test(text.slice(0, match.index))) return text
  const [whole, gap, word = '', decimals] = match
  const isTag = gap !== undefined && !isAfterDate && (word !== '' || decimals !== undefined)
  const isPadded = /(?<!\S)0\d/.test(text.slice(0, match.index))
  const isDecimal = decimals === '.0' || (decimals !== undefined && isPadded)
  const isVersion = isTag || word.length > 1 || (word !== '' && isDecimal)
  return isVersion ? text.slice(0, -whole.length) + (gap ?? '') : text
}
