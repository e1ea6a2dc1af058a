// Marked numbers in file names: volumes, chapters, issues, parts and specials in many languages.
//
//   marker := word [.-:,] [space] number [suffix] [range]        v01  Vol. 3  c001-006  Ch.4.extra
//           | 第 number counter | number counter                 第03卷  25話  1권  2 Глава
//           | # [-] [letters] number [.SUFFIX] [range]           #½  #B01  #78.BEY  #1 – 12
//
// All quantifiers are bounded and none is nested, so the cost per character is constant.
import { stripLeadingZeros } from './number.ts'

/** `end` closes a range; `from` and `to` are offsets in the text. */
export type Marker = { text: string; value: number; end: number | null; from: number; to: number }
export type Markers = {
  volume: Marker | null
  /** `Book 3`: a volume, or part of the title. */
  book: Marker | null
  chapter: Marker | null
  issue: Marker | null
  /** `No. 5`: often part of the series name. */
  weakIssue: Marker | null
  part: Marker | null
  special: Marker | null
}

const left = '(?<![\\p{L}\\p{N}])'
const right = '(?!\\.?[\\p{Script=Latin}\\p{Nd}])'
const number = '(\\d{1,5}(?:\\.\\d{1,3})?)'
const suffix = '(?:[.,-]?(extra|omake|special|[a-i])(?!\\p{L}))?'

function keywordPattern(words: string, options: { letters?: boolean; end?: string } = {}): RegExp {
  // A range with spaces needs the keyword twice: `c000 - c006`, but `v01 - 2024` is not a range.
  const again = `(?: ?[-–~] ?(?:${words})\\.? ?|[-–~]| – )`
  const range = `(?:${again}(\\d{1,5}(?:\\.\\d{1,3})?)(?:x\\d)?(?![\\p{L}\\p{N}]))?`
  const letters = options.letters ? suffix : '()'
  return new RegExp(
    `${left}(?:${words})[.:,]? ?${number}${letters}${range}${options.end ?? right}`,
    'iu',
  )
}

function counterPattern(before: string, after: string, needed = false): RegExp {
  const optional = needed ? '' : '?'
  return new RegExp(
    `(?:${before})${optional} ?(\\d{1,4}(?:\\.\\d)?)()(?:[-~](\\d{1,4}))? ?(?:${after})(?!\\p{Script=Cyrillic})`,
    'iu',
  )
}

function prefixPattern(words: string): RegExp {
  return new RegExp(`(?:${words}) ?${number}()(?:[-~](\\d{1,4}))?`, 'iu')
}

const volumeEnd = '(?!(?!ch?\\d|e\\d)\\.?[\\p{Script=Latin}\\p{Nd}])'
const volumeWords = 'volumes?|vols?|v|tomes?|tomos?|tom|band|bd|season|saison|staffel|temporada'
const chapterWords =
  'chapters?|chap|chp|ch|c|episodes?|ep|kapitel|kap|chapitres?|cap[ií]tulos?|cap|capitolo|chương'
const volumes = [
  keywordPattern(volumeWords, { end: volumeEnd }),
  keywordPattern('vol(?:ume)?-'),
  new RegExp(`${left}t${number}()()${right}`, 'iu'),
  new RegExp(`${left}s(\\d{2,3})()()${volumeEnd}`, 'iu'),
  prefixPattern('เล่มที่|เล่ม|シーズン|시즌|卷|巻|тома?'),
  counterPattern('第|제', '卷|巻|册|冊|권|тома?'),
]
const chapters = [
  keywordPattern(`(?!c2c)(?:${chapterWords})`, {
    letters: true,
    end: '(?!\\.?\\d|(?!v\\d)\\p{Script=Latin})',
  }),
  keywordPattern('chapter-|ch-'),
  new RegExp(`(?<=${left}[sv]\\d{1,3})[ce](\\d{1,4})()()${right}`, 'iu'),
  prefixPattern('ตอนที่|ตอน|บทที่|บท|глав[аы]'),
  counterPattern('第', '话|話|章|回', true),
  counterPattern('제', '话|話|화|회|장|глав[аы]'),
]
const hash =
  /(?:issues? ?)?# ?(-?(?:[A-Z]{0,2}\d{1,6}(?:\.\d{1,3}){0,2}½?|½))((?:\.[A-Z]{1,4}|[A-Z]{1,3}|[a-z])(?![\p{L}\p{N}]))?(?:(?:-| ?– ?)#?(\d{1,6}(?:\.\d{1,3})?)(?![\p{L}\p{N}]))?/iu
const issues = [
  hash,
  keywordPattern('issues?|heft|nummer|выпуск|fascicule'),
  counterPattern('第', '号|號|期', true),
]
const weakIssues = [new RegExp(`${left}(?:no\\.|nr\\.|n°|nº|№) ?${number}()()${right}`, 'iu')]
const parts = [keywordPattern('part|pt|teil|partie|parte|часть')]
const books = [keywordPattern('book|livre|libro|buch|книга')]
const specials = [new RegExp(`${left}sp(\\d{1,3})()()${right}`, 'iu')]

/** The first marker of each kind. `text` has single spaces and no underscores. */
export function findMarkers(text: string): Markers {
  return {
    volume: earliest(text, volumes) ?? numberInWords(text),
    book: earliest(text, books),
    chapter: earliest(text, chapters),
    issue: earliest(text, issues.slice(0, 1)) ?? earliest(text, issues),
    weakIssue: earliest(text, weakIssues),
    part: earliest(text, parts),
    special: earliest(text, specials),
  }
}

function earliest(text: string, patterns: RegExp[]): Marker | null {
  let best: Marker | null = null
  for (const pattern of patterns) {
    const match = pattern.exec(text)
    if (match && (best === null || match.index < best.from)) best = toMarker(match)
  }
  return best
}

function toMarker(match: RegExpExecArray): Marker {
  const [whole, first = '', letters = '', last] = match
  const value = Number(first.replace('½', '.5').replace(/[^\d.-]/g, '')) || 0
  const end = last !== undefined && Number(last) > value ? Number(last) : null
  const start =
    stripLeadingZeros(first) +
    (letters && !letters.startsWith('.') && letters.length > 1 ? '.' : '')
  const text =
    end === null ? start + letters : `${stripLeadingZeros(first)}-${stripLeadingZeros(last!)}`
  return { text, value, end, from: match.index, to: match.index + whole.length }
}

// Numbers in words: `Tome IV`, `Vol. II`, `第十二卷`.
const roman = /(?<![\p{L}\p{N}])(?:volume|vol|tome|tomo|band)\.? ([IVX]{1,5})(?![\p{L}\p{N}])/iu
const han = /第([一二三四五六七八九十百]{1,5})[卷巻册冊]/u

function numberInWords(text: string): Marker | null {
  const match = roman.exec(text) ?? han.exec(text)
  if (!match) return null
  const value = /[ivx]/i.test(match[1]!) ? romanValue(match[1]!) : hanValue(match[1]!)
  return {
    text: String(value),
    value,
    end: null,
    from: match.index,
    to: match.index + match[0].length,
  }
}

function romanValue(text: string): number {
  const values = [...text.toUpperCase()].map(letter => ({ I: 1, V: 5, X: 10 })[letter] ?? 0)
  return values.reduce((sum, v, i) => sum + (v < (values[i + 1] ?? 0) ? -v : v), 0)
}

function hanValue(text: string): number {
  let sum = 0
  let digit = 0
  for (const char of text) {
    const unit = char === '十' ? 10 : char === '百' ? 100 : 0
    if (unit === 0) digit = '一二三四五六七八九'.indexOf(char) + 1
    else {
      sum += (digit || 1) * unit
      digit = 0
    }
  }
  return sum + digit
}
