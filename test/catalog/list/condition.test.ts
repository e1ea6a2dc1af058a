// Parser of filter conditions.
import t from 'tap'
import { parseBookFilter, parseSeriesFilter } from '../../../lib/catalog/list/condition.ts'
import { Invalid } from '../../../lib/errors.ts'

const id = '01890000-0000-7000-8000-000000000000'

t.test('no condition gives null; every operator of the grammar is accepted', async t => {
  t.equal(parseBookFilter(undefined), null)
  t.equal(parseSeriesFilter(null), null)
  for (const condition of [
    { allOf: [] },
    { anyOf: [{ genre: { operator: 'is', value: 'Action' } }, { allOf: [] }] },
    { title: { operator: 'beginsWith', value: '%' } },
    { libraryId: { operator: 'in', values: [id, id.toUpperCase()] } },
    { pageCount: { operator: 'between', min: 3, max: null } },
    { dateAdded: { operator: 'onOrBefore', value: '2024-05-01' } },
    { hasError: { operator: 'is', value: 'true' } },
    { hasError: { operator: 'isFalse' } },
    { tag: { operator: 'isNotNull', value: null } },
    { readStatus: { operator: 'isNot', value: 'in_progress' } },
  ])
    t.ok(parseBookFilter(condition), JSON.stringify(condition))
  t.ok(parseSeriesFilter({ name: { operator: 'endsWith', value: 'x' } }))
})

t.test('everything else is rejected with the path of the node', async t => {
  const cases: [unknown, string][] = [
    [[], 'condition must be an object'],
    [{}, 'condition must have exactly one key'],
    [
      { genre: { operator: 'is', value: 'a' }, tag: { operator: 'is', value: 'b' } },
      'exactly one key',
    ],
    [{ allOf: {} }, 'condition.allOf must be an array'],
    [{ allOf: [{ anyOf: [{ gnere: {} }] }] }, 'condition.allOf[0].anyOf[0].gnere is not a field'],
    [
      { allOf: [{ title: { operator: 'is', value: 'a' } }, { genre: null }] },
      'condition.allOf[1].genre',
    ],
    [{ genre: { operator: 'like', value: 'a' } }, 'condition.genre.operator'],
    [{ genre: { operator: 'is' } }, 'condition.genre.value must be a string'],
    [{ genre: { operator: 'is', value: 'a\0' } }, 'condition.genre.value'],
    [{ genre: { operator: 'is', value: 'a'.repeat(501) } }, 'longer than 500'],
    [{ genre: { operator: 'is', value: 'a', also: 1 } }, 'must not have also'],
    [{ readStatus: { operator: 'contains', value: 'read' } }, 'condition.readStatus.operator'],
    [{ readStatus: { operator: 'is', value: 'done' } }, 'condition.readStatus.value'],
    [{ libraryId: { operator: 'is', value: 'x' } }, 'must be a UUID'],
    [{ libraryId: { operator: 'in', values: Array(501).fill(id) } }, 'more than 500 values'],
    [{ pageCount: { operator: 'gt', value: '3' } }, 'must be a number'],
    [{ dateAdded: { operator: 'after', value: 'soon' } }, 'must be an ISO 8601 date'],
    [{ dateAdded: { operator: 'after', value: '0000-01-01' } }, 'must be an ISO 8601 date'],
    [{ hasError: { operator: 'is', value: 1 } }, 'must be true or false'],
    [{ inReadList: { operator: 'isTrue' } }, 'is not a field'],
    [{ constructor: {} }, 'is not a field'],
    [{ genre: { operator: 'constructor' } }, 'condition.genre.operator'],
  ]
  for (const [condition, message] of cases) {
    t.throws(() => parseBookFilter(condition), Invalid, JSON.stringify(condition))
    t.throws(() => parseBookFilter(condition), {
      message: RegExp(message.replace(/[[\].]/g, '\\$&')),
    })
  }
})

t.test('depth and size are limited', async t => {
  const nested = (levels: number): object =>
    levels === 1 ? { allOf: [] } : { allOf: [nested(levels - 1)] }
  t.ok(parseBookFilter(nested(20)))
  t.throws(() => parseBookFilter(nested(21)), { message: /20 levels/ })
  const wide = (parts: number) => ({ anyOf: Array(parts).fill({ allOf: [] }) })
  t.ok(parseBookFilter(wide(499)))
  t.throws(() => parseBookFilter(wide(500)), { message: /500 parts/ })
})
