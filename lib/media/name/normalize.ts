// Normalizes file names before tokenizing: digits, underscores, dots instead of spaces, bare tags at the end.
import { endsWithMonth } from './dates.ts'
import { asciiDigits } from './text.ts'

// A file name has at most 255 bytes; the limit bounds the cost of all patterns.
const maxLength = 512
// `Beelzebub_172_RHS`: in names with underscores, capitals after the number are the group.
const groupAfterNumber = /(?<=_[a-z#]{0,4}\d{1,4}(?:\.\d)?(?:v\d)?)_([A-Z]{2,5})(?=(?:_v\d)?_*$)/

// `I Kill Giants.cbr.cbz`, a converted file
const secondExtension = /\.(?:cb[7rtz]|epub|pdf|zip|rar|7z)$/i
// `GetComics.INFO - Deadly Class 033`
const site = /^(?:www\.)?[a-z\d-]{2,40}\.(?:com|info|net|org) +[-–] +(?=\S)/i
// `HellsingVol04`
const gluedMarker = /(?<=\p{Ll})(?=(?:Vol|Ch|Chap|Chapter|Issue)\.?\d)/gu

/** `stem` in NFC with ASCII digits and single spaces, without underscores. */
export function normalizeStem(stem: string): string {
  const text = asciiDigits(stem.slice(0, maxLength).toWellFormed().normalize('NFC'))
    .replace(secondExtension, '')
    .replace(site, '')
    .replace(groupAfterNumber, '_[$1]')
    .replace(gluedMarker, ' ')
    .replaceAll('＃', '#')
    .replace(/__([^_]{1,80})__/g, ' ($1) ')
    // A colon, which is not allowed in the file names of some systems.
    .replace(/(?<=\p{L}|\p{N})_ (?=\S)/gu, ' - ')
    .replace(/[_\s]+/g, ' ')
    .trim()
  const ended = text.replace(/(?<=\d(?: -)?)[ -](END|FIN)(?= ?(?:$|[[(]))/, ' ($1)')
  if (!text.includes(' ') && text.includes('.'))
    return bracketTail(splitAtDots(text)).replace(yearBefore, '$1 ($2) ')
  // `Saga 001 2012 digital` → `Saga 001 (2012) digital`
  return ended.replace(sourceTail, ' ($1) ')
}

// Names with dots instead of spaces: `Detective.Comics.v2.012.2016.Digital-Group`.
const files = 'digital|web-?rip|retail|e-?book|hybrid|epub|pdf|c2c'
const sources = `${files}|comics?|manga|magazine|scans?|hd|true`
const year = '((?:19|20)\\d\\d)'
const sourceTail = new RegExp(`(?<=\\S) ${year} (?=(?:${sources})(?![\\p{L}\\p{N}]))`, 'iu')
const yearTail = new RegExp(`(?<=\\S) ${year}$`)
// `Detective.Comics.012`: a source word before the number belongs to the name.
const bareTail = new RegExp(
  `(?<=\\S) (?:(?=(?:${sources})(?:[ -]|$))(?<=\\d.*)|(?=(?:${files})(?:[ -]|$))(?!.* \\d))`,
  'iu',
)
// `Moon.Knight.2021.001`, but `Blade.Runner.2049.03`
const yearBefore = /^(\D*[^\d ]) ((?:19\d|20[0-3])\d) (?=#?\d{1,4}(?!.* (?:19|20)\d\d))/

// Two digits after a volume are a number, and so are any digits after a year: `v2.12`, `2016.5`, but `v2.5`
// and `12.25`.
const decimal =
  '(?<=\\d\\.)(?<!(?<!\\d)(?:19|20)\\d\\d\\.)(?:\\d(?!\\d)|(?<!\\d{4}\\.|v(?:ol\\.?)?\\d{1,2}\\.)[1-9]\\d(?!\\d))'
const extra = '(?<=\\d\\.)(?:extra|omake|special)'
// Except in abbreviations (`S.H.I.E.L.D.`), decimals and `12.extra`.
const allDots = new RegExp(
  `(?<!(?<!\\p{L})\\p{L}(?=\\.\\p{L}(?!\\p{L})))\\.(?!${decimal}|${extra})`,
  'giu',
)
const wordDots = new RegExp(
  [
    `(?<=\\p{L}{2}|\\d)\\.(?=(?!${extra})\\p{L}{2}|[vct]\\d)`,
    '(?<=\\p{L}{2})\\.(?=\\d)',
    `(?<=\\d)\\.(?=\\d)(?!${decimal})`,
    '\\.(?=[#(\\[])',
    '(?<=[)\\]])\\.',
  ].join('|'),
  'giu',
)
const fullDate = /(?<!\d)((?:19|20)\d\d)\.(0[1-9]|1[0-2])\.([0-3]\d)(?!\d)/g

function splitAtDots(text: string): string {
  return text
    .replace(fullDate, '$1-$2-$3')
    .replace(text.split('.').length > 3 ? allDots : wordDots, ' ')
    .replace(/ (no|nr) (?=\d)/giu, ' $1. ')
    .replace(/ {2,}/g, ' ')
}

/** Puts the year and the source into brackets: `Saga 001 2012 Digital-Empire`. */
function bracketTail(text: string): string {
  const year = sourceTail.exec(text) ?? yearTail.exec(text)
  if (year && !endsWithMonth(text.slice(0, year.index))) {
    const rest = text.slice(year.index + year[0].length)
    return `${text.slice(0, year.index)} (${year[1]})${rest && ` (${rest})`}`
  }
  const bare = bareTail.exec(text)
  return bare && bare.index > 0
    ? `${text.slice(0, bare.index)} (${text.slice(bare.index + 1)})`
    : text
}

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
