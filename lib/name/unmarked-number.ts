// Detection of an unmarked number in a file name: `Saga 001 (2012)`, `spawn-123`, `Invincible 033.5 - Team-Up 14`.
import { isYear } from './dates.ts'
import { stripLeadingZeros } from './number.ts'

/** `from` and `to` are offsets in the text. */
export type UnmarkedNumber = { text: string; from: number; to: number }

const token =
  /(?<![\p{L}\p{N}.,'’+#&–-])(-(?=\d))?(\d{1,5}½?(?:\.\d{1,3})?|½)((?:[.,-]?(?:extra|omake|special)|\.?[a-i])(?!\p{L}))?(?:[-–~](\d{1,5}(?:\.\d{1,3})?))?(?![\p{L}\p{N}%½]|[.,]\d)/giu
const hyphened = /(?<=([\p{L}\p{N}.]{1,40})-)(\d{1,4}(?:\.\d{1,3})?)(?=[\n\t]| ?$)/u
const afterVolume =
  /(?: ?[,+] ?| - | (?:annual )?)(-?\d{1,5}(?:\.\d{1,3})?)(?:-(\d{1,5}))?(?= ?(?:$|[\n\t])| - |[,+]| \+|(?<=[ ,+]0\d{1,4}) )/iuy

/** The most likely number, or null. A number between words counts only when it is zero-padded. */
export function findUnmarkedNumber(text: string): UnmarkedNumber | null {
  let best: (UnmarkedNumber & { score: number }) | null = null
  for (const match of text.matchAll(token)) {
    const score = scoreOf(match, text)
    if (score <= 0) continue
    // Among zero-padded numbers the first is the book number, among others the last: `Area 51 12`.
    if (best && (score < best.score || (score === best.score && score >= 4))) continue
    best = { ...toUnmarkedNumber(match), score }
  }
  return best ?? hyphenatedNumber(text)
}

/** The number right after a volume marker that ends at `at`: `v2 017 - …`, `v01,009-090`, `v1 -001`. */
export function numberAfterVolume(text: string, at: number): UnmarkedNumber | null {
  afterVolume.lastIndex = at
  const match = afterVolume.exec(text)
  if (!match || isYear(match[1]!)) return null
  const number = match[2] ? `${match[1]}-${match[2]}` : match[1]!
  return { text: stripLeadingZeros(number), from: match.index, to: match.index + match[0].length }
}

/** The first number in any notation, for text after the name of the series. */
export function firstNumber(text: string): UnmarkedNumber | null {
  const match =
    /(?<![\d.])(\d{1,5}(?:\.\d{1,3})?)(?:[.,-]?(extra|omake|special|[a-i](?!\p{L})))?(?: (extra|special|omake)vol)?/iu.exec(
      text,
    )
  if (!match) return null
  const suffix = match[2] ?? match[3]
  const number = suffix ? `${match[1]}${suffix.length > 1 ? '.' : ''}${suffix}` : match[1]!
  return { text: stripLeadingZeros(number), from: match.index, to: match.index + match[0].length }
}

function scoreOf(match: RegExpExecArray, text: string): number {
  const [whole, minus, number = '', , end] = match
  const before = text.slice(0, match.index).trimEnd()
  const after = text.slice(match.index + whole.length)
  if (isYear(number) && end === undefined) return 0
  if (minus && match.index === 0) return 0
  if (/(?:^|[^\p{L}])(?:part|pt|book|no|nr|of)\.?$/iu.test(before.slice(-6))) return 0
  const isPadded = /^0\d/.test(number) || number === '½'
  const isAtEnd = /^(?: of \d{1,4})? ?(?:$|[\n\t])/.test(after)
  const isBeforeDash = /^ [-–—] |^: /.test(after)
  if (before === '')
    return isAtEnd && !text.slice(match.index).includes('\n0') ? 5 : isBeforeDash ? 3 : 0
  if (isPadded) return isAtEnd || isBeforeDash ? 6 : 4
  return isAtEnd ? 3 : isBeforeDash ? 2 : 0
}

// `spawn-123` and `Spider-Man-001`, but `IG-88` and `X-23` are names.
function hyphenatedNumber(text: string): UnmarkedNumber | null {
  const match = hyphened.exec(text)
  if (!match) return null
  const number = match[2]!
  const isName = text.includes(' ') || /^[A-Z]{1,2}$/.test(match[1]!)
  if (isYear(number) || (isName && !/^0\d/.test(number))) return null
  return { text: stripLeadingZeros(number), from: match.index - 1, to: match.index + number.length }
}

function toUnmarkedNumber(match: RegExpExecArray): UnmarkedNumber {
  const [whole, minus = '', number = '', letters = '', end] = match
  const isRange = end !== undefined && Number(end) > Number(number)
  const dot = letters.length > 2 && /^\p{L}/u.test(letters) ? '.' : ''
  const text = isRange ? `${number}-${end}` : minus + number + dot + letters
  return { text: stripLeadingZeros(text), from: match.index, to: match.index + whole.length }
}
