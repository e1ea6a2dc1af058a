// Descriptor of a metadata field: the member of `Metadata` that fills it, its storage, its API form, and how
// users edit it.
import { list, type Static, type TSchema, Type } from '../../base/schema.ts'

export type SqlType = 'text' | 'text[]' | 'jsonb' | 'integer' | 'smallint' | 'double precision'

/** How users edit a field. */
export type Edit = {
  /** Schema in a request body: absent, null or a value. */
  schema: TSchema
  /** Converts a request value to a stored one; `path` names the value in errors. Throws Invalid. */
  parse: ((value: never, path: string) => unknown) | null
  /** Whether null leaves the field unchanged. */
  isRequired: boolean
  /** A PUT without the field leaves it unchanged. */
  isPreservedByPut: boolean
}

export type Field<
  Member extends string = string,
  Schema extends TSchema = TSchema,
  Storage extends SqlType | null = SqlType | null,
> = {
  /** Name in `Metadata`; the column has the same name in snake_case. */
  member: Member
  /** Schema of the value in responses. */
  schema: Schema
  /**
   * Type of its column; null for a member of the jsonb column `extra_metadata`. Lists filter by none of them but
   * `bookType`.
   */
  sqlType: Storage
  column: string
  /** Name in `locks` and `provenance`. */
  lock: string
  /** Stored in place of a missing value. */
  empty: null | readonly [] | string
  edit: Edit | null
  /** Whether events name the field, as most columns; otherwise they name `metadata`. */
  isNamedInEvents: boolean
}
export type Fields = Readonly<Record<string, Field>>

type Options = {
  lock?: string
  empty?: Field['empty']
  edit?: Edit
  isNamedInEvents?: boolean
}

/** `blackAndWhite` → `black_and_white`. */
export const snakeCase = (name: string) =>
  name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

function field<const M extends string, S extends TSchema, const Q extends SqlType | null>(
  member: M,
  sqlType: Q,
  schema: S,
  { lock = snakeCase(member), empty, edit, isNamedInEvents = sqlType !== null }: Options,
): Field<M, S, Q> {
  const isList = (schema as { type?: unknown }).type === 'array'
  return {
    member,
    schema,
    sqlType,
    column: snakeCase(member),
    lock,
    empty: empty ?? (isList ? [] : null),
    edit: edit ?? null,
    isNamedInEvents,
  }
}

/** A field with a column of its own. */
export const column = <const M extends string, const Q extends SqlType, S extends TSchema>(
  member: M,
  sqlType: Q,
  schema: S,
  options: Options = {},
) => field(member, sqlType, schema, options)

/** A field stored in the column `extra_metadata`. */
export const member = <const M extends string, S extends TSchema>(
  name: M,
  schema: S,
  options: Options = {},
) => field(name, null, schema, options)

export const texts = () => list(Type.String())

/** How users edit a field with this request schema. */
export const edit = <T extends TSchema>(
  schema: T,
  parse: ((value: NonNullable<Static<T>>, path: string) => unknown) | null = null,
  { isRequired = false, isPreservedByPut = false } = {},
): Edit => ({ schema, parse: parse as Edit['parse'], isRequired, isPreservedByPut })

/** Value types by member of `Metadata`. */
export type Members<F extends Fields> = {
  [K in keyof F as F[K]['member']]: NonNullable<Static<F[K]['schema']>>
}

/** Response schemas by wire name. */
export type Schemas<F extends Fields> = { -readonly [K in keyof F]: F[K]['schema'] }

export const schemasOf = <F extends Fields>(fields: F): Schemas<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { schema }]) => [name, schema]),
  ) as Schemas<F>

/** Names of the fields with a column, or without one. */
type ColumnNames<F extends Fields> = {
  [K in keyof F]: F[K]['sqlType'] extends null ? never : K
}[keyof F]

/** Row of the fields with a column, by wire name. */
export type ColumnRow<F extends Fields> = {
  -readonly [K in ColumnNames<F>]: Static<F[K]['schema']>
}

/** The other fields, by wire name. */
export type ExtraMetadataRow<F extends Fields> = {
  -readonly [K in Exclude<keyof F, ColumnNames<F>>]: Static<F[K]['schema']>
}
