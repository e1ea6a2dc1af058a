// Conditions: operators, null values, lists, paths, limits, and comparison with a naive evaluator.
import t from 'tap'
import { type Conditions, checkConditions, compileConditions } from '../../lib/match/condition.ts'
import { cpuMs } from '../kit/cpu-time.ts'
import { createRandom } from '../kit/random.ts'
import { evaluateNaively, operators, randomConditions, randomContext } from './naive.ts'
import { worstValues } from './worst.ts'

const context = {
  type: 'series',
  bookCount: 3,
  customMetadata: { shelf: { name: 'A', tags: ['x'] } },
  externalIds: { 'plugin:a': { id: '42', url: null, hash: null } },
  metadata: {
    title: 'Åland',
    genres: ['Action'],
    authors: [{ name: 'Oda', role: 'writer' }],
    year: 1997,
  },
}
const holds = (field: string, operator: string, value?: unknown) =>
  compileConditions({ mode: 'all', rules: [{ field, operator, value } as never] })(context)

t.test('operators', async t => {
  const cases: [field: string, operator: string, value: unknown, expected: boolean][] = [
    ['metadata.title', 'equals', 'Åland', true],
    ['metadata.title', 'equals', 'åland', false],
    ['metadata.year', 'equals', '1997', true],
    ['metadata.year', 'gt', '1996.5', true],
    ['book_count', 'lte', 3, true],
    ['metadata.title', 'gt', 1, false],
    ['metadata.genres', 'contains', 'Action', true],
    ['metadata.genres', 'contains', 'Act', false],
    ['metadata.genres', 'not_contains', 'Drama', true],
    ['metadata.genres', 'in', ['Drama', 'Action'], true],
    ['metadata.genres', 'equals', ['Action'], true],
    ['metadata.authors.name', 'contains', 'Oda', true],
    ['metadata.authors', 'contains', { role: 'writer', name: 'Oda' }, true],
    ['metadata.title', 'contains', 'lan', true],
    ['metadata.title', 'matches', '^.l', true],
    ['metadata.summary', 'is_null', undefined, true],
    ['metadata.summary', 'not_equals', 'x', true],
    ['metadata.summary', 'not_contains', 'x', true],
    ['metadata.summary', 'not_in', ['x'], true],
    ['metadata.summary', 'contains', '', false],
    ['externalIds.count', 'equals', 1, true],
    ['external_ids.plugin:a', 'starts_with', '4', true],
    ['external_ids.plugin:b', 'is_null', null, true],
    ['customMetadata.shelf.name', 'equals', 'A', true],
    ['customMetadata.shelf.tags.0', 'equals', 'x', true],
    ['customMetadata.shelf.constructor', 'is_null', null, true],
  ]
  for (const [field, operator, value, expected] of cases)
    t.equal(
      holds(field, operator, value),
      expected,
      `${field} ${operator} ${JSON.stringify(value)}`,
    )
})

t.test('conditions hold as by the naive evaluator', async t => {
  const random = createRandom(11).next
  const failures: unknown[] = []
  const results = new Set<boolean>()
  for (let i = 0; i < 10_000; i++) {
    const conditions = randomConditions(random)
    const value = randomContext(random)
    const expected = evaluateNaively(conditions, value)
    results.add(expected)
    if (compileConditions(conditions)(value) !== expected)
      failures.push({ conditions, value, expected })
  }
  t.same(failures.slice(0, 3), [])
  t.same(results, new Set([true, false]))
})

t.test('invalid conditions name the rule', async t => {
  const check = (...rules: object[]) => checkConditions({ rules } as Conditions, 'conditions')
  const ok = { field: 'type', operator: 'is_null' }
  t.same(check(ok), { mode: 'all', rules: [ok] })
  const pattern = (value: string) => ({ field: 'type', operator: 'matches', value })
  t.throws(() => check(ok, pattern('(')), {
    message: /conditions\.rules\[1\] is not a valid regular/,
  })
  t.throws(() => check(pattern('(?=a)')), { message: /not a valid regular/ })
  t.throws(() => check(...['a{800}', 'b{800}', 'c{800}'].map(pattern)), {
    message: /together are too large/,
  })
  t.throws(() => check(pattern('(?:[a-z ]?){990}(?:[a-z ]?){990}[0-9]')), { message: /too large/ })
  t.throws(() => check({ ...ok, operator: 'in', value: 'x' }), {
    message: /rules\[0\]: in requires a list/,
  })
})

t.test('patterns read the beginning of long texts', async t => {
  const rules = [{ field: 'metadata.title', operator: 'matches' as const, value: '(?:x{10}){50}!' }]
  const isMatched = (length: number) =>
    compileConditions({ rules })({ metadata: { title: `${'x'.repeat(length)}!` } })
  t.ok(isMatched(900))
  t.notOk(isMatched(1_000_000))
})

t.test('no operator takes long with any values', async t => {
  const pattern = '(?:[a-z ]?){440}[0-9]'
  const expectedBy = (operator: string) => {
    if (operator === 'matches') return [pattern]
    if (operator === 'is_null') return [null]
    return worstValues.map(value => (operator.endsWith('in') ? [value].flat() : value))
  }
  for (const operator of operators) {
    const slow = worstValues.flatMap(value =>
      expectedBy(operator).filter(expected => {
        const rule = { field: 'customMetadata.value', operator, value: expected }
        const count = operator === 'matches' ? 2 : 100
        const holds = compileConditions({
          mode: operator.startsWith('not') || operator === 'is_null' ? 'all' : 'any',
          rules: Array.from({ length: count }, () => rule),
        })
        return cpuMs(() => void holds({ customMetadata: { value } })) > 150
      }),
    )
    t.equal(slow.length, 0, operator)
  }
})
