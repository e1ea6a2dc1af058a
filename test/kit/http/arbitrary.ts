// Arbitrary requests for an operation of the OpenAPI document (fast-check): mostly valid ones, some
// invalid in one place, some nonsense.
import fc from 'fast-check'
import type { Json, Operation } from './operation.ts'

export type Request = { operation: Operation; path: string; body: unknown; raw: string | null }

const hostile = fc.oneof(
  fc.constantFrom(
    '',
    '%',
    '_',
    '\\',
    "'",
    '"',
    '../..',
    '/',
    '\u0000',
    '\ud800',
    'null',
    '-1',
    '1e400',
    '{}',
    '[]',
    'NaN',
    '💥',
    'ﷺ'.repeat(50),
    'x'.repeat(3000),
    '%27%3B--',
    '<script>',
    '00000000-0000-0000-0000-000000000000',
  ),
  fc.string({ unit: 'binary', maxLength: 40 }),
)
const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(null, true, -1, 1e300, '', [], {}, [[]], { a: { b: {} } }),
)

type Source = {
  schemas: Record<string, Json>
  /** Existing values for a path parameter of an operation. */
  ids: (operation: Operation, name: string) => string[]
  /** Valid bodies; by default from the schema. */
  body?: fc.Arbitrary<unknown> | undefined
}

export function arbitraryRequest(
  operation: Operation,
  { schemas, ids, body: ownBody }: Source,
): fc.Arbitrary<Request> {
  const inPath = operation.parameters.filter(p => p.in === 'path')
  const inQuery = operation.parameters.filter(p => p.in === 'query')
  const params = fc.record(
    Object.fromEntries(inPath.map(p => [p.name, pathParameter(p.schema, ids(operation, p.name))])),
  )
  const query = fc.record(
    Object.fromEntries(inQuery.map(p => [p.name, queryValue(p.schema, schemas)])),
    { requiredKeys: inQuery.filter(p => p.required).map(p => p.name) },
  )
  const valid = operation.body ? (ownBody ?? fromSchema(operation.body, schemas)) : null
  const body = valid
    ? fc.oneof(
        { weight: 14, arbitrary: valid },
        { weight: 4, arbitrary: withInvalidPart(valid) },
        { weight: 1, arbitrary: anyJson },
      )
    : fc.constant(undefined)
  const raw = fc.oneof(
    { weight: 40, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom('{', '{"a":', 'nul', '\u0000', '[1,]') },
  )
  return fc.tuple(params, query, body, raw).map(([params, query, body, raw]) => {
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(String((params as Json)[name]).toWellFormed()),
    )
    const search = new URLSearchParams(
      Object.entries(query).map(([k, v]): [string, string] => [k, String(v).toWellFormed()]),
    )
    return {
      operation,
      path: `${path}${search.size > 0 ? `?${search}` : ''}`,
      body,
      raw: operation.body ? raw : null,
    }
  })
}

function pathParameter(schema: Json, existing: string[]): fc.Arbitrary<unknown> {
  const valid =
    schema.type === 'integer'
      ? fc.integer({ min: -1, max: 12 })
      : schema.format === 'uuid'
        ? fc.uuid()
        : fc.string({ minLength: 1, maxLength: 30 })
  const odd = hostile.filter(text => text !== '')
  if (existing.length === 0)
    return fc.oneof({ weight: 6, arbitrary: valid }, { weight: 1, arbitrary: odd })
  return fc.oneof(
    { weight: 14, arbitrary: fc.constantFrom(...existing) },
    { weight: 2, arbitrary: valid },
    { weight: 1, arbitrary: odd },
  )
}

function queryValue(schema: Json, schemas: Record<string, Json>): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 8, arbitrary: fromSchema(schema, schemas) },
    { weight: 1, arbitrary: hostile },
  )
}

function withInvalidPart(valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.tuple(valid, fc.nat(), anyJson, fc.boolean()).map(([value, at, junk, extra]) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return junk
    const keys = Object.keys(value)
    const key = extra || keys.length === 0 ? 'unknownMember' : keys[at % keys.length]!
    return { ...value, [key]: junk }
  })
}

/** Values that a schema allows; supports the keywords that this API uses. */
export function fromSchema(
  schema: Json,
  schemas: Record<string, Json>,
  depth = 0,
): fc.Arbitrary<unknown> {
  const ref = schema.$ref as string | undefined
  if (ref) {
    const name = ref.split('/').at(-1)!
    return depth > 4
      ? fc.constant(null)
      : fc.constant(null).chain(() => fromSchema(schemas[name]!, schemas, depth + 1))
  }
  const variants = (schema.anyOf ?? schema.oneOf) as Json[] | undefined
  if (variants) return fc.oneof(...variants.map(v => fromSchema(v, schemas, depth + 1)))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...(schema.enum as unknown[]))
  const types = [schema.type].flat() as string[]
  return fc.oneof(...types.map(type => ofType(type, schema, { schemas, depth })))
}

type Context = { schemas: Record<string, Json>; depth: number }

function ofType(
  type: string | undefined,
  schema: Json,
  { schemas, depth }: Context,
): fc.Arbitrary<unknown> {
  if (type === 'null') return fc.constant(null)
  if (type === 'boolean') return fc.boolean()
  if (type === 'integer') {
    const min = Math.max(Number(schema.minimum ?? -5), -(2 ** 31))
    return fc.oneof(
      fc.integer({
        min,
        max: Math.max(min, Math.min(Number(schema.maximum ?? 2 ** 31 - 1), 2 ** 31 - 1)),
      }),
      fc.integer({ min, max: min + 20 }),
    )
  }
  if (type === 'number') {
    const min = Number(schema.minimum ?? -100)
    return fc.double({ min, max: Number(schema.maximum ?? Math.max(min, 100)), noNaN: true })
  }
  if (type === 'string') return textOf(schema)
  if (type === 'array') {
    const items = (schema.items ?? {}) as Json
    return depth > 5
      ? fc.constant([])
      : fc.array(fromSchema(items, schemas, depth + 1), {
          minLength: Number(schema.minItems ?? 0),
          maxLength: Math.max(3, Number(schema.minItems ?? 0)),
        })
  }
  if (type === 'object') return objectOf(schema, { schemas, depth })
  return anyJson
}

function objectOf(schema: Json, { schemas, depth }: Context) {
  const properties = (schema.properties ?? {}) as Record<string, Json>
  if (depth > 6) return fc.constant({})
  if (schema.maxProperties === 1)
    return fc.oneof(
      ...Object.entries(properties).map(([name, s]) =>
        fc.record({ [name]: fromSchema(s, schemas, depth + 1) }),
      ),
    )
  const declared = fc.record(
    Object.fromEntries(
      Object.entries(properties).map(([name, s]) => [name, fromSchema(s, schemas, depth + 1)]),
    ),
    { requiredKeys: (schema.required ?? []) as string[] },
  )
  const rest = schema.additionalProperties
  if (typeof rest !== 'object' || rest === null) return declared
  const additional = fc.dictionary(
    fc.string({ minLength: 1, maxLength: 12 }),
    fromSchema(rest as Json, schemas, depth + 1),
    { maxKeys: 3 },
  )
  return fc.tuple(declared, additional).map(([a, b]) => ({ ...b, ...a }))
}

function textOf(schema: Json): fc.Arbitrary<string> {
  if (schema.format === 'uuid') return fc.uuid()
  if (schema.format === 'date-time')
    return fc
      .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
      .map(d => d.toISOString())
  if (schema.format === 'email') return fc.emailAddress()
  const pattern = schema.pattern === undefined ? null : new RegExp(String(schema.pattern), 'u')
  // fast-check would expand a negated class to all other characters.
  if (pattern && !/\[\^|\\[pP]/.test(pattern.source)) return fc.stringMatching(pattern)
  if (pattern) return plainText(schema).filter(value => pattern.test(value))
  return plainText(schema)
}

const examples = ['/media/x', 'https://example.org/x', 'ana@example.org', 'ana']

function plainText(schema: Json): fc.Arbitrary<string> {
  const maxLength = Math.min(Number(schema.maxLength ?? 30), 60)
  const minLength = Math.min(Number(schema.minLength ?? 0), maxLength)
  return fc.oneof(
    { weight: 3, arbitrary: fc.string({ minLength, maxLength }) },
    {
      weight: 1,
      arbitrary: fc.string({ unit: 'binary', minLength, maxLength }).map(s => s.toWellFormed()),
    },
    {
      weight: 2,
      arbitrary: fc
        .constantFrom(
          'Alpha',
          'alpha,desc',
          'title,asc',
          'name',
          'Action',
          'en',
          '2020',
          'Strong-pass-1',
          ...examples,
        )
        .filter(s => s.length <= maxLength && s.length >= minLength),
    },
  )
}
