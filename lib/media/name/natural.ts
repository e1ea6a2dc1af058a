// Natural sort order: a comparator, and a sort key with the same byte order.
//
// Runs of digits are compared as integers of any length, and other characters folded (case, accents, width)
// by code point; `/` sorts before everything, so that the files of a folder precede those of `folder 2/`.
import { asciiDigits } from './text.ts'

const marks = /[\u0300-\u036f]/g
const nonAscii = /[^\0-\x7f]/
const control = /[\0-\x1f\x7f]/g
const numbersAndControl = /\d+|[\0-\x1f/\x7f]/g

/** Total order of names: -1, 0 or 1. Texts with the same key (`A 01`, `a 1`) are ordered by code unit. */
export function naturalCompare(a: string, b: string): number {
  if (a === b) return 0
  return Buffer.compare(Buffer.from(sortKey(a)), Buffer.from(sortKey(b))) || (a < b ? -1 : 1)
}

/** Order of file names: by stem, so `1.cbz` precedes `1.5.cbz`; the extension only breaks ties. */
export const compareFileNames = (a: string, b: string): number =>
  naturalCompare(stemOf(a), stemOf(b)) || naturalCompare(a, b)

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
  return folded.replace(numbersAndControl, token => {
    if (token === '/') return '\x01'
    // Postgres text cannot contain NUL.
    if (token < '0' || token > ':') return '\x02'
    const digits = token.replace(/^0+/, '')
    return lengthPrefix(digits.length) + digits
  })
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

function stemOf(name: string): string {
  const dot = name.lastIndexOf('.')
  return dot > 0 ? name.slice(0, dot) : name
}
