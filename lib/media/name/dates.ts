// Dates in file names: `(2016)`, `(2007-2011)`, `[1984-04-28]`, `(03-2022)`, `(Sep 1973)`, `(Dec-31)`.

export type NamedDate = { year: number | null; month: number | null; day: number | null }

// Month names by language, each with its variants; the first table also has the abbreviations.
const monthTables = [
  'jan january|feb february|mar march|apr april|may|jun june|jul july|aug august|sep sept september|oct october|nov november|dec december',
  'janv janvier|févr février fevrier|mars|avr avril|mai|juin|juil juillet|août aout|septembre|octobre|novembre|déc décembre decembre',
  'januar jänner|februar|märz maerz mär|april|mai|juni|juli|august|september|okt oktober|november|dez dezember',
  'ene enero|febrero|marzo|abr abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|dic diciembre',
  'gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ott ottobre|novembre|dicembre',
  'janeiro|fev fevereiro|março marco|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro',
  'januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december',
  'января январь|февраля февраль|марта март|апреля апрель|мая май|июня июнь|июля июль|августа август|сентября сентябрь|октября октябрь|ноября ноябрь|декабря декабрь',
  'stycznia styczeń|lutego luty|marca marzec|kwietnia kwiecień|maja maj|czerwca czerwiec|lipca lipiec|sierpnia sierpień|września wrzesień|października październik|listopada listopad|grudnia grudzień',
]
const months = new Map(
  monthTables.flatMap(table =>
    table.split('|').flatMap((names, i) => names.split(' ').map(name => [name, i + 1] as const)),
  ),
)
// Words beside a year that are not months.
const seasons = 'spring|summer|fall|autumn|winter|printemps|été|automne|hiver'
const neutral = new RegExp(`^(?:${seasons}|de|of|del)$`)
const issueBefore = '(?<!(?:ausgabe|heft|nummer|numero|nr\\.?|issue|no\\.|n\\.|№|n[°º]|#) ?)'
const numeric =
  '(?:\\d{4}-\\d\\d(?:-\\d\\d)?|\\d{4}\\.\\d\\d(?:\\.\\d\\d)?|\\d\\d?-\\d\\d?-\\d{4}|\\d\\d?[-.]\\d{4}|--\\d{4}-\\d{4}--|(?:19|20)\\d\\d(?:0[1-9]|1[0-2])[0-3]\\d|(?<=annual )(?:19|20)\\d\\d(?= ?(?:$|[\\n\\t#])))'
const month = `(?:${seasons}|${[...months.keys()].sort((a, b) => b.length - a.length).join('|')})`
const day = '\\d{1,2}(?:\\.|st|nd|rd|th)? '
// At the end of a part, or before a number.
const isDateEnd = '(?= ?(?:$|[\\n\\t]| - | #?\\d))'
const monthNames = `${month}\\.?(?:[-/ ]${month})?\\.?`
const spelled = `(?:${day})?(?:de )?${monthNames},? (?:\\d{1,2}, )?(?:de )?\\d{4}${isDateEnd}|\\d{4} ${monthNames}${isDateEnd}`
const datePattern = new RegExp(
  `(?<![\\p{L}\\p{N}.])${issueBefore}(?:${numeric}|${spelled})(?![\\p{L}\\p{N}-])`,
  'giu',
)

/** Whether a text ends with the name of a month: `PC Gamer UK July`. */
export const endsWithMonth = (text: string): boolean =>
  months.has(/(\p{L}+)\.?$/u.exec(text)?.[1]?.toLowerCase() ?? '')

/** 1900 to 2099. */
export function isYear(digits: string): boolean {
  return digits.length === 4 && (digits.startsWith('19') || digits.startsWith('20'))
}

/** The first date if `text` consists only of dates, otherwise null. */
export function parseDate(text: string): NamedDate | null {
  const compact = /^((?:19|20)\d\d)(\d\d)(\d\d)$/.exec(text.trim())
  const words = compact
    ? compact.slice(1)
    : text.split(/[^\p{L}\p{N}]+/u).filter(word => word !== '')
  if (words.length === 0 || words.length > 8) return null
  const small: number[] = []
  let year: number | null = null
  let month: number | null = null
  let isYearFirst = false
  for (const word of words) {
    const key = word.toLowerCase()
    if (isYear(word)) {
      isYearFirst ||= year === null && small.length === 0
      year ??= Number(word)
    } else if (/^\d\d?(?:st|nd|rd|th)?$/.test(key)) small.push(Number.parseInt(key, 10))
    else if (months.has(key)) month ??= months.get(key)!
    else if (!neutral.test(key)) return null
  }
  if (year === null && (month === null || small.length === 0)) return null
  // `2006-12-00` has month before day, `01-02-2006` day before month, `03-2022` only a month.
  const [first, second] = small
  if (month !== null) return { year, month, day: inRange(first, 31) }
  if (isYearFirst) return { year, month: inRange(first, 12), day: inRange(second, 31) }
  if (second === undefined) return { year, month: inRange(first, 12), day: null }
  // `3-15-1980`
  if (second > 12 && first !== undefined)
    return { year, month: inRange(first, 12), day: inRange(second, 31) }
  return { year, month: inRange(second, 12), day: inRange(first, 31) }
}

const anyYear = /(?:19|20)\d\d/
const weeks = 53
const weekly = /^(?:\d{4}[-.](\d\d(?:-\d\d)?)|(\d\d)[-.]\d{4})$/
const yearBeforeIssue =
  /(?<=\S )((?:19\d|20[0-3])\d)(?= (?:ausgabe|heft|nummer|numero|nr|issue|no|№|n[°º])\.? ?#?\d)/i

/**
 * Replaces full dates in text with `\t` and returns the first one. The issue of a weekly remains: `1986-23`.
 * Unless there is another date (`isDated`), the year before an issue counts as one: `2012 No. 24`.
 */
export function extractDates(
  text: string,
  isDated = false,
): { text: string; date: NamedDate | null } {
  if (!anyYear.test(text)) return { text, date: null }
  let date: NamedDate | null = null
  const rest = text.replace(datePattern, match => {
    const parsed = parseDate(match)
    if (parsed?.year == null) return match
    const [, last, first] = (parsed.month === null && weekly.exec(match)) || []
    const issue = last ?? first ?? ''
    const isIssue = Number.parseInt(issue, 10) > 0 && Number.parseInt(issue, 10) <= weeks
    date ??= isIssue ? { ...parsed, day: null } : parsed
    return isIssue ? `\t ${issue}` : '\t'
  })
  const year = date === null && !isDated ? yearBeforeIssue.exec(rest) : null
  if (!year) return { text: rest, date }
  date = { year: Number(year[1]), month: null, day: null }
  return { text: rest.replace(yearBeforeIssue, '\t'), date }
}

function inRange(value: number | undefined, max: number): number | null {
  return value !== undefined && value >= 1 && value <= max ? value : null
}
