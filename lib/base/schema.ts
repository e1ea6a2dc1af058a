// JSON Schema builders (TypeBox) for routes: types, validation, serialization and OpenAPI come from one value.
import type { Static, TObject, TProperties, TSchema } from 'typebox'
import { Type } from './schema-type.ts'

export type { Static, TSchema }
export { Type }

/** Additional names of a property in requests, besides its own and its snake_case form. */
type Aliases = { aliases?: readonly string[] }
type Notes = Aliases & Record<string, unknown>

type Primitive = { type: 'string' | 'integer' | 'number' | 'boolean' }

/** The value or null. Primitives become `type: [t, 'null']`, which is serialized fastest. */
export function nullable<T extends TSchema>(schema: T) {
  type Value = Static<T> | null
  const { type, component, documentedAs, ...others } = schema as unknown as Partial<Primitive> & {
    component?: string
    documentedAs?: { description?: string }
  }
  if (documentedAs && component === undefined && typeof type === 'string') {
    const { description, ...value } = documentedAs
    const shown = { anyOf: [value, { type: 'null' }], ...(description ? { description } : {}) }
    return Type.Unsafe<Value>({ ...others, type: [type, 'null'], documentedAs: shown })
  }
  const isPrimitive = typeof type === 'string' && !['object', 'array'].includes(type)
  // A named schema stays a reference in the OpenAPI document.
  if (isPrimitive && component === undefined) {
    const { enum: values, ...rest } = schema as unknown as { enum?: unknown[] }
    const nullableEnum = values ? { enum: [...values, null] } : {}
    return Type.Unsafe<Value>({ ...rest, ...nullableEnum, type: [type, 'null'] })
  }
  return Type.Unsafe<Value>({ anyOf: [schema, { type: 'null' }] })
}

export const uuid = (notes: Notes = {}) => Type.String({ format: 'uuid', ...notes })
/** RFC 3339; a Date from the database is serialized directly. */
export const timestamp = (notes: object = {}) =>
  Type.Unsafe<Date | string>({ type: 'string', format: 'date-time', ...notes })
export const oneOf = <const T extends readonly string[]>(values: T, notes: object = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...notes })
/**
 * Like `oneOf`, but documents only `values`, not their other spellings: client generators create a name for
 * each.
 */
export const oneSpelledOf = <const T extends readonly string[]>(
  values: T,
  otherSpellings: readonly string[],
  notes: object = {},
) =>
  Type.Unsafe<string>({
    type: 'string',
    enum: [...new Set([...values, ...otherSpellings])],
    documentedAs: { type: 'string', enum: [...values], ...notes },
  })
/** A count or size (int64). */
export const count = (notes: object = {}) => Type.Integer({ format: 'int64', minimum: 0, ...notes })
/** Text that PostgreSQL can store, as a pattern. */
export const storable = '^[^\\u0000]*$'
export const text = (maxLength: number, notes: Notes = {}) =>
  Type.String({ maxLength, pattern: storable, ...notes })
/** Text that is not blank. */
export const name = (maxLength: number, notes: Notes = {}) =>
  text(maxLength, { minLength: 1, pattern: '^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$', ...notes })
/** Any JSON value. */
export const json = (notes: object = {}) => Type.Unsafe<unknown>({ ...notes })
/** Any JSON value that is returned as it was sent; in records a `JsonText` (lib/base/json/json-text.ts). */
export const writtenJson = (notes: object = {}) =>
  Type.Unsafe<{ text: string; toJSON: () => string } | null>({ isWritten: true, ...notes })
/** Whether a value in the schema is read or written as its text. */
export function hasWritten(schema: object, seen = new Set<unknown>()): boolean {
  if (seen.has(schema)) return false
  seen.add(schema)
  return Object.entries(schema).some(
    ([key, value]) =>
      key === 'isWritten' ||
      (typeof value === 'object' && value !== null && hasWritten(value, seen)),
  )
}

/** An object with these properties and no others. */
export const strict = <P extends TProperties>(properties: P, notes: object = {}): TObject<P> =>
  Type.Object(properties, { additionalProperties: false, ...notes })

/** A request body, which has a name in the OpenAPI document. */
export const body = <P extends TProperties>(name: string, properties: P, notes: object = {}) =>
  strict(properties, { component: name, ...notes })

/**
 * A request body that changes a record. Because clients send back what they received, the record's other
 * properties are accepted, but removed before the handler is called (validate.ts).
 */
export function patchBody<P extends TProperties>(
  component: string,
  properties: P,
  record: TObject,
): TObject<P> {
  const own = new Set(
    Object.entries(properties).flatMap(([name, p]) => propertyNames(name, p as Aliases)),
  )
  const otherNames = Object.keys(record.properties).filter(name => !own.has(name))
  const ignored = otherNames.map(name => [name, Type.Optional(Type.Unsafe({ readOnly: true }))])
  return body(component, { ...Object.fromEntries(ignored), ...properties } as P)
}

/** All names of a property in requests; its own comes last. */
export function propertyNames(name: string, { aliases = [] }: Aliases): string[] {
  return [...aliases, name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`), name]
}

export const record = Type.Object
/** A record that has a name in the OpenAPI document. */
export const component = <P extends TProperties>(name: string, properties: P, notes: object = {}) =>
  record(properties, { component: name, ...notes })
export const list = Type.Array
export const maybe = Type.Optional
/** A property that may be absent or null. */
export const optional = <T extends TSchema>(schema: T) => maybe(nullable(schema))

/** Bytes of these media types; `schema` documents the content of text. */
export type Bytes = { bytes: readonly string[]; schema?: object }
export const bytes = (...mediaTypes: string[]): Bytes => ({ bytes: mediaTypes })
export function isBytes(schema: unknown): schema is Bytes {
  return typeof schema === 'object' && schema !== null && 'bytes' in schema
}

const errorProperties = {
  error: Type.String({ description: 'Error code.' }),
  message: Type.String(),
  details: json({
    description:
      'For clients that show their own texts: an object with `reason` (and `limit`) or with the `code` of a file error; for invalid values a list of `path`, `code` (a JSON Schema keyword), `limit` and `message`. Otherwise null.',
  }),
}
export const ErrorBody = Type.Object(errorProperties, { component: 'ErrorBody' })
/** For the serializer of all errors below 500. */
export const ErrorOrLimitBody = Type.Object({
  ...errorProperties,
  retry_after: Type.Optional(Type.Integer()),
})
export const LimitBody = Type.Object(
  {
    ...errorProperties,
    retry_after: Type.Integer({ description: 'Seconds until the next request is accepted.' }),
  },
  { component: 'RateLimit' },
)
