// ISBNs as people and programs write them.
import isbn3 from 'isbn3'

/** 13 digits without hyphens, or null when the check digit or the shape is wrong. `urn:isbn:` and `ISBN` are passed over. */
export function isbn13(text: string): string | null {
  if (text.length > 100) return null
  const bare = text
    .normalize('NFKC')
    .replace(/^\s*(?:urn:)?(?:e?-?isbn(?:-?1[03])?)?[\s:]*/i, '')
    .replace(/[\s\u2010-\u2015\u2212-]/g, '')
  return /^(?:\d{13}|\d{9}[\dXx])$/.test(bare) ? isbn3.asIsbn13(bare.toUpperCase()) : null
}
