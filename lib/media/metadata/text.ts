// Normalization of metadata values: text, lists, numbers and URLs, bounded in length.
import { withDecimalPoint } from '../name/number.ts'
import { joinSuffixes } from './names.ts'

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
