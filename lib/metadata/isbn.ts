// ISBN normalization.
import isbn3 from 'isbn3'

/** 13 digits without hyphens, or null when it is not a valid ISBN. Prefixes `urn:isbn:` and `ISBN` are ignored. */
export function isbn13(text: string): string | null {
  if (text.length > 100) return null
  const digits = text
    .normalize('NFKC')
    .replace(/^\s*(?:urn:)?(?:e?-?isbn(?:-?1[03])?)?[\s:]*/i, '')
    .replace(/[\s\u2010-\u2015\u2212-]/g, '')
  return /^(?:\d{13}|\d{9}[\dXx])$/.test(digits) ? isbn3.asIsbn13(digits.toUpperCase()) : null
}
