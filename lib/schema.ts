// Builders of the JSON Schemas that routes declare. A schema is said once: types, validation,
// serialisation and the OpenAPI document come from the same value.
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'

export type { Static, TSchema }
export { Type }

/** Names under which clients send a property, beside its own and its snake_case form. */
type Aliases = { aliases?: readonly string[] }
type Notes = Aliases & Record<string, unknown>

type Primitive = { type: 'string' | 'integer' | 'number' | 'boolean' }

/** The value, or null. Primitives become `type: [t, 'null']`, which serialises fastest. */
export function nullable<T extends TSchema>(schema: T) {
  type Value = Static<T> | null
  const { type } = schema as unknown as Partial<Primitive>
  if (typeof type === 'string' && type !== ('object' as string) && type !== ('array' as string)) {
    const { enum: values, ...rest } = schema as unknown as { enum?: unknown[] }
    const listed = values ? { enum: [...values, null] } : {}
    return Type.Unsafe<Value>({ ...rest, ...listed, type: [type, 'null'] })
  }
  return Type.Unsafe<Value>({ anyOf: [schema, { type: 'null' }] })
}

export const uuid = (notes: Notes = {}) => Type.String({ format: 'uuid', ...notes })
/** RFC 3339; the database's Date is written as it is. */
export const timestamp = (notes: object = {}) =>
  Type.Unsafe<Date | string>({ type: 'string', format: 'date-time', ...notes })
export const oneOf = <const T extends readonly string[]>(values: T, notes: object = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...notes })
/** A count or a size; int64 on the wire. */
export const count = (notes: object = {}) => Type.Integer({ format: 'int64', minimum: 0, ...notes })
export const text = (maxLength: number, notes: Notes = {}) => Type.String({ maxLength, ...notes })
/** Any JSON. */
export const json = (notes: object = {}) => Type.Unsafe<unknown>({ ...notes })

/** A request body that takes these properties and no others. */
export function body<P extends TProperties>(properties: P, notes: object = {}): TObject<P> {
  return Type.Object(properties, { additionalProperties: false, ...notes })
}

/**
 * A request body that changes a `whole` record. It takes these properties; what else the record shows
 * may be sent back, since clients send what they were given, and is dropped before the handler
 * (validate.ts).
 */
export function change<P extends TProperties>(properties: P, whole: TObject): TObject<P> {
  const own = new Set(
    Object.entries(properties).flatMap(([name, p]) => spellings(name, p as Aliases)),
  )
  const others = Object.keys(whole.properties).filter(name => !own.has(name))
  const shown = others.map(name => [name, Type.Optional(Type.Unsafe({ readOnly: true }))])
  return body({ ...Object.fromEntries(shown), ...properties }) as TObject<P>
}

/** The names under which clients send a property, its own last. */
export function spellings(name: string, { aliases = [] }: Aliases): string[] {
  return [...aliases, name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`), name]
}

export const record = Type.Object
export const list = Type.Array
export const maybe = Type.Optional

/** Bytes of these media types. */
export type Bytes = { bytes: readonly string[] }
export const bytes = (...mediaTypes: string[]): Bytes => ({ bytes: mediaTypes })
export function isBytes(schema: unknown): schema is Bytes {
  return typeof schema === 'object' && schema !== null && 'bytes' in schema
}

export const Id = Type.Object({ id: uuid() })

const problem = {
  error: Type.String({ description: 'Name of the kind of error.' }),
  message: Type.String(),
  details: json({ description: 'May be null.' }),
}
export const ErrorBody = Type.Object(problem, { component: 'Error' })
export const LimitBody = Type.Object(
  { ...problem, retry_after: Type.Integer({ description: 'Seconds.' }) },
  { component: 'RateLimit' },
)
