// Naive evaluator of conditions, and random conditions and contexts for it.
import type { Conditions } from '../../lib/match/condition.ts'
import { pick, type Random } from '../sources/template/random.ts'

type Rule = Conditions['rules'][number]

const at = (value: unknown, ...keys: string[]): unknown =>
  keys.reduce<unknown>((v, key) => (v as Record<string, unknown> | null | undefined)?.[key], value)
const idCount = (context: unknown) => Object.keys(at(context, 'externalIds') as object).length
const authors = (context: unknown) => at(context, 'metadata', 'authors') as { name: string }[]

/** Values of the fields, each read from its place in the context. */
const fields: Readonly<Record<string, (context: unknown) => unknown>> = {
  type: c => at(c, 'type'),
  seriesId: c => at(c, 'seriesId'),
  series_id: c => at(c, 'seriesId'),
  bookCount: c => at(c, 'bookCount'),
  book_count: c => at(c, 'bookCount'),
  'externalIds.count': idCount,
  'external_ids.count': idCount,
  'externalIds.plugin:a_b': c => at(c, 'externalIds', 'plugin:a_b', 'id'),
  'external_ids.plugin:a_b': c => at(c, 'externalIds', 'plugin:a_b', 'id'),
  'externalIds.plugin:a_b.url': c => at(c, 'externalIds', 'plugin:a_b', 'url'),
  'metadata.title': c => at(c, 'metadata', 'title'),
  'metadata.reading_direction': c => at(c, 'metadata', 'readingDirection'),
  'metadata.readingDirection': c => at(c, 'metadata', 'readingDirection'),
  'metadata.genres': c => at(c, 'metadata', 'genres'),
  'metadata.year': c => at(c, 'metadata', 'year'),
  'metadata.titleLock': c => at(c, 'metadata', 'titleLock'),
  'metadata.title_lock': c => at(c, 'metadata', 'titleLock'),
  'metadata.authors.name': c => authors(c).map(author => author.name),
  'metadata.nothing': () => undefined,
  'metadata.constructor': () => undefined,
  'customMetadata.read_by.who': c => at(c, 'customMetadata', 'read_by', 'who'),
  'custom_metadata.read_by.who': c => at(c, 'customMetadata', 'read_by', 'who'),
  'customMetadata.readBy': () => undefined,
}

export function evaluateNaively({ mode, rules }: Conditions, context: unknown): boolean {
  const results = rules.map(rule => holds(rule, fields[rule.field]!(context)))
  if (results.length === 0) return true
  return mode === 'any' ? results.includes(true) : !results.includes(false)
}

const negated: Readonly<Record<string, string>> = {
  is_not_null: 'is_null',
  not_equals: 'equals',
  not_contains: 'contains',
  not_in: 'in',
}

function holds({ operator, value: expected, ...rule }: Rule, value: unknown): boolean {
  const positive = negated[operator]
  if (positive) return !holds({ ...rule, operator: positive as never, value: expected }, value)
  const empty = JSON.stringify(value ?? null)
  if (operator === 'is_null') return empty === 'null' || empty === '""' || empty === '[]'
  if (empty === 'null' || empty === '""' || empty === '[]') return false
  const elements = Array.isArray(value) ? value : [value]
  const isText = (item: unknown) => ['string', 'number', 'boolean'].includes(typeof item)
  const expectedText = isText(expected) || expected === '' ? `${expected}` : null
  const anyText = (test: (text: string, part: string) => boolean) =>
    expectedText !== null && elements.some(item => isText(item) && test(`${item}`, expectedText))
  switch (operator) {
    case 'equals':
      return same(value, expected)
    case 'contains':
      if (Array.isArray(value)) return value.some(item => same(item, expected))
      return anyText((text, part) => text.includes(part))
    case 'in':
      return Array.isArray(expected) && elements.some(a => expected.some(b => same(a, b)))
    case 'starts_with':
      return anyText((text, part) => text.slice(0, part.length) === part)
    case 'ends_with':
      return anyText((text, part) => part === '' || text.slice(-part.length) === part)
    case 'matches':
      return anyText((text, part) => new RegExp(part).test(text))
    default: {
      const [a, b] = [toNumber(value), toNumber(expected)]
      if (a === null || b === null) return false
      return { gt: a > b, gte: a >= b, lt: a < b, lte: a <= b }[operator as 'gt']
    }
  }
}

function toNumber(value: unknown): number | null {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || !/^\s*-?\d+(\.\d+)?\s*$/.test(value)) return null
  return Number.parseFloat(value)
}

function same(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' || typeof b === 'number')
    return toNumber(a) !== null && toNumber(a) === toNumber(b)
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => same(item, b[i]))
  return JSON.stringify(a) === JSON.stringify(b)
}

const texts = [
  '',
  'ltr',
  'One Piece',
  'one piece',
  'Piece',
  'Action',
  '7',
  '7.0',
  ' 7 ',
  'true',
  'x',
]
const values = [...texts, 7, 7.5, -1, 0, true, false, null, [], ['Action'], ['Action', 7], { a: 1 }]
const patterns = ['^One', 'piece$', '[0-9]+', '^(a|b)*$', '.', 'A.t', '^$']
export const operators = [
  ...(['is_null', 'is_not_null', 'equals', 'not_equals', 'gt', 'gte', 'lt', 'lte'] as const),
  ...(['contains', 'not_contains', 'starts_with', 'ends_with', 'matches', 'in', 'not_in'] as const),
]

export function randomConditions(random: Random): Conditions {
  const rules = Array.from({ length: Math.floor(random() * 5) }, () => {
    const operator = pick(random, operators)
    const items = () => Array.from({ length: 3 }, () => pick(random, values))
    const value =
      operator === 'matches'
        ? pick(random, patterns)
        : operator === 'in' || operator === 'not_in'
          ? items()
          : pick(random, values)
    return { field: pick(random, Object.keys(fields)), operator: operator as never, value }
  })
  return { mode: pick(random, ['all', 'any'] as const), rules }
}

export function randomContext(random: Random): unknown {
  const some = (choices: readonly unknown[]) => pick(random, choices)
  return {
    type: 'series',
    seriesId: some([null, 'One Piece']),
    bookCount: some([0, 7, 8]),
    customMetadata: some([null, {}, { read_by: { who: pick(random, values) } }]),
    externalIds: some([
      {},
      { 'plugin:a_b': { id: some(texts), url: some([null, 'x']), hash: null } },
    ]),
    metadata: {
      title: some(texts),
      ...(random() < 0.5 ? { readingDirection: some([null, 'ltr']) } : {}),
      genres: some([[], ['Action'], ['Action', '7'], ['action', 'x']]),
      year: some([null, 7, 2001]),
      titleLock: some([true, false]),
      authors: some([[], [{ name: 'One Piece' }, { name: 'x', role: null }]]),
    },
  }
}
