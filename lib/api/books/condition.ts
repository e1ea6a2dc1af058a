// What the bodies of filtered lists take: a condition tree and words. The tree is checked by
// lib/catalog/filter.ts, which names the place of what is wrong; here it is described.
import {
  bookFields,
  type FieldKind,
  mostNodes,
  neverNull,
  operators,
  rangeKeys,
  readStatuses,
  seriesFields,
  topDepth,
} from '../../catalog/list/filter-fields.ts'
import { maybe, nullable, Type, text } from '../../schema.ts'

const values: Record<FieldKind, string> = {
  id: 'a UUID',
  text: 'a text, compared without case and accents',
  status: `one of ${readStatuses.join(', ')}, for the caller`,
  number: 'a number',
  date: 'a time',
  boolean: 'true or false',
}

function wanted(component: string, fields: Record<string, FieldKind>) {
  const condition = Type.Unsafe<unknown>({
    type: 'object',
    component,
    shown: { description: described(fields), examples, anyOf: variants(component, fields) },
  })
  return {
    condition: maybe(nullable(condition)),
    fullTextSearch: maybe(nullable(text(500, { description: 'Words, or their beginnings.' }))),
  }
}

const examples = [
  {
    allOf: [
      { readStatus: { operator: 'isNot', value: 'read' } },
      { anyOf: [{ genre: { operator: 'is', value: 'Drama' } }, { genre: { operator: 'isNull' } }] },
    ],
  },
]

// Validation takes any object: only the parser can say where in the tree something is wrong.
function variants(component: string, fields: Record<string, FieldKind>) {
  const one = (name: string, schema: object) => ({
    type: 'object',
    required: [name],
    properties: { [name]: schema },
    additionalProperties: false,
  })
  const several = { type: 'array', items: { $ref: `#/components/schemas/${component}` } }
  return [
    one('allOf', several),
    one('anyOf', several),
    ...Object.entries(fields).map(([name, kind]) => one(name, operatorSchema(kind))),
  ]
}

const valueSchemas: Record<FieldKind, object> = {
  id: { type: 'string', format: 'uuid' },
  text: { type: 'string', maxLength: 500 },
  status: { type: 'string', enum: [...readStatuses] },
  number: { type: 'number' },
  date: { type: 'string', format: 'date-time' },
  boolean: { type: 'boolean' },
}

function operatorSchema(kind: FieldKind) {
  const takes = operators[kind] as Record<string, string>
  const value = valueSchemas[kind]
  const ends = kind === 'date' ? rangeKeys.date : rangeKeys.number
  const kinds = Object.values(takes)
  return {
    type: 'object',
    required: ['operator'],
    properties: {
      operator: {
        type: 'string',
        enum: [...Object.keys(takes), ...(neverNull.includes(kind) ? [] : ['isNull', 'isNotNull'])],
      },
      ...(kinds.includes('value') ? { value } : {}),
      ...(kinds.includes('values')
        ? { values: { type: 'array', items: value, maxItems: 500 } }
        : {}),
      ...(kinds.includes('range') ? Object.fromEntries(ends.map(end => [end, value])) : {}),
    },
    additionalProperties: false,
  }
}

function described(fields: Record<string, FieldKind>): string {
  const kinds = [...new Set(Object.values(fields))]
  return [
    'Exactly one key: `allOf` or `anyOf` with a list of conditions, or a field with its operator: `{"genre": {"operator": "is", "value": "Drama"}}`.',
    ...kinds.map(kind => {
      const names = Object.keys(fields).filter(name => fields[name] === kind)
      return `- ${names.join(', ')}: ${operatorsOf(kind)}; ${values[kind]}.`
    }),
    ...('sharingTag' in fields ? ['sharingTag is a field for holders of SystemAdmin only.'] : []),
    `Negations also choose what has no value. At most ${topDepth} levels and ${mostNodes} parts.`,
  ].join('\n')
}

function operatorsOf(kind: FieldKind): string {
  const known = Object.entries<string>(operators[kind]).map(([name, takes]) => {
    if (takes === 'value') return name
    if (takes === 'values') return `${name} (\`values\`)`
    if (takes === 'nothing') return `${name} (no value)`
    const ends = kind === 'date' ? rangeKeys.date : rangeKeys.number
    return `${name} (\`${ends.join('`, `')}\`)`
  })
  return [...known, ...(neverNull.includes(kind) ? [] : ['isNull, isNotNull (no value)'])].join(
    ', ',
  )
}

export const conditionOnBooks = wanted('BookCondition', bookFields)
export const conditionOnSeries = wanted('SeriesCondition', seriesFields)
