// Identifiers of an OPF package document: the ISBN, and others by scheme.
import { findIsbn, isbn13 } from './isbn.ts'
import type { Metadata } from './metadata.ts'
import type { MetadataStatements } from './opf-statements.ts'
import { singleLine } from './text.ts'
import type { Identifier } from './values.ts'
import { textOf, type XmlElement } from './xml.ts'

// ONIX code list 5, used by the refinement `identifier-type` with scheme `onix:codelist5`.
const onix: Record<string, string> = { '02': 'isbn', '03': 'gtin', '06': 'doi', '15': 'isbn' }

/**
 * The scheme comes from an attribute or refinement, from a prefix `urn:x:` or `x:`, or from the form of the
 * value.
 */
export function identifiersOf(
  statements: MetadataStatements,
  warnings: string[],
): Pick<Metadata, 'isbn' | 'identifiers'> {
  const identifiers = new Map<string, Identifier>()
  const add = (scheme: string, value: string) =>
    identifiers.set(`${scheme}:${value}`, { scheme, value })
  let isbn: string | undefined
  for (const element of statements.dc('identifier').slice(0, 100)) {
    const text = singleLine(textOf(element))
    if (text === undefined) continue
    const { scheme, value } = identifierOf(statements, element, text)
    const number = isbnOf(scheme, value)
    // URIs and DOIs contain more than the number.
    if (number === null || scheme === 'uri' || scheme === 'doi') add(scheme, value)
    if (number === null && scheme === 'isbn') warnings.push('the package contains an invalid ISBN')
    if (number === null) continue
    if (isbn === undefined) isbn = number
    else if (number !== isbn) add('isbn', number)
  }
  return { isbn, identifiers: identifiers.size > 0 ? [...identifiers.values()] : undefined }
}

/**
 * Ten digits are an ISBN only if the scheme is ISBN or absent; 13 with a valid check digit under any scheme.
 */
function isbnOf(scheme: string, value: string): string | null {
  if (scheme === 'isbn' || scheme === 'unknown') return isbn13(value) ?? findIsbn([value]) ?? null
  if (scheme === 'uri') return /isbn/i.test(value) ? (findIsbn([value]) ?? null) : null
  if (scheme === 'doi' || scheme === 'uuid') return null
  const digits = value.replace(/^0(?=\d{13}$)/, '')
  return /^\s*[a-z:\s]*97[89]/i.test(digits) ? isbn13(digits) : null
}

function identifierOf(
  { refined }: MetadataStatements,
  element: XmlElement,
  text: string,
): Identifier {
  if (/^https?:/i.test(text)) return { scheme: 'uri', value: text }
  const prefixed = /^(?:urn:)?([a-z][\w.-]{0,49}):\s*(\S.*)$/i.exec(text)
  const declared = element.attributes.get('scheme') ?? refined(element, 'identifier-type')
  const scheme = declared?.trim().toLowerCase().replace(/^.*:/, '')
  const prefix = prefixed?.[1]?.toLowerCase()
  // `ISBN 978…` with a space is also accepted as a prefix.
  if (/isbn/i.test(scheme ?? prefix ?? '') || /^[ep]?-?isbn\b/i.test(text))
    return { scheme: 'isbn', value: text.replace(/^urn:/i, '') }
  if (scheme !== undefined && scheme !== '') {
    const value = prefix === scheme ? (prefixed?.[2] ?? text) : text
    return { scheme: (onix[scheme] ?? scheme).slice(0, 50), value }
  }
  if (prefix !== undefined) return { scheme: prefix, value: prefixed?.[2] ?? text }
  const isUuid = /^\{?[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\}?$/i.test(text)
  return { scheme: isUuid ? 'uuid' : 'unknown', value: text }
}
