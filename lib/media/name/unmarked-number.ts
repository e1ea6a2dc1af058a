// Finds an unmarked number in a file name: `Saga 001 (2012)`, `spawn-123`, `Invincible 033.5 - Team-Up 14`.
import { isYear } from './dates.ts'
import type { Marker } from './markers.ts'
import { ofWords } from './normalize.ts'
import { stripLeadingZeros } from './number.ts'
import { readNumeral } from './numerals.ts'
import { isClosed, type Token } from './tokens.ts'

/** `from` and `to` are offsets in the text. */
export type UnmarkedNumber = { text: string; from: number; to: number }

/**
 * The most likely number outside the markers, or null. A number between words only counts if padded with
 * zeros.
 */
export function findUnmarkedNumber(tokens: Token[], markers: Marker[]): UnmarkedNumber | null {
  let best: (UnmarkedNumber & { score: number }) | null = null
  for (let i = 0; i < tokens.length; i++) {
    if (tokens[i]!.kind !== 'number' || isMarked(tokens[i]!, markers)) continue
    const candidate = readCandidate(tokens, i)
    if (!candidate || candidate.score <= 0) continue
    // Among zero-padded numbers the first is the book number, otherwise the last: `Area 51 12`.
    if (
      best &&
      (candidate.score < best.score || (candidate.score === best.score && best.score >= 4))
    )
      continue
    best = candidate
  }
  return best ?? hyphenatedNumber(tokens, markers) ?? gluedNumber(tokens, markers)
}

const isOf = new RegExp(`^(?:${ofWords})$`, 'u')

function isMarked({ from }: Token, markers: Marker[]): boolean {
  return markers.some(marker => from >= marker.from && from < marker.to)
}

function readCandidate(tokens: Token[], at: number) {
  const isSigned =
    at > 1 && tokens[at - 1]!.text === '-' && tokens[at]!.isGlued && !tokens[at - 1]!.isGlued
  const from = isSigned ? at - 1 : at
  const before = tokens[from - 1]
  // Japanese and Chinese are written without spaces: `作品12`.
  const isNative =
    before?.kind === 'word' &&
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]$/u.test(before.text)
  if (tokens[from]!.isGlued && before && !isNative && !/^[\n\t([!?:;~"]$/.test(before.text))
    return null
  const numeral = readNumeral(tokens, from, { sign: isSigned })
  if (!numeral || /^\d{6}/.test(tokens[at]!.text)) return null
  const { text, end, next } = numeral
  const after = tokens[next]
  if (after?.isGlued && /^[%½°]$/.test(after.text)) return null
  if (isYear(tokens[at]!.text) && end === null) return null
  if (before?.kind === 'word' && /^(?:part|pt|book|no|nr|of)$/.test(before.key)) return null
  const isPadded = /^0\d/.test(tokens[at]!.text) || text === '½'
  const isLast = isAtEnd(tokens, next)
  const isBeforeDash = isDash(tokens, next)
  const score =
    before === undefined || (before.kind === 'gap' && !hasText(tokens, from))
      ? scoreOfFirst(tokens, next)
      : isPadded
        ? isLast || isBeforeDash
          ? 6
          : 4
        : isLast
          ? 3
          : isBeforeDash
            ? 2
            : 0
  return { text, from: tokens[from]!.from, to: tokens[next - 1]!.to, score }
}

// `01. The Beginning`
function isOrdinal(tokens: Token[], at: number): boolean {
  return tokens[at]?.text === '.' && tokens[at]!.isGlued && tokens[at + 1]?.isGlued === false
}

// Alone before a gap it is the number, unless a padded one follows; likewise before a dash, unless a likelier
// one follows.
function scoreOfFirst(tokens: Token[], next: number): number {
  const digits = tokens[next - 1]!.text
  const isBeforePadded = tokens
    .slice(next)
    .some(({ kind, text }) => kind === 'number' && /^0\d/.test(text))
  if (isAtEnd(tokens, next) && !isBeforePadded) return 5
  // `012-The Final Battle`, but `07-Ghost`
  const isHyphen = tokens[next]?.text === '-' && tokens[next + 1]?.kind === 'word'
  if (isHyphen && /^0\d\d$/.test(digits)) return 4
  return isDash(tokens, next) || isOrdinal(tokens, next) ? (/^0\d/.test(digits) ? 4 : 3) : 0
}

function hasText(tokens: Token[], to: number): boolean {
  return tokens.slice(0, to).some(token => token.kind === 'word' || token.kind === 'number')
}

const formWords = /^(?:hc|tpb|os|gn|ogn|hardcover|end|fin)$/

// The end of the text or of a segment; a count and the book form may precede it.
function isAtEnd(tokens: Token[], at: number): boolean {
  if (tokens[at]?.kind === 'word' && formWords.test(tokens[at]!.key)) return isAtEnd(tokens, at + 1)
  const i = isOf.test(tokens[at]?.key ?? '') && tokens[at + 1]?.kind === 'number' ? at + 2 : at
  return tokens[i] === undefined || tokens[i]!.kind === 'gap'
}

function isDash(tokens: Token[], at: number): boolean {
  const token = tokens[at]
  if (token?.text === ':') return true
  return (
    token !== undefined &&
    /^[-–—]$/.test(token.text) &&
    !token.isGlued &&
    tokens[at + 1]?.isGlued === false
  )
}

// `spawn-123` and `Spider-Man-001`, but `IG-88` and `X-23` are names.
function hyphenatedNumber(tokens: Token[], markers: Marker[]): UnmarkedNumber | null {
  const at = tokens.findIndex(
    (token, i) =>
      token.kind === 'number' &&
      token.isGlued &&
      tokens[i - 1]!.text === '-' &&
      tokens[i - 1]!.isGlued &&
      tokens[i - 2]?.kind !== 'mark' &&
      (tokens[i + 1] === undefined || tokens[i + 1]!.kind === 'gap'),
  )
  if (at < 2) return null
  const { text, from, to } = tokens[at]!
  const isSpaced = tokens.some((token, i) => i > 0 && !token.isGlued && token.kind !== 'gap')
  const isName = isSpaced || /^[A-Z]{1,2}$/.test(tokens[at - 2]!.text)
  if (isYear(text) || isMarked(tokens[at]!, markers) || (isName && !/^0\d/.test(text))) return null
  return { text: stripLeadingZeros(text), from: from - 1, to }
}

// `Naruto012`, `One Piece045`, `Bleach345`, but `X23`, `Apollo13` and `New Zom100`.
function gluedNumber(tokens: Token[], markers: Marker[]): UnmarkedNumber | null {
  const at = tokens.findIndex(({ kind }) => kind === 'number')
  const [word, digits] = [tokens[at - 1], tokens[at]]
  if (word?.kind !== 'word' || !digits?.isGlued || isMarked(digits, markers)) return null
  const isName = /^\p{L}{2,}\p{Ll}$/u.test(word.text)
  const isNumber = (at === 1 ? /^(?:0\d{1,3}|[1-9]\d\d)$/ : /^0\d{1,3}$/).test(digits.text)
  const isLast = isAtEnd(tokens, at + 1) || isDash(tokens, at + 1)
  if (!isName || !isNumber || !isLast) return null
  return { text: stripLeadingZeros(digits.text), from: digits.from, to: digits.to }
}

/** The number right after a volume marker: `v2 017 - …`, `v01,009-090`, `v1 -001`. */
export function numberAfterVolume(tokens: Token[], volume: Marker): UnmarkedNumber | null {
  let i = volume.next
  // `v2 (2011) 001`
  while (tokens[i]?.kind === 'gap') i++
  if (i > volume.next && !/^0\d/.test(tokens[i]?.text ?? '')) return null
  const separator = tokens[i]
  if (
    separator &&
    (/^[,+]$/.test(separator.text) || isDash(tokens, i) || separator.key === 'annual')
  )
    i++
  const numeral = readNumeral(tokens, i, { sign: true })
  const first = tokens[i]
  if (!numeral || !first || isYear(first.text)) return null
  const after = tokens[numeral.next]
  const isClosed =
    isAtEnd(tokens, numeral.next) ||
    isDash(tokens, numeral.next) ||
    /^[,+]$/.test(after?.text ?? '')
  if (!isClosed && !/^0\d/.test(first.text)) return null
  if (first.isGlued && i === volume.next) return null
  return { text: numeral.text, from: first.from, to: tokens[numeral.next - 1]!.to }
}

/** The padded number right before a volume marker: `045 Vol. 2`, `007 - Tome 2`, but `Mob Psycho 100 v05`. */
export function numberBeforeVolume(tokens: Token[], volume: Marker): UnmarkedNumber | null {
  let end = volume.at
  while (end > 0 && isClosed(tokens, end - 1)) end--
  const digits = tokens[end - 1]
  if (digits?.kind !== 'number' || !/^0\d{1,2}(?!\d)/.test(digits.text) || digits.isGlued)
    return null
  const number = findUnmarkedNumber(tokens.slice(0, end), [])
  return number?.to === digits.to ? number : null
}

/**
 * The position in the folder, before the series and its volume: `5 - Spider-Man (2005) Volume 2`, but `86 -
 * Eighty-Six v02`.
 */
export function leadingNumber(tokens: Token[], volume: Marker): UnmarkedNumber | null {
  const [digits] = tokens
  if (digits?.kind !== 'number' || volume.at < 3 || !isDash(tokens, 1)) return null
  if (!/^(?:0\d{1,2}|\d)$/.test(digits.text)) return null
  return { text: stripLeadingZeros(digits.text), from: digits.from, to: digits.to }
}

/** The first number in any notation, for text after the series name. */
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
