// Parser for filter conditions: from the JSON tree of a list request to a checked tree. Errors name the
// path of the offending node.
import { Invalid } from '../base/errors.ts'
import { lowerAscii } from '../media/name/text.ts'
import {
  keyOf,
  namedComparisons,
  namedTextOperators,
  operatorOf,
  wordComparisons,
} from './condition-operators.ts'
import {
  parseBoolean,
  parseDate,
  parseList,
  parseNumber,
  parseStatus,
  parseText,
  parseUuid,
} from './condition-values.ts'
import {
  bookFields,
  type FieldKind,
  maxConditionDepth,
  maxConditionNodes,
  maxListValues,
  operators,
  publicSeriesFields,
  type ReadStatus,
  rangeKeys,
  readStatuses,
  ruleFields,
  seriesFields,
} from './fields.ts'

export type Bound = number | Date
export type Test =
  | { kind: 'null' }
  | { kind: 'text'; operator: 'equals' | 'contains' | 'beginsWith' | 'endsWith'; value: string }
  | { kind: 'ids'; ids: string[] }
  | { kind: 'status'; status: ReadStatus }
  | { kind: 'boolean'; value: boolean }
  | { kind: 'compare'; operator: '=' | '<' | '<=' | '>' | '>='; value: Bound }
  | { kind: 'between'; from: Bound | null; to: Bound | null }
  | InnerTest

/** Tests that requests of the native API do not express, only those of other grammars. */
type InnerTest =
  /** One of these words, as they are stored. */
  | { kind: 'words'; words: readonly string[] }
  /** A regular expression over folded text that is safe to run: without repetition. */
  | { kind: 'pattern'; pattern: string }
  /** A word of a search text that this one may be, misspelled. */
  | { kind: 'similar'; word: string; isTitle: boolean }
  /** An author whose name and role are these; null for any. */
  | { kind: 'credit'; operator: 'equals' | 'contains'; name: string | null; role: string | null }
  /** A cover of a book; null for any source, selected or not. */
  | { kind: 'poster'; source: 'generated' | 'uploaded' | null; isSelected: boolean | null }

/** A test of one field; `negated` also accepts rows for which the test is unknown (null). */
export type Predicate = { field: string; test: Test; negated: boolean }
export type Condition = { all: Condition[] } | { any: Condition[] } | Predicate
/** A checked condition on books. */
export type BookFilter = { of: 'book'; condition: Condition }
/** A checked condition on series. */
export type SeriesFilter = { of: 'series'; condition: Condition }

/** Null without a condition. Throws Invalid. */
export function parseBookFilter(condition: unknown): BookFilter | null {
  if (condition === undefined || condition === null) return null
  return { of: 'book', condition: parse(condition, bookFields) }
}

/**
 * Null without a condition. Throws Invalid. Only administrators may filter by sharing tag: others
 * could use it to find out which tags exist. `isRule`: the fields of rules of collections.
 */
export function parseSeriesFilter(
  condition: unknown,
  { isAdmin = false, isRule = false } = {},
): SeriesFilter | null {
  if (condition === undefined || condition === null) return null
  const fields = isRule ? ruleFields : isAdmin ? seriesFields : publicSeriesFields
  return { of: 'series', condition: parse(condition, fields) }
}

/** All predicates of a condition. */
export function predicatesOf(condition: Condition): Predicate[] {
  if ('all' in condition) return condition.all.flatMap(predicatesOf)
  if ('any' in condition) return condition.any.flatMap(predicatesOf)
  return [condition]
}

type Fields = Record<string, FieldKind>
// In error messages.
const maxNameLength = 50
// An operator, its operands and a few unknown keys, which are named in the error.
const maxOperationKeys = 8

function parse(condition: unknown, fields: Fields): Condition {
  return parseNode({ fields, nodeCount: 0 }, condition, { path: 'condition', depth: 1 })
}

function parseNode(
  state: { fields: Fields; nodeCount: number },
  node: unknown,
  { path, depth }: { path: string; depth: number },
): Condition {
  if (depth > maxConditionDepth)
    throw new Invalid(`${path} is nested more than ${maxConditionDepth} levels deep`)
  if (++state.nodeCount > maxConditionNodes)
    throw new Invalid(`condition has more than ${maxConditionNodes} parts`)
  if (!isObject(node)) throw new Invalid(`${path} must be an object`)
  const keys = Object.keys(node)
  const [name] = keys
  if (name === undefined || keys.length > 1)
    throw new Invalid(`${path} must have exactly one key: allOf, anyOf or a field`)
  const value = node[name]
  const valuePath = `${path}.${name.slice(0, maxNameLength)}`
  const key = keyOf(state.fields, name)
  if (key === 'allOf' || key === 'anyOf') {
    if (!Array.isArray(value)) throw new Invalid(`${valuePath} must be an array of conditions`)
    const parts = value.map((part, i) =>
      parseNode(state, part, { path: `${valuePath}[${i}]`, depth: depth + 1 }),
    )
    return key === 'allOf' ? { all: parts } : { any: parts }
  }
  if (key === null)
    throw new Invalid(
      `${valuePath} is not a field; fields are ${Object.keys(state.fields).join(', ')}`,
    )
  const kind = state.fields[key]!
  const operation = operationOf(value, valuePath)
  const tests = parseWordTest(kind, operation, valuePath)
  if (tests) return { any: tests.map(test => ({ field: key, test, negated: false })) }
  const predicate = { field: key, ...parsePredicate(kind, operation, valuePath) }
  // Long lists count as several nodes, so that the limit cannot be evaded with them.
  if (predicate.test.kind === 'ids')
    state.nodeCount += Math.floor(predicate.test.ids.length / maxListValues)
  return key === 'path' ? withLowerCase(predicate) : predicate
}

/** Letters beyond ASCII are compared with case in paths: as the client wrote them, or in lower case. */
function withLowerCase(predicate: Predicate): Condition {
  const { test, negated } = predicate
  if (test.kind !== 'text') return predicate
  const value = test.value.toLowerCase()
  if (lowerAscii(test.value) === value) return predicate
  const both = [predicate, { ...predicate, test: { ...test, value } }]
  return negated ? { all: both } : { any: both }
}

type Operation = { operator: string; operands: Record<string, unknown> }

/** Throws Invalid. The number of operands is checked first, so that extreme objects are not copied. */
function operationOf(value: unknown, path: string): Operation {
  if (!isObject(value)) throw new Invalid(`${path} must be an object with an operator`)
  if (Object.keys(value).length > maxOperationKeys) throw new Invalid(`${path} has too many keys`)
  const { operator: name, ...operands } = value
  const operator = operatorOf(name)
  if (typeof operator !== 'string') throw new Invalid(`${path}.operator must be a string`)
  return { operator, operands }
}

// Kinds whose values are these words, which text operators compare.
const wordsOfKind: Partial<Record<FieldKind, readonly string[]>> = {
  status: readStatuses,
  boolean: ['true', 'false'],
}

/**
 * Tests of which one must hold, for an operator on the words of a kind: `contains "read"` is
 * `unread` or `read`. Null for the kinds and operators of parsePredicate.
 */
function parseWordTest(
  kind: FieldKind,
  { operator, operands }: Operation,
  path: string,
): Test[] | null {
  const words = wordsOfKind[kind]
  const isNullTest = operator === 'isNull' || operator === 'isNotNull'
  if (!words || (!isNullTest && !Object.hasOwn(wordComparisons, operator))) return null
  checkKeys(operands, ['value'], path)
  const { value } = operands
  const part = kind === 'boolean' && typeof value === 'boolean' ? String(value) : value
  const text = isNullTest ? '' : parseText(part, `${path}.value`).toLowerCase()
  const compare = wordComparisons[operator as keyof typeof wordComparisons]
  return words
    .filter(word => (isNullTest ? operator === 'isNotNull' : compare(word, text)))
    .map(word =>
      kind === 'status'
        ? { kind, status: word as ReadStatus }
        : { kind: 'boolean', value: word === 'true' },
    )
}

const negations = ['isNot', 'notIn', 'doesNotContain', 'ne', 'isNotNull']

function parsePredicate(
  kind: FieldKind,
  { operator, operands }: Operation,
  path: string,
): { test: Test; negated: boolean } {
  const negated = negations.includes(operator)
  if (operator === 'isNull' || operator === 'isNotNull') {
    // Clients send null or an empty string as its value, which has no meaning.
    checkKeys(operands, ['value'], path)
    return { test: { kind: 'null' }, negated }
  }
  const allowed: Record<string, string> = operators[kind]
  if (!Object.hasOwn(allowed, operator))
    throw new Invalid(`${path}.operator is not one of ${Object.keys(allowed).join(', ')}`)
  const arity = allowed[operator]!
  const rangeEnds = kind === 'date' ? rangeKeys.date : rangeKeys.number
  checkKeys(
    operands,
    arity === 'range' ? rangeEnds : arity === 'values' ? ['values'] : ['value'],
    path,
  )
  return {
    test: parseTest(kind, { operator, arity, operands, path }),
    negated: negated && kind !== 'boolean',
  }
}

type Operands = Operation & { arity: string; path: string }

function parseTest(kind: FieldKind, { operator, arity, operands, path }: Operands): Test {
  const { value } = operands
  const valuePath = `${path}.value`
  if (kind === 'text' || (kind === 'id' && Object.hasOwn(wordComparisons, operator)))
    return {
      kind: 'text',
      operator: namedTextOperators[operator as keyof typeof namedTextOperators],
      value: parseText(value, valuePath),
    }
  switch (kind) {
    case 'id': {
      const ids = arity === 'values' ? parseList(operands.values, `${path}.values`) : [value]
      return { kind: 'ids', ids: ids.map(id => parseUuid(id, path)) }
    }
    case 'status':
      return { kind: 'status', status: parseStatus(value, valuePath) }
    case 'boolean': {
      const isTrue = arity === 'nothing' ? operator === 'isTrue' : parseBoolean(value, valuePath)
      return { kind: 'boolean', value: operator === 'isNot' ? !isTrue : isTrue }
    }
    case 'number':
    case 'date': {
      const parseBound = kind === 'date' ? parseDate : parseNumber
      if (arity !== 'range')
        return {
          kind: 'compare',
          operator: namedComparisons[operator as keyof typeof namedComparisons],
          value: parseBound(value, valuePath),
        }
      const [from, to] = rangeKeys[kind].map(end => {
        const bound = operands[end] ?? null
        return bound === null ? null : parseBound(bound, `${path}.${end}`)
      })
      return { kind: 'between', from: from!, to: to! }
    }
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function checkKeys(operands: Record<string, unknown>, allowed: readonly string[], path: string) {
  const other = Object.keys(operands).find(key => !allowed.includes(key))
  if (other !== undefined) throw new Invalid(`${path} must not have ${other.slice(0, 50)}`)
}

export const conjuncts = (condition: Condition | null): readonly Condition[] =>
  condition === null ? [] : 'all' in condition ? condition.all.flatMap(conjuncts) : [condition]

/** Undefined for none or several. */
export function onlyId(condition: Condition | null, field: string): string | undefined {
  for (const part of conjuncts(condition)) {
    const ids = idsOf(part, field)
    if (ids?.length === 1) return ids[0]
  }
  return undefined
}

/** The ids that a part allows for a field; null for another part. */
export function idsOf(part: Condition, field: string): readonly string[] | null {
  if (!('field' in part) || part.field !== field || part.negated) return null
  return part.test.kind === 'ids' ? part.test.ids : null
}
