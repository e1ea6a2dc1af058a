// Normalization of file names before tokenizing: digits, underscores, dots instead of spaces, bare tags at the end.
import { asciiDigits } from './text.ts'

// A file name has at most 255 bytes; the limit bounds the cost of all patterns.
const maxLength = 512
const sources =
  'digital|web-?rip|retail|comics?|e-?book|manga|magazine|hybrid|epub|pdf|c2c|scans?|hd|true'
const sourceTail = new RegExp(
  `(?<=\\S) ((?:19|20)\\d\\d) (?=(?:${sources})(?![\\p{L}\\p{N}]))`,
  'iu',
)
const yearTail = /(?<=\S) ((?:19|20)\d\d)$/
const bareTail = new RegExp(`(?<=\\S) (?=(?:${sources})(?:[ -]|$))`, 'iu')

/** `stem` in NFC with ASCII digits and single spaces, without underscores. */
export function normalizeStem(stem: string): string {
  const text = asciiDigits(stem.slice(0, maxLength).toWellFormed().normalize('NFC'))
    .replaceAll('＃', '#')
    .replace(/__([^_]{1,80})__/g, ' ($1) ')
    // A colon, which is not allowed in the file names of some systems.
    .replace(/(?<=\p{L}|\p{N})_ (?=\S)/gu, ' - ')
    .replace(/[_\s]+/g, ' ')
    .trim()
  const ended = text.replace(/ (END|FIN)$/, ' ($1)')
  if (!text.includes(' ') && text.includes('.')) return bracketTail(splitAtDots(text))
  return ended.replace(sourceTail, ' ($1) ')
}

// `Series.Name.v01`: dots instead of spaces, except in abbreviations (`S.H.I.E.L.D.`), decimals and `12.extra`.
const allDots =
  /(?<!(?<!\p{L})\p{L}(?=\.\p{L}(?!\p{L})))\.(?!(?<=\d\.)(?:\d{1,2}(?!\d)|extra|omake|special))/giu
const wordDots =
  /(?<=\p{L}{2}|\d)\.(?=(?!(?<=\d\.)(?:extra|omake|special))\p{L}{2}|[vct]\d)|(?<=\p{L}{2})\.(?=\d)/giu

function splitAtDots(text: string): string {
  return text
    .replace(text.split('.').length > 3 ? allDots : wordDots, ' ')
    .replace(/ (no|nr) (?=\d)/giu, ' $1. ')
    .replace(/ {2,}/g, ' ')
}

// `Saga 001 2012 Digital-Empire`
function bracketTail(text: string): string {
  const year = sourceTail.exec(text) ?? yearTail.exec(text)
  if (year) {
    const rest = text.slice(year.index + year[0].length)
    return `${text.slice(0, year.index)} (${year[1]})${rest && ` (${rest})`}`
  }
  const bare = bareTail.exec(text)
  return bare && bare.index > 0
    ? `${text.slice(0, bare.index)} (${text.slice(bare.index + 1)})`
    : text
}
