import t from 'tap'
import TypeBox from 'typebox'
import Value from 'typebox/value'
import { Type, withDefaults } from '../../lib/base/schema-type.ts'

/** The same schema, of any kind and with any options, by a builder. */
function example({ Object: object, ...type }: typeof Type) {
  return object(
    {
      text: type.String({ minLength: 1, default: 'a' }),
      integer: type.Integer({ minimum: 2 }),
      number: type.Optional(type.Number({ default: 1.5 })),
      flag: type.Boolean({ description: 'A flag.' }),
      either: type.Optional(type.Union([type.String({ maxLength: 3 }), type.Null()])),
      kind: type.Literal('series'),
      choice: type.Enum(['a', 'b']),
      list: type.Array(type.Integer(), { default: [], maxItems: 5 }),
      other: type.Unsafe<Date | string>({ type: 'string', format: 'date-time' }),
      absent: type.Unsafe(type.Optional(type.String())),
      counts: type.Record(type.String(), type.Integer()),
      named: type.Record(type.String({ pattern: '^[a-z]+$' }), type.Boolean(), {
        additionalProperties: false,
      }),
      empty: object({}),
      allOptional: object({ one: type.Optional(type.String()) }),
    },
    { additionalProperties: false },
  )
}

t.test('schemas equal those that the builder of TypeBox returns', async t => {
  const ours = JSON.stringify(example(Type))
  t.equal(ours, JSON.stringify(example(TypeBox as unknown as typeof Type)))
  t.match(ours, /"required":\["text","integer","flag","kind"/)
})

t.test('defaults equal those of TypeBox', async t => {
  const values: unknown[] = [
    {},
    { text: '', list: [1] },
    { text: null, more: 1 },
    null,
    'a',
    [1],
    3,
  ]
  for (const value of values)
    t.same(
      withDefaults(example(Type), structuredClone(value)),
      Value.Default(example(TypeBox as unknown as typeof Type), structuredClone(value)),
      JSON.stringify(value),
    )
})
