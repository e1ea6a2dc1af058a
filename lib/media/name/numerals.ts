// Numbers as file names write them: sign, decimals, suffix, version and range after or before a marker.
//
//   numeral := [-] digits [suffix] [version] [range]     -1  034.5  19a  78.BEY  8AU  4.extra  15x1  51v2
//   range   := dash [marker] number | & number           1-6  #1 - #12  c000 - c006  1 – 12  #1 & 2
import { isYear } from './dates.ts'
import { stripLeadingZeros } from './number.ts'
import type { Token } from './tokens.ts'

/** `tokens[next]` is the first token after it. */
export type Numeral = {
  text: string
  value: number
  end: number | null
  next: number
}

type NumeralStyle = {
  sign?: boolean
  /** Capital letters directly after the digits: `8AU`. */
  capitals?: boolean
  /** Words that may be repeated before the end of a range, with spaces around the dash. */
  again?: (token: Token) => boolean
  /** ` - ` before a number without such a word is a range too. */
  spaced?: boolean
}

const extra = /^(?:extra|omake|special)$/
const dashes = /^[-–—~～〜]$/

/** The numeral at `tokens[at]`, or null. A number that continues as a word (`20th`, `1080p`) is not one. */
export function readNumeral(tokens: Token[], at: number, style: NumeralStyle = {}): Numeral | null {
  let i = at
  const minus = style.sign && tokens[i]?.text === '-' && tokens[i + 1]?.isGlued ? '-' : ''
  if (minus) i++
  const digits = tokens[i]
  if (digits?.kind !== 'number' || digits.text.length > 12) return null
  i++
  const thousands = readThousands(tokens, i)
  const first = minus + digits.text + thousands.text
  i = thousands.next
  const decimal = style.spaced && first.length > 1 ? readDecimal(tokens, i) : ''
  if (decimal) i += 2
  const suffix = readSuffix(tokens, i, style, digits.text)
  i = suffix.next
  const range = suffix.text ? null : readRange(tokens, i, style)
  if (range) i = range.next
  if (style.spaced) i = skipList(tokens, i)
  const next = tokens[i]
  if (next?.isGlued && (next.kind === 'number' || isLatin(next))) {
    if (!startsMarker(tokens, i)) return null
  }
  const value = Number((first + decimal).replace('½', '.5').replace(/[^\d.-]/g, '')) || 0
  const last = range && Number(range.end) > value ? range.end : null
  const start = stripLeadingZeros(first + decimal)
  return {
    text: last === null ? start + suffix.text : `${start}-${stripLeadingZeros(last)}`,
    value,
    end: last === null ? null : Number(last),
    next: i,
  }
}

// `1,000,000`
function readThousands(tokens: Token[], at: number): { text: string; next: number } {
  let text = ''
  let i = at
  while (
    tokens[i]?.text === ',' &&
    tokens[i]?.isGlued &&
    tokens[i + 1]?.isGlued &&
    /^\d{3}$/.test(tokens[i + 1]!.text)
  ) {
    text += tokens[i + 1]!.text
    i += 2
  }
  return text.length >= 6 ? { text, next: i } : { text: '', next: at }
}

// `Cap. 12,5`
function readDecimal(tokens: Token[], at: number): string {
  const [comma, digit, after] = tokens.slice(at, at + 3)
  const isDecimal =
    comma?.text === ',' &&
    comma.isGlued &&
    digit?.isGlued &&
    /^\d$/.test(digit.text) &&
    after?.text !== ','
  return isDecimal ? `.${digit.text}` : ''
}

function readSuffix(
  tokens: Token[],
  at: number,
  style: NumeralStyle,
  digits: string,
): { text: string; next: number } {
  const none = { text: '', next: at }
  const token = tokens[at]
  if (token?.kind === 'word' && !token.isGlued) {
    // `404 extravol002`
    const word = /^(extra|omake|special)vol$/.exec(token.key)?.[1]
    return word && tokens[at + 1]?.isGlued ? { text: `.${word}`, next: at + 2 } : none
  }
  if (!token?.isGlued) return none
  // `1/2`
  if (style.capitals && token.text === '/' && digits === '1' && tokens[at + 1]?.text === '2')
    return { text: '/2', next: at + 2 }
  const isDotted = /^[.,-]$/.test(token.text)
  const word = tokens[isDotted ? at + 1 : at]
  if (word?.kind !== 'word' || !word.isGlued) return none
  const next = (isDotted ? at + 1 : at) + 1
  const after = tokens[next]
  const isWhole = !after?.isGlued || !(after.kind === 'number' || after.kind === 'word')
  const isPadded = /^0\d/.test(digits)
  if (extra.test(word.key)) return { text: `.${word.text}`, next }
  if (isWhole && /^[a-i]$/.test(word.key)) return { text: word.text, next }
  if (
    isWhole &&
    token.text === '.' &&
    (style.capitals || isPadded) &&
    /^[A-Z]{1,4}$/.test(word.text)
  )
    return { text: `.${word.text}`, next }
  if (isWhole && !isDotted && (style.capitals || isPadded) && /^[A-Z]{1,3}$/.test(word.text))
    return { text: word.text, next }
  if (after?.isGlued && after.kind === 'number' && !isDotted) {
    // An extra after chapter 15; the second version.
    if (word.key === 'x' && after.text.length === 1 && style.again)
      return { text: `x${after.text}`, next: next + 1 }
    if (word.key === 'v' && (style.again || digits.length > 1)) return { text: '', next: next + 1 }
  }
  return none
}

function readRange(
  tokens: Token[],
  at: number,
  style: NumeralStyle,
): { end: string; next: number } | null {
  const dash = tokens[at]
  const isTo = /^(?:to|bis|à|tot|до|al)$/.test(dash?.key ?? '') && style.again !== undefined
  const isAnd = dash !== undefined && /^(?:&|and|et|und|y|e|en|и)$/.test(dash.key)
  // `12/13` is a double issue.
  const isDouble = dash?.text === '/' && dash.isGlued && style.capitals === true
  if (!dash || !(dashes.test(dash.text) || isTo || isDouble || (isAnd && !dash.isGlued)))
    return null
  let i = at + 1
  const isAgain = tokens[i] !== undefined && style.again?.(tokens[i]!) === true
  if (isAgain) i++
  if (isAgain && tokens[i]?.text === '.') i++
  const number = tokens[i]
  if (number?.kind !== 'number') return null
  const isTight = dash.isGlued && tokens[at + 1]!.isGlued
  const after = tokens[i + 1]
  // `#13-00fc` is not a range; `c001-006v2` is.
  if (after?.isGlued && (after.kind === 'number' || (after.kind === 'word' && isLatin(after))))
    return null
  // `Ausgabe 05-2020`
  if (isYear(number.text) && tokens[at - 1]!.text.length < 3) return null
  if ((isTight && !isDouble) || isAgain || isTo || (dash.text !== '-' && !isAnd && !isDouble))
    return { end: number.text, next: i + 1 }
  const previous = tokens[at - 1]!.text
  const isNext = Number(number.text) === Number(previous) + 1
  if (isAnd || isDouble) return isNext ? { end: number.text, next: i + 1 } : null
  const isAtEnd = after === undefined || after.kind === 'gap' || after.text === '+'
  const isPadded = /^0/.test(previous) && /^0/.test(number.text)
  const isAlike =
    isPadded || (style.spaced && !/^0/.test(previous + number.text) && number.text.length < 4)
  return isAtEnd && isAlike ? { end: number.text, next: i + 1 } : null
}

// `#1-3, 5, 7`: only the first item of a list counts.
function skipList(tokens: Token[], at: number): number {
  let i = at
  while (tokens[i]?.text === ',' && tokens[i]!.isGlued && tokens[i + 1]?.kind === 'number') {
    i += 2
    while (tokens[i]?.isGlued && (dashes.test(tokens[i]!.text) || tokens[i]!.kind === 'number')) i++
  }
  return tokens[i] === undefined || tokens[i]!.kind === 'gap' ? i : at
}

function isLatin(token: Token): boolean {
  return token.kind === 'word' && /^\p{Script=Latin}/u.test(token.text)
}

// `v2c6`, `S01E02`: the next marker.
function startsMarker(tokens: Token[], at: number): boolean {
  return /^(?:c|ch|e|ep|x|v|vol)$/.test(tokens[at]!.key) && tokens[at + 1]?.kind === 'number'
}

// Numbers written as words: Roman, English, Chinese.
const numberWords = 'one two three four five six seven eight nine ten eleven twelve'.split(' ')

const hanDigits = '〇一二三四五六七八九'
const hanUnits: Record<string, number> = { 十: 10, 百: 100, 千: 1000 }
const hanNumeral = /^[零两兩〇一二三四五六七八九十百千]{1,9}$/u

/** Whether `char` can be part of a Chinese numeral. */
export const isHanDigit = (char: string): boolean => char.length === 1 && hanNumeral.test(char)

/** The value of `IV`, `twelve` or `十二`; null for other text. Roman numerals are uppercase. */
export function numeralWord(text: string): number | null {
  if (/^[IVXLC]{1,7}$/.test(text)) return romanValue(text)
  if (hanNumeral.test(text)) return hanValue(text)
  const spelled = numberWords.indexOf(text.toLowerCase())
  return spelled < 0 ? null : spelled + 1
}

const romanDigits: Record<string, number> = { I: 1, V: 5, X: 10, L: 50, C: 100 }

function romanValue(text: string): number | null {
  if (!/^C{0,3}(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})$/.test(text)) return null
  const values = [...text].map(letter => romanDigits[letter] ?? 0)
  return values.reduce((sum, v, i) => sum + (v < (values[i + 1] ?? 0) ? -v : v), 0)
}

// `一千零四十四` with units, `一〇四四` digit by digit.
function hanValue(text: string): number {
  let sum = 0
  let digit = 0
  for (const char of text.replaceAll('零', '〇').replace(/[两兩]/gu, '二')) {
    const unit = hanUnits[char]
    if (unit === undefined) digit = 10 * digit + hanDigits.indexOf(char)
    else {
      sum += (digit || 1) * unit
      digit = 0
    }
  }
  return sum + digit
}
