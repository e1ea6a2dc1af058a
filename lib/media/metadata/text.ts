// Normalization of metadata values: text, lists of names, numbers, dates and URLs, bounded in length.
import { withDecimalPoint } from '../name/number.ts'

const maxLineLength = 500
const maxTextLength = 65_536
const maxValues = 1000

/** One line of text: no control characters, single spaces, well-formed Unicode; undefined if empty. */
export function singleLine(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  // Truncated before normalization, to bound the cost.
  const clean = value
    .slice(0, 8 * maxLineLength)
    .toWellFormed()
    .replace(/[\0-\x1f\x7f-\x9f\s\u2028\u2029\ufeff]+/g, ' ')
    .trim()
  return truncate(clean, maxLineLength) || undefined
}

/** Text of several lines: like `singleLine`, but with line breaks and inner spaces. */
export function multiLine(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  const clean = value
    .slice(0, 2 * maxTextLength)
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\ufeff]+/g, '')
    .trim()
  return truncate(clean, maxTextLength) || undefined
}

/** A list of names, without duplicates that differ only in case; undefined if empty. */
export function uniqueNames(values: Iterable<string | undefined>): string[] | undefined {
  const unique = new Map<string, string>()
  for (const value of values) {
    const name = singleLine(value)
    if (name === undefined) continue
    const key = name.toLowerCase()
    if (!unique.has(key)) unique.set(key, name)
    if (unique.size >= maxValues) break
  }
  return unique.size > 0 ? [...unique.values()] : undefined
}

/**
 * Splits `a, b, c`; a semicolon or an ideographic comma only separates if there is no comma. `Marvel Comics,
 * Inc.` is one name.
 */
export function splitList(value: string | undefined): string[] {
  if (value === undefined) return []
  const separator = [',', ';', '，', '、'].find(mark => value.includes(mark)) ?? ','
  return joinSuffixes(value.split(separator, 4 * maxValues))
}

/** An integer in digits of any script, or in a form like `3.0`; NaN for anything else. */
export function parseInteger(value: string): number {
  const text = value.normalize('NFKC').trim()
  return /^[+-]?\d{1,10}(?:\.0+)?$/.test(text) ? Number(text) : Number.NaN
}

/** A decimal number with point or comma; NaN for anything else. */
export function parseDecimal(value: string): number {
  const text = value.normalize('NFKC').trim().replace(',', '.')
  return /^[+-]?(?:\d{1,10}(?:\.\d{0,10})?|\.\d{1,10})$/.test(text) ? Number(text) : Number.NaN
}

/** The number of a book as text, with a decimal comma replaced by a point. */
export const numberText = (value: string | undefined): string | undefined =>
  value === undefined ? undefined : withDecimalPoint(value)

/** The object without undefined properties, so that `in` and spreading work as expected. */
export function omitUndefined<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T
}

const maxUrlLength = 2000
/** Texts that `httpUrl` may accept, as a JSON Schema pattern. Browsers treat a backslash as a slash. */
export const webUrlPattern =
  '^\\s*[Hh][Tt][Tt][Pp][Ss]?://[^\\s\\u0000-\\u001f\\u007f-\\u009f/?#@\\\\]+(?:[/?#\\\\][^\\s\\u0000-\\u001f\\u007f-\\u009f]*)?\\s*$'
const webUrl = new RegExp(webUrlPattern)

/**
 * An http or https URL in normal form: other schemes could execute code in a browser. Also undefined for user
 * names and passwords, which obscure where a link leads, and for white space and control characters inside.
 */
export function httpUrl(value: string | undefined): string | undefined {
  const text = value?.trim() ?? ''
  if (!webUrl.test(text) || text.length > maxUrlLength) return undefined
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '') return undefined
  // Encoding may make it longer.
  return url.href.length <= maxUrlLength ? url.href : undefined
}

function truncate(text: string, length: number): string {
  return text.length > length ? text.slice(0, length).toWellFormed().trim() : text
}

// Generational and academic suffixes, and legal forms of companies; short ones that are also words only as
// abbreviations.
const suffix =
  /^(?:jr|sr|ph\.?\s?d|m\.?d|esq|inc|incorporated|ltd|limited|l\.?l\.?c|l\.?l\.?p|plc|corp|corporation|co|gmbh|ltda?|lda|s\.?r\.?l|s\.?p\.?a|s\.?r\.?o|s\.?a\.?r\.?l|d\.?o\.?o|kft|pty|pte|sdn bhd|(?:sp\. )?z o\.?o|gmbh & co\.? kg|& ?(?:co|cie|sons?|bros))\.?(?: (?:inc|ltd|llc|kg|limited|de c\.v)\.?)*$/i
const shortSuffix =
  /^(?:I{2,3}|IV|AG|KG|SA|AB|AS|NV|BV|SL|LP|KK|OY|OHG|S\.A|N\.V|B\.V|S\.L|K\.K|A\/S|L\.P)\.?$/
// `Houghton, Mifflin and Company`: the second half of a company name.
const firm =
  /\s(?:and|&|et|und|y)\s+(?:company|co|sons?|brothers|bros|cie|söhne|fils|hijos|daughters)\.?$/i

const isSuffix = (part: string) => suffix.test(part) || shortSuffix.test(part)

/** Reattaches suffixes and second halves to the names of a text that was split at commas. */
export function joinSuffixes(parts: Iterable<string>): string[] {
  const names: string[] = []
  for (const raw of parts) {
    const part = raw.trim()
    const last = names.at(-1)
    const isSecondHalf = last !== undefined && !last.includes(' ') && firm.test(part)
    if (last !== undefined && (isSuffix(part) || isSecondHalf))
      names[names.length - 1] += `, ${part}`
    else if (part !== '') names.push(part)
  }
  return names
}

const conjunction = /\s+(?:&|and)\s+/i
const corporateWord =
  /(?:^|[\s,])(?:inc|ltd|llc|plc|corp|corporation|co|company|gmbh|publish(?:ing|ers?)|press|books|comics|media|studios?|sons|brothers|bros|verlag|éditions)\.?$/i

/** Splits `A; B`, `A & B` and `A and B`, but not company names: `Simon & Schuster, Inc.` */
export function splitConjunctions(text: string): string[] {
  return text.split(';', 100).flatMap(part => {
    const names = part.trim().split(conjunction, 100)
    const isCompany =
      names.length === 2 &&
      names.some(name => corporateWord.test(name)) &&
      names.some(name => !/\s/.test(withoutSuffix(name)))
    return isCompany ? [part.trim()] : names
  })
}

const withoutSuffix = (name: string) => joinSuffixes(name.split(','))[0]!.split(',')[0]!.trim()

type PartialDate = { year?: number; month?: number; day?: number }

/**
 * The valid parts of an ISO 8601 date with or without month and day, of `19990731`, or a year within text; null without a year.
 * The day is taken as written, regardless of time zone.
 */
export function partialDate(text: string): PartialDate | null {
  const clean = text.normalize('NFKC').slice(0, 100).trim()
  // Calibre writes this for an unknown date.
  if (clean.startsWith('0101-01-01')) return null
  const iso =
    /^(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?!\d)/.exec(clean) ??
    /^(\d{4})(\d{2})(\d{2})(?!\d)/.exec(clean)
  if (iso !== null) return checked(Number(iso[1]), Number(iso[2]), Number(iso[3]))
  const year = /(?<!\d)(\d{4})(?!\d)/.exec(clean)?.[1]
  return year === undefined ? null : checked(Number(year), Number.NaN, Number.NaN)
}

function checked(year: number, month: number, day: number): PartialDate | null {
  if (year < 1) return null
  if (!(month >= 1 && month <= 12)) return { year }
  return day >= 1 && day <= 31 ? { year, month, day } : { year, month }
}
