// JSON Schema types as TypeBox builds them, without loading its builder: 450 more modules that take 11 MB,
// and again as much in each pipeline thread that uses the strategies.
import type TypeBox from 'typebox'
import type { TObject, TSchema } from 'typebox'

type Options = Record<string, unknown>

const optional = new WeakSet<object>()

const built = {
  String: (options?: Options) => ({ type: 'string', ...options }),
  Integer: (options?: Options) => ({ type: 'integer', ...options }),
  Number: (options?: Options) => ({ type: 'number', ...options }),
  Boolean: (options?: Options) => ({ type: 'boolean', ...options }),
  Null: (options?: Options) => ({ type: 'null', ...options }),
  Literal: (value: unknown, options?: Options) => ({
    type: typeof value,
    const: value,
    ...options,
  }),
  Enum: (values: unknown[], options?: Options) => ({ enum: values, ...options }),
  Union: (anyOf: object[], options?: Options) => ({ anyOf, ...options }),
  Array: (items: object, options?: Options) => ({ type: 'array', items, ...options }),
  Object(properties: Record<string, object>, options?: Options) {
    const required = Object.keys(properties).filter(name => !optional.has(properties[name]!))
    const isEmpty = required.length === 0
    return { type: 'object', ...(isEmpty ? {} : { required }), properties, ...options }
  },
  Record: ({ pattern = '^.*$' }: { pattern?: string }, value: object, options?: Options) => ({
    type: 'object',
    patternProperties: { [pattern]: value },
    ...options,
  }),
  Unsafe: (schema: object) => copyOf(schema),
  /** The same schema as an optional property. */
  Optional(schema: object) {
    const copy = copyOf(schema)
    optional.add(copy)
    return copy
  },
}

function copyOf(schema: object) {
  const copy = { ...schema }
  if (optional.has(schema)) optional.add(copy)
  return copy
}

export const Type = built as unknown as Pick<typeof TypeBox, keyof typeof built>

/** Fills in the defaults of missing properties, in place. */
export function withDefaults({ properties }: TObject, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const record = value as Record<string, unknown>
  for (const [name, { default: preset }] of Object.entries(
    properties as Record<string, TSchema & { default?: unknown }>,
  ))
    if (record[name] === undefined && preset !== undefined) record[name] = structuredClone(preset)
  return record
}
