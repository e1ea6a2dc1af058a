// Normalizes ISBNs and finds them in text.
import { createRequire } from 'node:module'
import { lazy } from '../../base/lazy.ts'

const require = createRequire(import.meta.url)
const isbn3 = lazy<typeof import('isbn3')>(() => require('isbn3'))

const scheme = /^\s*(?:urn:)?(?:[ep]?-?isbn|ean|gtin|upc)?(?:[-_ ]?1[034](?=[\s:#]))?[\s:#]*/i

/**
 * 13 digits without hyphens, or null if it is not a valid ISBN. Ignores prefixes such as `urn:isbn:`,
 * `ISBN-13` and `EAN`.
 */
export function isbn13(text: string): string | null {
  if (text.length > 100) return null
  const digits = text
    .normalize('NFKC')
    .replace(scheme, '')
    .replace(/[\s\u2010-\u2015\u2212-]/g, '')
  return /^(?:\d{13}|\d{9}[\dXx])$/.test(digits) ? isbn3().asIsbn13(digits.toUpperCase()) : null
}

const candidate =
  /(?:isbn(?:[-_\s]*1[03](?=[\s:#]))?[\s:#/=]*)(\d[\d\s-]{8,16}[\dxX])|(?<!\d)0?(97[89][\d\s-]{9,14}\d)/gi

/**
 * The first ISBN in the texts. Ten digits only count after the word `ISBN`: otherwise phone numbers would
 * match.
 */
export function findIsbn(texts: readonly (string | undefined)[]): string | undefined {
  for (const text of texts) {
    const whole = (text ?? '').slice(0, 65_536).replace(/[\u2010-\u2015\u2212]/g, '-')
    for (const match of whole.matchAll(candidate)) {
      const isbn = firstValid(match[1] ?? match[2] ?? '')
      if (isbn) return isbn
    }
  }
  return undefined
}

// A price or an add-on code may directly follow the number.
function firstValid(text: string): string | null {
  const digits = text.replace(/[\s-]/g, '')
  return isbn13(digits) ?? isbn13(digits.slice(0, 13)) ?? isbn13(digits.slice(0, 10))
}
