// Marked numbers in file names: a marker word or sign with its number, in either order.
//
//   marker := word [.:,-] [#] numeral      v01  Vol. 3  c001-006  Ch.4.extra  Tome IV  Том 2
//           | numeral [.] word             2 глава  3. Band  1권  100巻
//           | 第 numeral counter           第03卷  第十二卷
//           | [issue] # numeral            #½  #B01  #78.BEY  #1 – 12
import { isYear } from './dates.ts'
import { isHanDigit, type Numeral, numeralWord, readNumeral } from './numerals.ts'
import { isClosed, type Token } from './tokens.ts'
import { hanCounter, type MarkerKind, markerWord } from './words.ts'

/**
 * `end` closes a range; `from` and `to` are offsets in the text, `at` and `next` the indexes of its first
 * token and the token after it.
 */
export type Marker = {
  kind: MarkerKind
  text: string
  value: number
  end: number | null
  from: number
  to: number
  at: number
  next: number
}
/** The first marker of each kind. */
export type Markers = Partial<Record<MarkerKind | 'total', Marker>>

/** Reads all tokens once; each belongs to at most one marker. */
export function findMarkers(tokens: Token[]): Markers {
  const found: Markers = {}
  let last: Marker | null = null
  for (let i = 0; i < tokens.length; ) {
    const marker = readMarker(tokens, i, last)
    if (marker === null) {
      i++
      continue
    }
    const kind = tokens[i]!.text === '全' ? 'total' : marker.kind
    if (found.issue && isRank(tokens, found.issue, marker)) delete found.issue
    found[kind] ??= marker
    last = marker
    i = marker.next
  }
  if (found.issue && isRank(tokens, found.issue, null)) delete found.issue
  return found
}

function readMarker(tokens: Token[], at: number, last: Marker | null): Marker | null {
  const token = tokens[at]!
  if (token.text === '#') return issueAfterSign(tokens, at, at)
  if (token.kind === 'number') return beforeCounter(tokens, at, last)
  if (token.kind !== 'word') return null
  if (token.text === '第' || token.text === '제' || token.text === '全') return ordinal(tokens, at)
  if (token.isGlued && !isBoundary(tokens, at, last)) return null
  if (token.key === 'x' && last?.kind === 'season' && last.next === at)
    return create(tokens, at, 'chapter', readNumeral(tokens, at + 1))
  const word = markerWord(token.key)
  if (word) return afterWord(tokens, at, last)
  const counter = hanCounter(token.text, false)
  if (counter) return afterHan(tokens, at, counter)
  // `四十二話`
  const numeral = token.isGlued ? null : hanNumeral(tokens, at)
  const unit = numeral && tokens[numeral.next]
  const kind = unit?.isGlued ? hanCounter(unit.text, false) : null
  return kind && create(tokens, at, kind, { ...numeral!, next: numeral!.next + 1 })
}

// `卷3`, `卷二十七`, but not `卷三国`
function afterHan(tokens: Token[], at: number, kind: MarkerKind): Marker | null {
  const digits = readNumeral(tokens, at + 1)
  if (digits) return create(tokens, at, kind, digits)
  const numeral = tokens[at + 1]?.isGlued ? hanNumeral(tokens, at + 1) : null
  const after = numeral && tokens[numeral.next]
  return after?.isGlued && after.kind === 'word' ? null : create(tokens, at, kind, numeral)
}

// A marker may be glued to the previous marker (`v01c02`), to a mark, or to text in other scripts.
function isBoundary(tokens: Token[], at: number, last: Marker | null): boolean {
  const before = tokens[at - 1]!
  if (before.kind === 'mark') return !/['’+&]/.test(before.text)
  if (before.kind === 'gap' || last?.next === at) return true
  return /[^\p{Script=Latin}\p{Script=Cyrillic}\p{Nd}]$/u.test(before.text)
}

function afterWord(tokens: Token[], at: number, last: Marker | null): Marker | null {
  const token = tokens[at]!
  const { kind, isShort } = markerWord(token.key)!
  let i = at + 1
  let isJoined = tokens[i]?.isGlued === true
  const mark = tokens[i]
  const isLong = token.key.length > 1 && !isShort
  if (mark?.isGlued && (/^[.:,]$/.test(mark.text) || (isLong && mark.text === '-'))) {
    i++
    isJoined = mark.text === '.' || (tokens[i]?.isGlued ?? false)
    if (mark.text !== '.' && isShort && token.key !== '№') return null
  }
  if (isLong && tokens[i]?.text === '#') {
    if (kind === 'issue') return issueAfterSign(tokens, i, at)
    i++
  }
  // `v 02` is a marker, `Henry V 02` is not.
  const isLowerLetter = /^[vc]$/.test(token.text)
  const isNo = token.key === 'no' && at > 0 && isClosed(tokens, i + 1)
  if (isShort && !isJoined && !isLowerLetter && token.key !== '№' && !isNo) return null
  if (token.key === 'e' && last?.kind !== 'season') return null
  // `S01`, but not `Lady S. 161`
  if (token.key === 's' && mark?.kind !== 'number') return null
  if (isCoverToCover(tokens, at)) return null
  const numeral =
    readNumeral(tokens, i, {
      again: other => other.key === token.key,
      capitals: kind === 'issue',
      spaced: kind === 'chapter',
    }) ?? (isLong || token.key === 't' ? numeralOfWord(tokens, i, kind) : null)
  if (!numeral) return null
  if (isSecondVersion(tokens, at, numeral, last)) return create(tokens, at, 'version', numeral)
  if (leavesToCounter(tokens, at, numeral)) return null
  return create(tokens, at, kind, numeral)
}

// `c2c`: scanned from cover to cover.
function isCoverToCover(tokens: Token[], at: number): boolean {
  return tokens[at]!.key === 'c' && tokens[at + 1]?.text === '2' && tokens[at + 2]?.key === 'c'
}

// `Chapter 12 v2`, `012 v2`, `012 v1.1`: the second version of a chapter. `v02` and `#12 v2` are volumes.
function isSecondVersion(tokens: Token[], at: number, { next }: Numeral, last: Marker | null) {
  const digits = tokens[next - 1]!.text
  if (tokens[at]!.key !== 'v' || !/^\d(?:\.\d)?$/.test(digits)) return false
  if (last?.next === at) return last.kind === 'chapter'
  const before = tokens[at - 1]
  return before?.kind === 'number' && /^0\d/.test(before.text)
}

// `Блич 3 том 12 глава`: the word belongs to the number before it, and its own number to the next word.
function leavesToCounter(tokens: Token[], at: number, { next }: Numeral): boolean {
  const before = tokens[at - 1]
  return (
    before?.kind === 'number' &&
    markerWord(tokens[at]!.key)?.isCounter === true &&
    isCounterAt(tokens, next)
  )
}

function isCounterAt(tokens: Token[], at: number): boolean {
  const hasDot = tokens[at]?.text === '.' && tokens[at]!.isGlued
  const token = tokens[hasDot ? at + 1 : at]
  const word = token?.kind === 'word' ? markerWord(token.key) : null
  const after = tokens[hasDot ? at + 2 : at + 1]
  return word !== null && !word.isShort && (word.isCounter || hasDot) && after?.kind !== 'number'
}

function numeralOfWord(tokens: Token[], at: number, kind: MarkerKind): Numeral | null {
  const token = tokens[at]
  const value = token?.kind === 'word' && !token.isGlued ? numeralWord(token.text) : null
  const glued = token?.kind === 'word' && token.isGlued ? numeralWord(token.text) : null
  const number = value ?? (tokens[at - 1]?.kind === 'mark' ? glued : null)
  if (number === null) return null
  // `Spider-Man Chapter One 002`, `Star Wars - Episode V 03`
  const after = tokens[at + 1]
  const isText = /\p{Ll}/u.test(token!.text) || after?.kind === 'number'
  if (isText && /^(?:chapter|issue)$/.test(kind)) return null
  const isEnd = after === undefined || after.kind !== 'word'
  // `Chapter I Am Here`
  if (after?.isGlued && after.kind !== 'mark' && after.kind !== 'gap') return null
  return isEnd || token!.text.length > 1
    ? { text: String(number), value: number, end: null, next: at + 1 }
    : null
}

function issueAfterSign(tokens: Token[], at: number, from: number): Marker | null {
  let i = at + 1
  // `#B01`
  const letters = tokens[i]
  const prefix =
    letters?.kind === 'word' && /^[A-Z]{1,2}$/.test(letters.text) && tokens[i + 1]?.isGlued
      ? letters.text
      : ''
  if (prefix) i++
  const numeral = readNumeral(tokens, i, {
    sign: true,
    capitals: true,
    spaced: true,
    again: other => other.text === '#',
  })
  if (!numeral) return null
  return { ...create(tokens, from, 'issue', numeral)!, text: prefix + numeral.text }
}

function beforeCounter(tokens: Token[], at: number, last: Marker | null): Marker | null {
  const before = tokens[at - 1]
  if (tokens[at]!.isGlued && before?.kind === 'word' && last?.next !== at) {
    if (/^[\p{Script=Latin}\p{Script=Cyrillic}]/u.test(before.text)) return null
  }
  const numeral = readNumeral(tokens, at)
  if (!numeral) return null
  let i = numeral.next
  if (isTimes(tokens, at)) return create(tokens, at, 'season', numeral)
  const hasDot = tokens[i]?.text === '.' && tokens[i]!.isGlued
  if (hasDot) i++
  const token = tokens[i]
  if (token?.kind !== 'word') return null
  const han = hanCounter(token.text, false)
  const word = markerWord(token.key)
  const kind = han ?? (word && !word.isShort && (word.isCounter || hasDot) ? word.kind : null)
  if (kind === null) return null
  // `Том 1 2 Глава` and `Series 3 Том 12`
  const after = tokens[i + 1]
  if (after?.isGlued && after.kind === 'word' && !han) return null
  if (after?.kind === 'number' && !han && !/\p{Script=Hangul}/u.test(token.text)) {
    const other = readNumeral(tokens, i + 1)
    if (!other || !isCounterAt(tokens, other.next)) return null
  }
  return create(tokens, at, kind, { ...numeral, next: i + 1 })
}

// `1x05`: season and episode.
function isTimes(tokens: Token[], at: number): boolean {
  const [season, times, episode] = tokens.slice(at, at + 3)
  return (
    season!.text.length < 3 &&
    times?.key === 'x' &&
    times.isGlued &&
    episode?.isGlued === true &&
    /^\d{2,4}$/.test(episode.text)
  )
}

// `第3巻`, `제 3 화`, `全12巻`, `第十二回`
function ordinal(tokens: Token[], at: number): Marker | null {
  const numeral = readNumeral(tokens, at + 1) ?? hanNumeral(tokens, at + 1)
  if (!numeral) return null
  const counter = tokens[numeral.next]
  if (counter?.kind !== 'word') return null
  const kind = hanCounter(counter.text, true) ?? markerWord(counter.key)?.kind
  return kind ? create(tokens, at, kind, { ...numeral, next: numeral.next + 1 }) : null
}

function hanNumeral(tokens: Token[], at: number): Numeral | null {
  let i = at
  let text = ''
  while (tokens[i] && (i === at || tokens[i]!.isGlued) && isHanDigit(tokens[i]!.text))
    text += tokens[i++]!.text
  const value = text === '' ? null : numeralWord(text)
  return value === null ? null : { text: String(value), value, end: null, next: i }
}

function create(
  tokens: Token[],
  at: number,
  kind: MarkerKind,
  numeral: Numeral | null,
): Marker | null {
  if (!numeral) return null
  const { text, value, end, next } = numeral
  return { kind, text, value, end, at, next, from: tokens[at]!.from, to: tokens[next - 1]!.to }
}

/**
 * Whether a sign belongs to the name, because another number follows: `Team #1 Fans Vol. 3`. Only the number one is a rank, and
 * only before a word that is not a marker: `#1 Vol. 3` is a number.
 */
function isRank(tokens: Token[], { at, next }: Marker, other: Marker | null): boolean {
  const [sign, digits] = [tokens[at]!, tokens[at + 1]]
  if (sign.text !== '#' || digits?.text !== '1' || at === 0) return false
  const after = tokens[next]
  if (after?.kind !== 'word' || after.isGlued || other?.at === next) return false
  if (other === null) return endsInNumber(tokens, next)
  return (
    /^(?:issue|chapter|volume)$/.test(other.kind) ||
    (other.kind === 'weakIssue' && isClosed(tokens, other.next))
  )
}

// `Team #1 Fans 012 (2004)`
function endsInNumber(tokens: Token[], from: number): boolean {
  return tokens.some(
    ({ kind, text, isGlued }, i) =>
      i > from &&
      kind === 'number' &&
      !isGlued &&
      /^0\d|^\d{3,4}$/.test(text) &&
      !isYear(text) &&
      isClosed(tokens, i + 1),
  )
}
