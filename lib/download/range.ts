// Conditional and ranged requests for a file (RFC 9110, sections 13 and 14).

export type Validators = { tag: string; modifiedMs: number; size: number }

/** Request headers as Node gives them. */
export type RequestHeaders = { [name: string]: string | string[] | undefined }

/** `start` and `end` are offsets, both inclusive. */
export type Part = { start: number; end: number }

export type Decision =
  | { status: 200 }
  | { status: 206; part: Part }
  | { status: 304 }
  | { status: 412 }
  | { status: 416 }

/**
 * What to answer a GET or HEAD with. Several ranges at once are answered with the whole, and so is HEAD:
 * ranges are of GET alone (§14.2).
 */
export function decide(
  { method, headers }: { method: string; headers: RequestHeaders },
  validators: Validators,
): Decision {
  const { tag, modifiedMs, size } = validators
  const match = text(headers['if-match'])
  if (match !== null && !lists(match, tag, 'strong')) return { status: 412 }
  const unmodified = match === null ? seconds(headers['if-unmodified-since']) : null
  if (unmodified !== null && wholeSeconds(modifiedMs) > unmodified) return { status: 412 }
  if (isFresh(headers, validators)) return { status: 304 }
  const range = method === 'GET' ? text(headers.range) : null
  if (range === null || !isSame(text(headers['if-range']), validators)) return { status: 200 }
  const part = partOf(range, size)
  if (part === 'ignored') return { status: 200 }
  return part === null ? { status: 416 } : { status: 206, part }
}

/** Whether what the client holds is still right: `If-None-Match`, else `If-Modified-Since`. */
export function isFresh(
  headers: RequestHeaders,
  { tag, modifiedMs }: { tag: string; modifiedMs?: number },
): boolean {
  const noneMatch = text(headers['if-none-match'])
  if (noneMatch !== null) return lists(noneMatch, tag, 'weak')
  const since = seconds(headers['if-modified-since'])
  return since !== null && modifiedMs !== undefined && wholeSeconds(modifiedMs) <= since
}

function lists(header: string, tag: string, comparison: 'weak' | 'strong'): boolean {
  if (header.trim() === '*') return true
  const tags = header.match(/(?:W\/)?"[^"]*"/g) ?? []
  return tags.some(one =>
    comparison === 'weak' ? opaque(one) === opaque(tag) : isStrong(tag) && one === tag,
  )
}

const opaque = (tag: string) => tag.replace(/^W\//, '')
const isStrong = (tag: string) => !tag.startsWith('W/')

// A date is only as strong as its second, so it must be exactly the one that was given out.
function isSame(ifRange: string | null, { tag, modifiedMs }: Validators): boolean {
  if (ifRange === null) return true
  if (ifRange.includes('"')) return isStrong(tag) && ifRange.trim() === tag
  return seconds(ifRange) === wholeSeconds(modifiedMs)
}

/** Null when the range lies outside; `ignored` for other units, several ranges, and what is no range. */
function partOf(range: string, size: number): Part | null | 'ignored' {
  const [, first, last] = /^\s*bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i.exec(range) ?? []
  if (first === undefined || last === undefined || first + last === '') return 'ignored'
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? null : { start: size - length, end: size - 1 }
  }
  const start = Number(first)
  const end = last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (last !== '' && Number(last) < start) return 'ignored'
  return start >= size ? null : { start, end }
}

const text = (header: string | string[] | undefined): string | null =>
  header === undefined ? null : String(header)

function seconds(header: string | string[] | undefined): number | null {
  // Dates of HTTP are in GMT; JavaScript would take much else for a date.
  const said = text(header)
  if (said === null || !/gmt\s*$/i.test(said)) return null
  const ms = Date.parse(said)
  return Number.isNaN(ms) ? null : wholeSeconds(ms)
}

const wholeSeconds = (ms: number) => Math.floor(ms / 1000)
