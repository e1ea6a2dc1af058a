// Rules of collections in the form of the web application: every condition of the API is shown in words, and is the
// same after it was edited; filters in addresses are the same after they were stored.
import { deepEqual, ok } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import {
  type FieldKind,
  nullOperators,
  operators,
  rangeKeys,
  ruleFields,
} from '../../lib/list/fields.ts'
import {
  conditionOf as conditionOfFilters,
  filtersOf,
} from '../../lib/web/app/browse/filters/filter-condition.ts'
import { conditionOf, groupOf, isComplete } from '../../lib/web/app/organize/groupings/rule.ts'
import { words } from '../../lib/web/app/organize/groupings/rule-words.ts'

const id = '0193a1b2-0000-7000-8000-000000000000'
const values: Record<FieldKind, readonly unknown[]> = {
  id: [id],
  text: ['Drama', 'cbz', 'no "such" value', '2020-01-01'],
  status: ['unread', 'in_progress', 'read'],
  number: [0, 20, 70, 75, 77, 2018, 3.5],
  date: ['2024-05-01', '2024-05-01T12:00:00Z'],
  boolean: [true, 'false'],
}

/** Every field with every operator. */
const tests = Object.entries(ruleFields).flatMap(([field, kind]) => {
  const some = values[kind]
  const [from, to] = kind === 'date' ? rangeKeys.date : rangeKeys.number
  const operands = { value: some.map(value => ({ value })), nothing: [{}] }
  const known = Object.entries<string>(operators[kind]).flatMap(([operator, operand]): object[] => {
    if (operand === 'values') return [{ operator, values: some }]
    if (operand === 'range')
      return [
        { operator, [from]: some[0], [to]: some.at(-1) },
        { operator, [to]: some[0] },
      ]
    return operands[operand as 'value' | 'nothing'].map(rest => ({ operator, ...rest }))
  })
  return [...known, ...nullOperators.map(operator => ({ operator }))].map(test => ({
    [field]: test,
  }))
})

const { node: conditions } = fc.letrec<{ node: object; leaf: object }>(tie => ({
  leaf: fc.constantFrom(...tests),
  node: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    tie('leaf'),
    fc.record({ allOf: fc.array(tie('node'), { maxLength: 3 }) }),
    fc.record({ anyOf: fc.array(tie('node'), { maxLength: 3 }) }),
  ),
}))

/** Without the prototypes of fast-check. */
const plainConditions = conditions.map(condition => JSON.parse(JSON.stringify(condition)) as object)

/** A group of one condition around all is that condition. */
function withoutOuterGroup(condition: object): object {
  const [parts] = Object.values(condition)
  return Array.isArray(parts) && parts.length === 1 ? parts[0] : condition
}

t.test('a rule is the same after it was in the form', async t => {
  t.ok(tests.length > 200)
  for (const test of tests) t.same(conditionOf(groupOf(test)), test)
  fc.assert(
    fc.property(plainConditions, condition => {
      const group = groupOf(condition)
      deepEqual(conditionOf(group), withoutOuterGroup(condition))
      ok(isComplete(group))
    }),
    { numRuns: 500, seed: 3 },
  )
  const snake = { all_of: [{ read_status: { operator: 'is_not', value: 'read' } }] }
  t.same(conditionOf(groupOf(snake)), { readStatus: { operator: 'isNot', value: 'read' } })
})

t.test('every rule has words', async () => {
  fc.assert(
    fc.property(conditions, condition => {
      ok(words(condition, new Map()).trim(), JSON.stringify(condition))
    }),
    { numRuns: 200, seed: 4 },
  )
})

/** As in the address of a saved filter. */
const filtersOfStored = (condition: object) =>
  filtersOf(new URLSearchParams({ condition: JSON.stringify(condition) }), 'series')

t.test('stored filters are the same conditions again', async t => {
  const parts = (condition: object): object[] =>
    'allOf' in condition ? (condition.allOf as object[]).flatMap(parts) : [condition]
  for (const test of tests) {
    const again = conditionOfFilters(filtersOfStored(test), null)
    t.same(again, test, JSON.stringify(test))
  }
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.constantFrom(...tests), {
        minLength: 2,
        maxLength: 4,
        selector: test => Object.keys(test)[0],
      }),
      many => {
        const again = conditionOfFilters(filtersOfStored({ allOf: many }), null)
        const flat = (list: object[]) => list.flatMap(parts).map(part => JSON.stringify(part))
        deepEqual(flat([again as object]).sort(), flat(many).sort())
      },
    ),
    { numRuns: 200, seed: 5 },
  )
})

t.test(
  'the parts of a stored filter are filters of their own; other texts stay as they are',
  async t => {
    const genre = { genre: { operator: 'is', value: 'Drama' } }
    t.same(filtersOfStored({ allOf: [genre, { path: { operator: 'contains', value: 'x' } }] }), {
      fields: { genre: [{ value: 'Drama', isExcluded: false }] },
      text: '',
      condition: '{"path":{"operator":"contains","value":"x"}}',
    })
    for (const condition of ['5', '{}', '{"allOf":3}', '{"genre":null}'])
      t.same(filtersOf(new URLSearchParams({ condition }), 'books'), {
        ...{ fields: {}, text: '', condition },
      })
  },
)
