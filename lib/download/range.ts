// Conditional and range requests for a file (RFC 9110, sections 13 and 14), and the ETags of files, derived from id, size and
// modification time, so that no content needs to be read.
import { hash } from 'node:crypto'

type Validators = { etag: string; modifiedMs: number; size: number }

/** Request headers as provided by Node. */
export type RequestHeaders = { [name: string]: string | string[] | undefined }

/** `start` and `end` are offsets, both inclusive. */
export type ByteRange = { start: number; end: number }

type Decision =
  | { status: 200 }
  | { status: 206; range: ByteRange }
  | { status: 304 }
  | { status: 412 }
  | { status: 416 }

/**
 * The status of a GET or HEAD request. A request for several ranges gets the whole file, and so does HEAD:
 * ranges are only defined for GET (§14.2).
 */
export function evaluateRequest(
  { method, headers }: { method: string; headers: RequestHeaders },
  validators: Validators,
): Decision {
  const { etag, modifiedMs, size } = validators
  const ifMatch = headerText(headers['if-match'])
  if (ifMatch !== null && !listsEtag(ifMatch, etag, 'strong')) return { status: 412 }
  const unmodifiedSince = ifMatch === null ? parseHttpDate(headers['if-unmodified-since']) : null
  if (unmodifiedSince !== null && wholeSeconds(modifiedMs) > unmodifiedSince) return { status: 412 }
  if (isFresh(headers, validators)) return { status: 304 }
  const header = method === 'GET' ? headerText(headers.range) : null
  if (header === null || !isSameVersion(headerText(headers['if-range']), validators))
    return { status: 200 }
  const range = parseRange(header, size)
  if (range === 'ignored') return { status: 200 }
  return range === null ? { status: 416 } : { status: 206, range }
}

/** Whether the client's copy is current, according to `If-None-Match`, else `If-Modified-Since`. */
export function isFresh(
  headers: RequestHeaders,
  { etag, modifiedMs }: { etag: string; modifiedMs?: number },
): boolean {
  const ifNoneMatch = headerText(headers['if-none-match'])
  if (ifNoneMatch !== null) return listsEtag(ifNoneMatch, etag, 'weak')
  const since = parseHttpDate(headers['if-modified-since'])
  return since !== null && modifiedMs !== undefined && wholeSeconds(modifiedMs) <= since
}

function listsEtag(header: string, etag: string, comparison: 'weak' | 'strong'): boolean {
  if (header.trim() === '*') return true
  const listed = header.match(/(?:W\/)?"[^"]*"/g) ?? []
  return listed.some(candidate =>
    comparison === 'weak'
      ? opaqueTag(candidate) === opaqueTag(etag)
      : isStrong(etag) && candidate === etag,
  )
}

const opaqueTag = (etag: string) => etag.replace(/^W\//, '')
const isStrong = (etag: string) => !etag.startsWith('W/')

// A date has a resolution of one second, so it must match the `Last-Modified` that was sent exactly.
function isSameVersion(ifRange: string | null, { etag, modifiedMs }: Validators): boolean {
  if (ifRange === null) return true
  if (ifRange.includes('"')) return isStrong(etag) && ifRange.trim() === etag
  return parseHttpDate(ifRange) === wholeSeconds(modifiedMs)
}

/** Null if the range lies outside the file; `ignored` for other units, several ranges and invalid syntax. */
function parseRange(header: string, size: number): ByteRange | null | 'ignored' {
  const [, first, last] = /^\s*bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})\s*$/i.exec(header) ?? []
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

const headerText = (header: string | string[] | undefined): string | null =>
  header === undefined ? null : String(header)

/** Seconds since 1970; null if it is not a date. */
function parseHttpDate(header: string | string[] | undefined): number | null {
  const text = headerText(header)
  // HTTP dates are in GMT; Date.parse would accept many other formats.
  if (text === null || !/gmt\s*$/i.test(text)) return null
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? null : wholeSeconds(ms)
}

const wholeSeconds = (ms: number) => Math.floor(ms / 1000)

/** A file at a point in time. */
export type FileVersion = { id: string; size: number; modifiedMs: number }

/** Incremented when the same request returns different bytes than in the previous release. */
export const contentVersion = 1

export const versionKey = ({ id, size, modifiedMs }: FileVersion): string =>
  `${id} ${size} ${modifiedMs}`

/** Strong ETag, with its quotes, of what `key` identifies. */
export const strongEtag = (key: string): string =>
  `"${hash('sha256', `${contentVersion} ${key}`, 'base64url').slice(0, 22)}"`

/** Strong ETag, with its quotes, of a whole file. */
export const fileEtag = (version: FileVersion): string => strongEtag(`file ${versionKey(version)}`)
