// One operator with its values, from JSON to a test that SQL is made of.
import { Invalid } from '../../errors.ts'
import {
  type FieldKind,
  longestValue,
  mostValues,
  neverNull,
  operators,
  type ReadStatus,
  rangeKeys,
  readStatuses,
} from './filter-fields.ts'

export type Bound = number | Date
export type Test =
  | { is: 'null' }
  | { is: 'text'; how: 'equal' | 'contains' | 'begins' | 'ends'; value: string }
  | { is: 'ids'; ids: string[] }
  | { is: 'status'; status: ReadStatus }
  | { is: 'boolean'; value: boolean }
  | { is: 'compare'; how: '=' | '<' | '<=' | '>' | '>='; value: Bound }
  | { is: 'between'; from: Bound | null; to: Bound | null }

type Parsed = { test: Test; negated: boolean; values?: number }

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const instant =
  /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})?)?$/i
const negations = ['isNot', 'notIn', 'doesNotContain', 'ne', 'isNotNull']
const comparisons = {
  eq: '=',
  ne: '=',
  is: '=',
  isNot: '=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  after: '>',
  onOrAfter: '>=',
  before: '<',
  onOrBefore: '<=',
} as const
const places = {
  is: 'equal',
  isNot: 'equal',
  contains: 'contains',
  doesNotContain: 'contains',
  beginsWith: 'begins',
  endsWith: 'ends',
} as const

/** Throws Invalid naming `at`. `values`: how many a list has. */
export function parseTest(kind: FieldKind, given: unknown, at: string): Parsed {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new Invalid(`${at} must be an object with an operator`)
  const { operator, ...rest } = given as Record<string, unknown>
  if (typeof operator !== 'string') throw new Invalid(`${at}.operator must be a text`)
  const known: Record<string, string> = operators[kind]
  const negated = negations.includes(operator)
  if ((operator === 'isNull' || operator === 'isNotNull') && !neverNull.includes(kind)) {
    // A value beside them says nothing; clients send null or an empty text.
    only(rest, ['value'], at)
    return { test: { is: 'null' }, negated }
  }
  if (!Object.hasOwn(known, operator))
    throw new Invalid(`${at}.operator is not one of ${Object.keys(known).join(', ')}`)
  return {
    ...read(kind, operator, { rest, at, takes: known[operator]! }),
    negated: negated && kind !== 'boolean',
  }
}

type Given = { rest: Record<string, unknown>; at: string; takes: string }

function read(
  kind: FieldKind,
  operator: string,
  { rest, at, takes }: Given,
): Omit<Parsed, 'negated'> {
  const { value } = rest
  const ends = kind === 'date' ? rangeKeys.date : rangeKeys.number
  only(rest, takes === 'range' ? ends : takes === 'values' ? ['values'] : ['value'], at)
  switch (kind) {
    case 'text':
      return {
        test: {
          is: 'text',
          how: places[operator as keyof typeof places],
          value: text(value, `${at}.value`),
        },
      }
    case 'id': {
      const ids = takes === 'values' ? list(rest.values, `${at}.values`) : [value]
      return { test: { is: 'ids', ids: ids.map(id => uuidOf(id, at)) }, values: ids.length }
    }
    case 'status':
      return { test: { is: 'status', status: statusOf(value, at) } }
    case 'boolean': {
      const said = takes === 'nothing' ? operator === 'isTrue' : booleanOf(value, at)
      return { test: { is: 'boolean', value: operator === 'isNot' ? !said : said } }
    }
    default: {
      const bound = kind === 'date' ? dateOf : numberOf
      if (takes === 'range') {
        const [from, to] = ends.map(end => {
          const given = rest[end] ?? null
          return given === null ? null : bound(given, `${at}.${end}`)
        })
        return { test: { is: 'between', from: from!, to: to! } }
      }
      const how = comparisons[operator as keyof typeof comparisons]
      return { test: { is: 'compare', how, value: bound(value, `${at}.value`) } }
    }
  }
}

function only(rest: Record<string, unknown>, allowed: readonly string[], at: string) {
  const other = Object.keys(rest).find(key => !allowed.includes(key))
  if (other !== undefined) throw new Invalid(`${at} must not have ${other.slice(0, 50)}`)
}

function text(value: unknown, at: string): string {
  if (typeof value !== 'string') throw new Invalid(`${at} must be a text`)
  if (value.length > longestValue)
    throw new Invalid(`${at} is longer than ${longestValue} characters`)
  if (value.includes('\0')) throw new Invalid(`${at} must not contain a null character`)
  return value.toWellFormed()
}

function list(values: unknown, at: string): unknown[] {
  if (!Array.isArray(values)) throw new Invalid(`${at} must be a list`)
  if (values.length > mostValues) throw new Invalid(`${at} has more than ${mostValues} values`)
  return values
}

function uuidOf(value: unknown, at: string): string {
  if (typeof value !== 'string' || !uuid.test(value)) throw new Invalid(`${at} must be a UUID`)
  return value.toLowerCase()
}

function statusOf(value: unknown, at: string): ReadStatus {
  const status = readStatuses.find(known => known === value)
  if (!status) throw new Invalid(`${at}.value is not one of ${readStatuses.join(', ')}`)
  return status
}

function booleanOf(value: unknown, at: string): boolean {
  if (value === true || value === 'true') return true
  if (value === false || value === 'false') return false
  throw new Invalid(`${at}.value must be true or false`)
}

function numberOf(value: unknown, at: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new Invalid(`${at} must be a number`)
  return value
}

function dateOf(value: unknown, at: string): Date {
  const date = typeof value === 'string' && instant.test(value) ? new Date(value) : null
  const year = date?.getUTCFullYear() ?? Number.NaN
  if (date === null || !(year >= 1 && year <= 9999))
    throw new Invalid(`${at} must be a time as 2024-05-01T12:00:00Z`)
  return date
}
