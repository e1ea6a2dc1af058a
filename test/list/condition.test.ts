// Parser of filter conditions.
import t from 'tap'
import { Invalid } from '../../lib/base/errors.ts'
import { parseBookFilter, parseSeriesFilter, predicatesOf } from '../../lib/list/condition.ts'
import {
  bookFields,
  type FieldKind,
  nullOperators,
  operators,
  seriesFields,
  textPartOperators,
} from '../../lib/list/fields.ts'

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

t.test('every operator is taken on every field, in upper and lower case ids', async t => {
  const values: Record<FieldKind, unknown> = {
    id: id.toUpperCase(),
    text: 'a',
    status: 'read',
    number: 1,
    date: '2024-05-01T10:00:00.5+02:00',
    boolean: false,
  }
  for (const [parse, fields] of [
    [parseBookFilter, bookFields],
    [(value: unknown) => parseSeriesFilter(value, { isAdmin: true }), seriesFields],
  ] as const)
    for (const [field, kind] of Object.entries(fields)) {
      const own = Object.entries<string>(operators[kind])
      for (const [operator, operands] of [
        ...own,
        ...nullOperators.map(name => [name, 'nothing']),
      ]) {
        const value = textPartOperators.includes(operator!) ? 'a' : values[kind]
        const tests: Record<string, object> = {
          nothing: {},
          value: { value },
          values: { values: [value] },
          range: {},
        }
        t.ok(parse({ [field]: { operator, ...tests[operands!] } }), `${field} ${operator}`)
      }
    }
  const specified = ['is', 'isNot', 'isNull', 'isNotNull', 'contains', 'beginsWith']
  for (const kind of ['id', 'text', 'status', 'boolean'] as const)
    for (const operator of specified)
      t.ok(operator in operators[kind] || nullOperators.includes(operator), `${kind} ${operator}`)
})

t.test('fields, operators and groups are accepted in snake_case', t => {
  const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  const values: Record<string, object> = {
    value: { value: 'true' },
    values: { values: [id] },
    range: {},
    nothing: {},
  }
  for (const [field, kind] of Object.entries(bookFields))
    for (const [operator, operands] of [
      ...Object.entries<string>(operators[kind]),
      ...nullOperators.map(name => [name, 'nothing'] as const),
    ]) {
      const value = { id, number: 1, date: '2024-05-01', status: 'read' }[kind as string] ?? 'true'
      const test = { ...values[operands], ...(operands === 'value' ? { value } : {}) }
      t.same(
        parseBookFilter({
          all_of: [{ any_of: [{ [snake(field)]: { operator: snake(operator), ...test } }] }],
        }),
        parseBookFilter({ allOf: [{ anyOf: [{ [field]: { operator, ...test } }] }] }),
        `${field} ${operator}`,
      )
    }
  t.same(
    parseBookFilter({ hasError: { operator: 'contains', value: true } }),
    parseBookFilter({ hasError: { operator: 'contains', value: 'true' } }),
  )
  t.end()
})

t.test('text operators on a status compare its word', async t => {
  const statuses = (operator: string, value?: string) => {
    const filter = parseBookFilter({ readStatus: { operator, value } })
    return predicatesOf(filter!.condition).map(({ test }) => test.kind === 'status' && test.status)
  }
  t.same(statuses('contains', 'READ'), ['unread', 'read'])
  t.same(statuses('doesNotContain', 'read'), ['in_progress'])
  t.same(statuses('beginsWith', ''), ['unread', 'in_progress', 'read'])
  t.same(statuses('endsWith', 's'), ['in_progress'])
  t.same(statuses('isNull'), [])
  t.same(statuses('isNotNull'), ['unread', 'in_progress', 'read'])
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
    [{ readStatus: { operator: 'between', value: 'read' } }, 'condition.readStatus.operator'],
    [{ readStatus: { operator: 'contains', value: 1 } }, 'condition.readStatus.value'],
    [{ readStatus: { operator: 'is', value: 'done' } }, 'condition.readStatus.value'],
    [{ libraryId: { operator: 'is', value: 'x' } }, 'must be a UUID'],
    [{ libraryId: { operator: 'in', values: Array(501).fill(id) } }, 'more than 500 values'],
    [{ pageCount: { operator: 'gt', value: '3' } }, 'must be a number'],
    [{ dateAdded: { operator: 'after', value: 'soon' } }, 'must be an ISO 8601 date'],
    [{ dateAdded: { operator: 'after', value: '2024-13-01' } }, 'must be an ISO 8601 date'],
    [{ dateAdded: { operator: 'before', value: '2023-02-29' } }, 'must be an ISO 8601 date'],
    [{ dateAdded: { operator: 'between', end: '2024-02-30T10:00' } }, 'must be an ISO 8601 date'],
    [{ hasError: { operator: 'is', value: 1 } }, 'must be true or false'],
    [{ inShelf: { operator: 'isTrue' } }, 'is not a field'],
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
