// Natural sort order: a comparator, and a sort key with the same byte order.
//
// Runs of digits are compared as integers of any length, and other characters folded (case, accents, width)
// by code point; `/` sorts before everything, so that the files of a folder precede those of `folder 2/`.
import { asciiDigits } from './text.ts'

// Weight of each ASCII character: `/` 1, control characters 2 (Postgres text cannot contain NUL), letters in
// lowercase.
const weights = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code === 0x2f) return 1
  if (code < 0x20 || code === 0x7f) return 2
  return code >= 0x41 && code <= 0x5a ? code + 32 : code
})
const marks = /[\u0300-\u036f]/g
const nonAscii = /[^\0-\x7f]/
const control = /[\0-\x1f\x7f]/g

/**
 * Total order of names: -1, 0 or 1. Texts with the same key (`A 01`, `a 1`) are ordered by code unit, so 0
 * means equal texts. About 2 M comparisons/s for ASCII names of 60 characters, 0.2 M/s otherwise: sort those
 * by a precomputed `sortKey`.
 */
export function naturalCompare(a: string, b: string): number {
  let i = 0
  let j = 0
  while (i < a.length && j < b.length) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(j)
    if (x > 0x7f || y > 0x7f) return compareKeys(a, b)
    if (isDigit(x) && isDigit(y)) {
      const endA = endOfDigits(a, i)
      const endB = endOfDigits(b, j)
      // A digit of another script may continue the number, which requires folding.
      if (a.charCodeAt(endA) > 0x7f || b.charCodeAt(endB) > 0x7f) return compareKeys(a, b)
      const order = compareDigits(a, skipZeros(a, i, endA), endA, b, skipZeros(b, j, endB), endB)
      if (order !== 0) return order
      i = endA
      j = endB
      continue
    }
    const order = weights[x]! - weights[y]!
    if (order !== 0) return order < 0 ? -1 : 1
    i++
    j++
  }
  if (a.charCodeAt(i) > 0x7f || b.charCodeAt(j) > 0x7f) return compareKeys(a, b)
  if (i < a.length) return 1
  return j < b.length ? -1 : compareUnits(a, b)
}

/** Order of file names: by stem, so `1.cbz` precedes `1.5.cbz`; the extension only breaks ties. */
export function compareFileNames(a: string, b: string): number {
  return naturalCompare(stemOf(a), stemOf(b)) || naturalCompare(a, b)
}

/** A sorted copy in the order of file names or paths; `nameOf` is called once per item. */
export function sortByFileName<T>(items: readonly T[], nameOf: (item: T) => string): T[] {
  return items
    .map(item => {
      const name = nameOf(item)
      return { item, name, key: sortKey(stemOf(name)) }
    })
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : compareFileNames(a.name, b.name)))
    .map(({ item }) => item)
}

/**
 * A key whose byte order (UTF-8, Postgres collate "C") is the natural order; texts that differ only in case,
 * accents or leading zeros have the same key. Well-formed, without NUL. Numbers are encoded as `<count of
 * digits><digits>`, with nine or more digits as `9<count of digits of the count><count><digits>`.
 */
export function sortKey(text: string): string {
  const folded = nonAscii.test(text) ? fold(text) : text.toLowerCase()
  let key = ''
  let from = 0
  for (let i = 0; i < folded.length; i++) {
    const code = folded.charCodeAt(i)
    if (code > 0x39 && code !== 0x7f) continue
    if (isDigit(code)) {
      const end = endOfDigits(folded, i)
      const start = skipZeros(folded, i, end)
      key += folded.slice(from, i) + lengthPrefix(end - start)
      from = start
      i = end - 1
    } else if (code === 0x2f || code < 0x20 || code === 0x7f) {
      key += folded.slice(from, i) + String.fromCharCode(weights[code]!)
      from = i + 1
    }
  }
  return key === '' ? folded : key + folded.slice(from)
}

function lengthPrefix(length: number): string {
  if (length < 9) return String.fromCharCode(0x30 + length)
  const count = String(length)
  return `9${count.length}${count}`
}

// Only an original `/` separates folders; NFKD maps U+FF0F and U+2100 to `/`.
function fold(text: string): string {
  return text
    .split('/')
    .map(part => foldPart(part))
    .join('/')
}

function foldPart(part: string): string {
  const plain = part
    .replace(control, '\x02')
    .toWellFormed()
    .normalize('NFKD')
    .replaceAll('/', '\u2044')
  return asciiDigits(plain.replace(marks, '').toLowerCase().replaceAll('ς', 'σ')).normalize('NFC')
}

function compareKeys(a: string, b: string): number {
  const x = sortKey(a)
  const y = sortKey(b)
  if (x === y) return compareUnits(a, b)
  let i = 0
  while (i < x.length && i < y.length && x.charCodeAt(i) === y.charCodeAt(i)) i++
  if (i === x.length) return -1
  if (i === y.length) return 1
  return utf8Rank(x.charCodeAt(i)) < utf8Rank(y.charCodeAt(i)) ? -1 : 1
}

// UTF-16 sorts surrogates before U+E000, UTF-8 after U+FFFF.
function utf8Rank(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit
}

function compareDigits(a: string, i: number, endA: number, b: string, j: number, endB: number) {
  if (endA - i !== endB - j) return endA - i < endB - j ? -1 : 1
  for (; i < endA; i++, j++) {
    const order = a.charCodeAt(i) - b.charCodeAt(j)
    if (order !== 0) return order < 0 ? -1 : 1
  }
  return 0
}

function compareUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39
}

function endOfDigits(text: string, i: number): number {
  while (i < text.length && isDigit(text.charCodeAt(i))) i++
  return i
}

function skipZeros(text: string, i: number, end: number): number {
  while (i < end && text.charCodeAt(i) === 0x30) i++
  return i
}

function stemOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(0, dot) : name
}
