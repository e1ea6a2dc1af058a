// The condition tree of list requests, from JSON to checked values. Everything that is not in the
// grammar is refused with the place where it stands.
import { Invalid } from '../../errors.ts'
import {
  bookFields,
  type FieldKind,
  mostNodes,
  mostValues,
  openSeriesFields,
  seriesFields,
  topDepth,
} from './filter-fields.ts'
import { parseTest, type Test } from './filter-test.ts'

export type Leaf = { field: string; test: Test; negated: boolean }
export type Condition = { all: Condition[] } | { any: Condition[] } | Leaf
/** A checked condition on books. */
export type BookFilter = { of: 'book'; condition: Condition }
/** A checked condition on series. */
export type SeriesFilter = { of: 'series'; condition: Condition }

/** Throws Invalid; absent is null. */
export function parseBookFilter(condition: unknown): BookFilter | null {
  if (condition === undefined || condition === null) return null
  return { of: 'book', condition: parse(condition, bookFields) }
}

/**
 * Throws Invalid; absent is null. Only for an `admin` sharing tags are a field: others could find out
 * by it which tags there are.
 */
export function parseSeriesFilter(condition: unknown, { admin = false } = {}): SeriesFilter | null {
  if (condition === undefined || condition === null) return null
  return {
    of: 'series',
    condition: parse(condition, admin ? seriesFields : openSeriesFields),
  }
}

type Fields = Record<string, FieldKind>
type Parsing = { fields: Fields; nodes: number }
type Place = { path: string; depth: number }

function parse(condition: unknown, fields: Fields): Condition {
  return parseNode({ fields, nodes: 0 }, condition, { path: 'condition', depth: 1 })
}

function parseNode(parsing: Parsing, given: unknown, { path, depth }: Place): Condition {
  if (depth > topDepth) throw new Invalid(`${path} is nested more than ${topDepth} levels deep`)
  if (++parsing.nodes > mostNodes) throw new Invalid(`condition has more than ${mostNodes} parts`)
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new Invalid(`${path} must be an object`)
  const keys = Object.keys(given)
  const [key] = keys
  if (key === undefined || keys.length > 1)
    throw new Invalid(`${path} must have exactly one key: allOf, anyOf or a field`)
  const value: unknown = (given as Record<string, unknown>)[key]
  const at = `${path}.${key}`
  if (key === 'allOf' || key === 'anyOf') {
    if (!Array.isArray(value)) throw new Invalid(`${at} must be a list of conditions`)
    const parts = value.map((part, i) =>
      parseNode(parsing, part, { path: `${at}[${i}]`, depth: depth + 1 }),
    )
    return key === 'allOf' ? { all: parts } : { any: parts }
  }
  if (!Object.hasOwn(parsing.fields, key))
    throw new Invalid(`${at} is not a field; there are ${Object.keys(parsing.fields).join(', ')}`)
  const { values = 0, ...leaf } = parseTest(parsing.fields[key]!, value, at)
  // Long lists count, so that many of them cannot hide in few parts.
  parsing.nodes += Math.floor(values / mostValues)
  return { field: key, ...leaf }
}
