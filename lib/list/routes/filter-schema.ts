// Schemas of filter requests: the condition tree and the full-text query. The tree is validated by
// lib/list/condition.ts, which reports the path of an error; here it is documented.
import { maybe, nullable, storable, Type, text } from '../../base/schema.ts'
import { datePattern } from '../condition-values.ts'
import {
  bookFields,
  type FieldKind,
  maxConditionDepth,
  maxConditionNodes,
  maxListValues,
  maxValueLength,
  nullOperators,
  operators,
  rangeKeys,
  readStatuses,
  ruleFields,
  seriesFields,
  textPartOperators,
} from '../fields.ts'

const valueDescriptions: Record<FieldKind, string> = {
  id: 'a UUID',
  text: 'a string, compared without case and accents',
  status: `one of ${readStatuses.join(', ')}, for the caller`,
  number: 'a number',
  date: 'a date-time',
  boolean: 'true or false',
}

const textSchema = { type: 'string', maxLength: maxValueLength, pattern: storable }
const valueSchemas: Record<FieldKind, object> = {
  id: { type: 'string', format: 'uuid' },
  text: textSchema,
  status: { type: 'string', enum: [...readStatuses] },
  number: { type: 'number' },
  date: { type: 'string', pattern: datePattern, description: 'A date or a date-time.' },
  boolean: { anyOf: [{ type: 'boolean' }, { type: 'string', enum: ['true', 'false'] }] },
}

// By the kind of operands.
const variantNames: Record<string, string> = {
  value: 'Value',
  text: 'Part',
  values: 'List',
  nothing: 'Plain',
  range: 'Range',
}

const examples = [
  {
    allOf: [
      { readStatus: { operator: 'isNot', value: 'read' } },
      { anyOf: [{ genre: { operator: 'is', value: 'Drama' } }, { genre: { operator: 'isNull' } }] },
    ],
  },
]

export const bookFilter = filterFields('BookCondition', bookFields)
export const seriesFilter = filterFields('SeriesCondition', seriesFields)

/** The rule of a collection: a condition, not an empty group. */
export const collectionRule = conditionSchema('CollectionRule', ruleFields, {
  type: 'array',
  items: conditionSchema('RuleCondition', ruleFields),
  minItems: 1,
})

/** Body fields of a filtered list. */
function filterFields(component: string, fields: Record<string, FieldKind>) {
  return {
    condition: maybe(nullable(conditionSchema(component, fields))),
    fullTextSearch: maybe(nullable(text(500, { description: 'Words or word prefixes.' }))),
  }
}

/** `conditions`: the list in `allOf` and `anyOf`. */
function conditionSchema(
  component: string,
  fields: Record<string, FieldKind>,
  conditions: object = { type: 'array', items: { $ref: `#/components/schemas/${component}` } },
) {
  const tests = Object.fromEntries(
    Object.entries(fields).map(([name, kind]) => [name, testSchema(kind)]),
  )
  return Type.Unsafe<unknown>({
    type: 'object',
    component,
    documentedAs: {
      type: 'object',
      description: describe(fields),
      examples,
      minProperties: 1,
      maxProperties: 1,
      // One object with optional properties: client generators support recursion only in properties.
      properties: { allOf: conditions, anyOf: conditions, ...tests },
      additionalProperties: false,
    },
  })
}

/** Operator and operands of a field, as a component for each kind: one object for each kind of operands. */
function testSchema(kind: FieldKind) {
  const value = valueSchemas[kind]
  const ends = kind === 'date' ? rangeKeys.date : rangeKeys.number
  const end = { anyOf: [value, { type: 'null' }] }
  const groups: Record<string, object> = {
    value: { value },
    text: { value: kind === 'boolean' ? { anyOf: [textSchema, { type: 'boolean' }] } : textSchema },
    values: { values: { type: 'array', items: value, maxItems: maxListValues } },
    nothing: {},
    range: Object.fromEntries(ends.map(name => [name, end])),
    null: { value: { description: 'Ignored.' } },
  }
  const groupOf = ([name, operands]: [string, string]) =>
    kind !== 'text' && textPartOperators.includes(name) ? 'text' : operands
  const names = Object.groupBy(Object.entries<string>(operators[kind]), groupOf)
  const kindName = `${kind[0]!.toUpperCase()}${kind.slice(1)}`
  const variants = Object.entries(names).map(([group, entries]) =>
    variant(
      entries!.map(([name]) => name),
      groups[group]!,
      {
        isRequired: group.startsWith('value') || group === 'text',
        component:
          group === 'text' && kind !== 'boolean'
            ? 'TextPartTest'
            : `${kindName}${variantNames[group]}Test`,
      },
    ),
  )
  // Generated clients choose the first variant whose required members are there.
  const byRequired = variants.toSorted((a, b) => b.required.length - a.required.length)
  return {
    component: `${kindName}Test`,
    oneOf: [
      ...byRequired,
      variant(nullOperators, groups.null!, { isRequired: false, component: 'NullTest' }),
    ],
  }
}

function variant(
  names: string[],
  operands: object,
  { isRequired, component }: { isRequired: boolean; component: string },
) {
  return {
    component,
    type: 'object',
    required: ['operator', ...(isRequired ? Object.keys(operands) : [])],
    properties: {
      operator: { type: 'string', enum: names },
      ...operands,
    },
    additionalProperties: false,
  }
}

function describe(fields: Record<string, FieldKind>): string {
  const kinds = [...new Set(Object.values(fields))]
  return [
    'Exactly one key: `allOf` or `anyOf` with a list of conditions, or a field with an operator, as in `{"genre": {"operator": "is", "value": "Drama"}}`.',
    ...kinds.map(kind => {
      const names = Object.keys(fields).filter(name => fields[name] === kind)
      return `- ${names.join(', ')}: ${describeOperators(kind)}; the value is ${valueDescriptions[kind]}.`
    }),
    ...('sharingTag' in fields ? ['`sharingTag` requires the permission SystemAdmin.'] : []),
    'Fields, operators, `allOf` and `anyOf` are accepted in snake_case, too.',
    `Negated operators also match missing values. At most ${maxConditionDepth} levels and ${maxConditionNodes} nodes.`,
  ].join('\n')
}

function describeOperators(kind: FieldKind): string {
  const names = Object.entries<string>(operators[kind]).map(([name, operand]) => {
    if (operand === 'value') return name
    if (operand === 'values') return `${name} (\`values\`)`
    if (operand === 'nothing') return `${name} (no value)`
    const ends = kind === 'date' ? rangeKeys.date : rangeKeys.number
    return `${name} (\`${ends.join('`, `')}\`)`
  })
  return [...names, `${nullOperators.join(', ')} (no value)`].join(', ')
}
