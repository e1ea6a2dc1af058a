// Naive evaluator of conditions, and random conditions and contexts for it.
import type { Conditions } from '../../lib/condition/condition.ts'
import { pick, type Random } from '../template/random.ts'

type Rule = Conditions['rules'][number]
type Json = Record<string, never>

/** Values of the fields, read from the context without paths. */
const fields: Readonly<Record<string, (context: Json) => unknown>> = {
  type: c => c.type,
  seriesId: c => c.seriesId,
  series_id: c => c.seriesId,
  bookCount: c => c.bookCount,
  book_count: c => c.bookCount,
  'externalIds.count': c => Object.keys(c.externalIds).length,
  'external_ids.count': c => Object.keys(c.externalIds).length,
  'externalIds.plugin:a_b': c => idOf(c, 'plugin:a_b'),
  'external_ids.plugin:a_b': c => idOf(c, 'plugin:a_b'),
  'externalIds.plugin:a_b.url': c => (c.externalIds['plugin:a_b'] as Json | undefined)?.url,
  'metadata.title': c => (c.metadata as Json).title,
  'metadata.reading_direction': c => (c.metadata as Json).readingDirection,
  'metadata.readingDirection': c => (c.metadata as Json).readingDirection,
  'metadata.genres': c => (c.metadata as Json).genres,
  'metadata.year': c => (c.metadata as Json).year,
  'metadata.titleLock': c => (c.metadata as Json).titleLock,
  'metadata.title_lock': c => (c.metadata as Json).titleLock,
  'metadata.authors.name': c => ((c.metadata as Json).authors as Json[]).map(author => author.name),
  'metadata.nothing': () => undefined,
  'metadata.constructor': () => undefined,
  'customMetadata.read_by.who': c => ((c.customMetadata as Json | null)?.read_by as Json)?.who,
  'custom_metadata.read_by.who': c => ((c.customMetadata as Json | null)?.read_by as Json)?.who,
  'customMetadata.readBy': () => undefined,
}
const idOf = (context: Json, source: string) =>
  (context.externalIds[source] as Json | undefined)?.id

export function evaluateNaively({ mode, rules }: Conditions, context: unknown): boolean {
  const results = rules.map(rule => holds(rule, fields[rule.field]!(context as Json)))
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
const operators = [
  ...['is_null', 'is_not_null', 'equals', 'not_equals', 'gt', 'gte', 'lt', 'lte', 'contains'],
  ...['not_contains', 'starts_with', 'ends_with', 'matches', 'in', 'not_in'],
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
