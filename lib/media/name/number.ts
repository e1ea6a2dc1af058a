// Book numbers: parsing and sort value of `1`, `1.5`, `½`, `1/2`, `1-6`, `78.BEY`, `4.extra`, `Annual 1`.
import { asciiDigits } from './text.ts'

const fractions: Record<string, number> = { '½': 0.5, '¼': 0.25, '¾': 0.75, '⅓': 1 / 3, '⅔': 2 / 3 }
const numberPattern =
  /(-?)(\d{1,9})?(?:([½¼¾⅓⅔])|\/(\d{1,4})|((?:\.\d{1,6}){1,3}))?[.,]?(extra|omake|special|[a-z]{1,8})?/iu
// Sort position within a chapter: letters first, then omake and extras. Same fractions as in Mihon.
const suffixes: Record<string, number> = { special: 0.97, omake: 0.98, extra: 0.99 }

/** Removes leading zeros: `007` → `7`, `034.5` → `34.5`, `000` → `0`, `B01` → `B1`. */
export function stripLeadingZeros(text: string): string {
  return text.replace(/(?<![\d.])0+(?=\d)/g, '')
}

/**
 * Replaces a decimal comma with a point: `1,5` → `1.5`. Leaves lists (`1,2,3`) and thousands (`1,000`)
 * unchanged.
 */
export function withDecimalPoint(text: string): string {
  return text.replace(/^([+-]?\d{1,9}),(\d{1,2})$/, '$1.$2')
}

/**
 * The sort value of a number, or null if there is none. A range sorts by its start, a letter by its position
 * in the alphabet (`19a` 19.1), a word between two numbers (`1.MU` 1.5).
 */
export function sortNumber(text: string): number | null {
  const plain = withDecimalPoint(asciiDigits(text).trim())
  const from = plain.search(/-?[\d½¼¾⅓⅔]/)
  if (from < 0) return null
  // `Annual-1` is not minus one; `-1` and `# -1` are.
  const isHyphen = plain[from] === '-' && from > 0 && /[\p{L}\p{N}]/u.test(plain[from - 1]!)
  const match = numberPattern.exec(plain.slice(isHyphen ? from + 1 : from))
  if (!match) return null
  const [, minus, whole = '0', half, divisor, decimals, suffix] = match
  let value = Number(whole)
  if (half) value += fractions[half]!
  if (divisor) value = Number(divisor) === 0 ? value : value / Number(divisor)
  if (decimals) value += Number(`0.${decimals.replaceAll('.', '')}`)
  else if (suffix && !half && !divisor) value += suffixValue(suffix.toLowerCase())
  return minus ? -value : Math.round(value * 1e6) / 1e6
}

function suffixValue(suffix: string): number {
  if (suffix.length > 1) return suffixes[suffix] ?? 0.5
  const position = suffix.charCodeAt(0) - 0x60
  return position < 10 ? position / 10 : 0.9 + position / 1000
}
