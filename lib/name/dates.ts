// Dates in file names: `(2016)`, `(2007-2011)`, `[1984-04-28]`, `(03-2022)`, `(Sep 1973)`, `(Dec-31)`.

export type NamedDate = { year: number | null; month: number | null; day: number | null }

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const monthName =
  /^(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)$/i
const numeric =
  '(?:\\d{4}-\\d\\d(?:-\\d\\d)?|\\d\\d?-\\d\\d?-\\d{4}|\\d\\d?-\\d{4}|--\\d{4}-\\d{4}--)'
const month = `(?:${months.join('|')})[a-z]{0,6}`
const spelled = `${month}(?:-${month})?\\.?,? \\d{4}(?= ?(?:$|[\\n\\t]))`
const datePattern = new RegExp(
  `(?<![\\p{L}\\p{N}.])(?:${numeric}|${spelled})(?![\\p{L}\\p{N}-])`,
  'giu',
)

/** 1900 to 2099. */
export function isYear(digits: string): boolean {
  return digits.length === 4 && (digits.startsWith('19') || digits.startsWith('20'))
}

/** The first date when `text` consists only of dates, else null. */
export function parseDate(text: string): NamedDate | null {
  const words = text.split(/[^\p{L}\p{N}]+/u).filter(word => word !== '')
  if (words.length === 0 || words.length > 8) return null
  const small: number[] = []
  let year: number | null = null
  let month: number | null = null
  let isYearFirst = false
  for (const word of words) {
    if (isYear(word)) {
      isYearFirst ||= year === null && small.length === 0
      year ??= Number(word)
    } else if (/^\d\d?$/.test(word)) small.push(Number(word))
    else if (monthName.test(word)) month ??= months.indexOf(word.slice(0, 3).toLowerCase()) + 1
    else return null
  }
  if (year === null && (month === null || small.length === 0)) return null
  // `2006-12-00` has month then day, `01-02-2006` day then month, `03-2022` only a month.
  const [first, second] = small
  if (month !== null) return { year, month, day: inRange(first, 31) }
  if (isYearFirst) return { year, month: inRange(first, 12), day: inRange(second, 31) }
  if (second === undefined) return { year, month: inRange(first, 12), day: null }
  return { year, month: inRange(second, 12), day: inRange(first, 31) }
}

/** Replaces full dates in text by `\t` and returns the first. */
export function extractDates(text: string): { text: string; date: NamedDate | null } {
  let date: NamedDate | null = null
  const rest = text.replace(datePattern, match => {
    const parsed = parseDate(match)
    if (parsed?.year == null) return match
    date ??= parsed
    return '\t'
  })
  return { text: rest, date }
}

function inRange(value: number | undefined, max: number): number | null {
  return value !== undefined && value >= 1 && value <= max ? value : null
}
