// Values as sources write them to values the catalogue can hold: cleaned, bounded, or absent.

const longestLine = 500
const longestProse = 65_536
const mostValues = 1000

/** One line: no control characters, single spaces, well-formed Unicode; undefined when nothing is left. */
export function line(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  // A longer value is cut before it is cleaned, so hostile lengths cost nothing.
  const clean = value
    .slice(0, 8 * longestLine)
    .toWellFormed()
    .replace(/[\0-\x1f\x7f-\x9f\s\u2028\u2029\ufeff]+/g, ' ')
    .trim()
  return cut(clean, longestLine) || undefined
}

/** Several lines of text: as `line`, but line breaks and inner spaces stay. */
export function prose(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  const clean = value
    .slice(0, 2 * longestProse)
    .toWellFormed()
    .replace(/\r\n?/g, '\n')
    .replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\ufeff]+/g, '')
    .trim()
  return cut(clean, longestProse) || undefined
}

/** A list of names: each a `line`, the first spelling of equal ones; undefined when empty. */
export function names(values: Iterable<string | undefined>): string[] | undefined {
  const kept = new Map<string, string>()
  for (const value of values) {
    const name = line(value)
    if (name === undefined) continue
    const key = name.toLowerCase()
    if (!kept.has(key)) kept.set(key, name)
    if (kept.size >= mostValues) break
  }
  return kept.size > 0 ? [...kept.values()] : undefined
}

/** Splits `a, b, c`; a semicolon or an ideographic comma separates only where there is no comma. */
export function split(value: string | undefined): string[] {
  if (value === undefined) return []
  const separator = [',', ';', '，', '、'].find(mark => value.includes(mark)) ?? ','
  const parts: string[] = []
  for (const raw of value.split(separator, 4 * mostValues)) {
    const part = raw.trim()
    // `Robert Downey, Jr.` is one name.
    if (parts.length > 0 && /^(?:jr|sr|ph\.?d|m\.?d)\.?$/i.test(part))
      parts[parts.length - 1] += `, ${part}`
    else if (part !== '') parts.push(part)
  }
  return parts
}

/** A whole number in any script's digits, `3.0` included; NaN when it is something else. */
export function integer(value: string): number {
  const text = value.normalize('NFKC').trim()
  return /^[+-]?\d{1,10}(?:\.0+)?$/.test(text) ? Number(text) : Number.NaN
}

/** A decimal with point or comma; NaN when it is something else. */
export function decimal(value: string): number {
  const text = value.normalize('NFKC').trim().replace(',', '.')
  return /^[+-]?(?:\d{1,10}(?:\.\d{0,10})?|\.\d{1,10})$/.test(text) ? Number(text) : Number.NaN
}

/** The same object without its absent fields, so that `in` and merging mean what they say. */
export function said<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T
}

/** Web addresses only: anything else could run in a browser. */
export function webAddress(value: string | undefined): string | undefined {
  const text = line(value)
  if (text === undefined || !/^https?:\/\//i.test(text)) return undefined
  return URL.canParse(text) ? text : undefined
}

function cut(text: string, length: number): string {
  return text.length > length ? text.slice(0, length).toWellFormed().trim() : text
}
