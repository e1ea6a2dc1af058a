// Limits of JSON bodies: their length, derived from the longest body that a route's schema allows, and their
// structure.
import type { SchemaNode } from '../normalize.ts'
import type { Route } from '../route.ts'

/** Maximum for every route; limits free-form values and long lists. */
export const maxBodyBytes = 1024 * 1024
/** Enough for any body without lists and long texts, and the limit for callers who are not signed in. */
export const smallBodyBytes = 16 * 1024

// A character outside the basic plane as two escapes: \ud83d\ude00.
const maxCharacterBytes = 12
// Numbers, booleans, dates and ids.
const maxScalarBytes = 64
// Quotes, colon, comma and indentation of a member.
const memberBytes = 40

/**
 * Length limit in bytes. Parsing and validating a body blocks the event loop, so no route accepts more than
 * it needs.
 */
export function bodyLimit({ permission, body }: Pick<Route, 'permission' | 'body'>): number {
  if (permission === 'public' || !body) return smallBodyBytes
  return Math.max(smallBodyBytes, Math.min(longest(body as SchemaNode), maxBodyBytes))
}

/** Bytes of the longest valid value; infinite if unlimited. */
function longest(schema: SchemaNode): number {
  const { anyOf, type, properties, items, maxItems = Number.POSITIVE_INFINITY } = schema
  if (anyOf) return Math.max(...anyOf.map(longest))
  const types = [type].flat()
  if (types.includes('object')) {
    if (!properties || schema.additionalProperties !== false) return Number.POSITIVE_INFINITY
    const members = Object.entries(properties)
    return members.reduce((sum, [name, m]) => sum + name.length + memberBytes + longest(m), 0)
  }
  if (types.includes('array'))
    return items ? maxItems * (longest(items) + memberBytes) : Number.POSITIVE_INFINITY
  if (types.includes('string') && !schema.enum && schema.format === undefined)
    return (schema.maxLength ?? Number.POSITIVE_INFINITY) * maxCharacterBytes
  return type === undefined && !schema.enum ? Number.POSITIVE_INFINITY : maxScalarBytes
}

// Conditions, the deepest bodies, take two levels of JSON per level of their own.
const maxDepth = 200
// The longest condition has about 5,000, a collection's order 20,000; JSON.parse takes up to a microsecond
// for each.
const maxValues = 21_000
const [quote, backslash, comma] = [0x22, 0x5c, 0x2c]

/**
 * What makes a JSON text expensive to parse: more levels than any body needs (JSON.parse handles them slowly)
 * or more values. Null if nothing does.
 */
export function structureFault(json: string): string | null {
  let depth = 0
  let values = 1
  for (let i = 0; i < json.length; i++) {
    const code = json.charCodeAt(i)
    if (code === quote) i = endOfText(json, i)
    else if (code === comma) values++
    // [ and {, then ] and }.
    else if (code === 0x5b || code === 0x7b) {
      values++
      if (++depth > maxDepth) return 'The body is nested too deeply'
    } else if (code === 0x5d || code === 0x7d) depth--
    if (values > maxValues) return `The body has more than ${maxValues} values`
  }
  return null
}

/** The position of the closing quote of the string whose content begins at `start`. */
function endOfText(json: string, start: number): number {
  for (let end = start; ; ) {
    end = json.indexOf('"', end + 1)
    if (end === -1) return json.length
    let first = end
    while (json.charCodeAt(first - 1) === backslash) first--
    // An odd number of backslashes escapes the quote.
    if ((end - first) % 2 === 0) return end
  }
}
