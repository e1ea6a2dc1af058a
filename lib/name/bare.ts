// The number of a name that marks none: `Saga 001 (2012)`, `spawn-123`, `Invincible 033.5 - Team-Up 14`.
import { isYear } from './dates.ts'
import { plainNumber } from './number.ts'

/** Offsets in the text, like a Marker's. */
export type Bare = { text: string; from: number; to: number }

const token =
  /(?<![\p{L}\p{N}.,'’+#&–-])(-(?=\d))?(\d{1,5}½?(?:\.\d{1,3})?|½)((?:[.,-]?(?:extra|omake|special)|\.?[a-i])(?!\p{L}))?(?:[-–~](\d{1,5}(?:\.\d{1,3})?))?(?![\p{L}\p{N}%½]|[.,]\d)/giu
const hyphened = /(?<=([\p{L}\p{N}.]{1,40})-)(\d{1,4}(?:\.\d{1,3})?)(?=[\n\t]| ?$)/u
const afterVolume =
  /(?: ?[,+] ?| - | (?:annual )?)(-?\d{1,5}(?:\.\d{1,3})?)(?:-(\d{1,5}))?(?= ?(?:$|[\n\t])| - |[,+]| \+|(?<=[ ,+]0\d{1,4}) )/iuy

/** The most likely number, or null. A number in the middle of words counts only when padded with zeros. */
export function findBare(text: string): Bare | null {
  let best: (Bare & { score: number }) | null = null
  for (const match of text.matchAll(token)) {
    const score = scoreOf(match, text)
    if (score <= 0) continue
    // Of padded numbers the first is the book's, of plain ones the last: `Area 51 12`.
    if (best && (score < best.score || (score === best.score && score >= 4))) continue
    best = { ...toBare(match), score }
  }
  return best ?? glued(text)
}

/** The number right after a volume marker that ends at `at`: `v2 017 - …`, `v01,009-090`, `v1 -001`. */
export function bareAfter(text: string, at: number): Bare | null {
  afterVolume.lastIndex = at
  const match = afterVolume.exec(text)
  if (!match || isYear(match[1]!)) return null
  const number = match[2] ? `${match[1]}-${match[2]}` : match[1]!
  return { text: plainNumber(number), from: match.index, to: match.index + match[0].length }
}

/** The first number of any shape, for a text from which the series' name was taken. */
export function firstNumber(text: string): Bare | null {
  const match =
    /(?<![\d.])(\d{1,5}(?:\.\d{1,3})?)(?:[.,-]?(extra|omake|special|[a-i](?!\p{L})))?(?: (extra|special|omake)vol)?/iu.exec(
      text,
    )
  if (!match) return null
  const suffix = match[2] ?? match[3]
  const number = suffix ? `${match[1]}${suffix.length > 1 ? '.' : ''}${suffix}` : match[1]!
  return { text: plainNumber(number), from: match.index, to: match.index + match[0].length }
}

function scoreOf(match: RegExpExecArray, text: string): number {
  const [whole, minus, number = '', , end] = match
  const before = text.slice(0, match.index).trimEnd()
  const after = text.slice(match.index + whole.length)
  if (isYear(number) && end === undefined) return 0
  if (minus && match.index === 0) return 0
  if (/(?:^|[^\p{L}])(?:part|pt|book|no|nr|of)\.?$/iu.test(before.slice(-6))) return 0
  const padded = /^0\d/.test(number) || number === '½'
  const atEnd = /^(?: of \d{1,4})? ?(?:$|[\n\t])/.test(after)
  const beforeDash = /^ [-–—] |^: /.test(after)
  if (before === '')
    return atEnd && !text.slice(match.index).includes('\n0') ? 5 : beforeDash ? 3 : 0
  if (padded) return atEnd || beforeDash ? 6 : 4
  return atEnd ? 3 : beforeDash ? 2 : 0
}

// `spawn-123` and `Spider-Man-001`, but `IG-88` and `X-23` are names.
function glued(text: string): Bare | null {
  const match = hyphened.exec(text)
  if (!match) return null
  const number = match[2]!
  const isName = text.includes(' ') || /^[A-Z]{1,2}$/.test(match[1]!)
  if (isYear(number) || (isName && !/^0\d/.test(number))) return null
  return { text: plainNumber(number), from: match.index - 1, to: match.index + number.length }
}

function toBare(match: RegExpExecArray): Bare {
  const [whole, minus = '', number = '', letters = '', end] = match
  const isRange = end !== undefined && Number(end) > Number(number)
  const dot = letters.length > 2 && /^\p{L}/u.test(letters) ? '.' : ''
  const text = isRange ? `${number}-${end}` : minus + number + dot + letters
  return { text: plainNumber(text), from: match.index, to: match.index + whole.length }
}
