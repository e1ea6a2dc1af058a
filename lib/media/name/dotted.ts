// Names with dots instead of spaces: `Detective.Comics.v2.012.2016.Digital-Group`.
import { endsWithMonth } from './dates.ts'

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

/** `Saga 001 2012 digital` → `Saga 001 (2012) digital` */
export const bracketSource = (text: string): string => text.replace(sourceTail, ' ($1) ')

/** The name with spaces, and with brackets around its year and source. */
export function spacedOut(text: string): string {
  return bracketTail(splitAtDots(text)).replace(yearBefore, '$1 ($2) ')
}

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

// `Saga 001 2012 Digital-Empire`
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
