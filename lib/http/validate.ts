// Request validation: body, query and path parameters against the schemas of the route.
import type { FastifySchemaCompiler } from 'fastify'
import { Compile, type Validator } from 'typebox/schema'
import { type Failure, Invalid, NotFound } from '../base/errors.ts'
import { storable, type TSchema } from '../base/schema.ts'
import { joinNames, normalizeAliases, normalizeBody, sentNames, sentPath } from './normalize.ts'

type Part = 'body' | 'query' | 'path'
const parts: Record<string, Part> = { body: 'body', querystring: 'query', params: 'path' }

// Compiled on first use: hundreds of validators would take a large part of the server start. By schema: the
// servers of a process share their routes.
const compiled = new WeakMap<TSchema, Validator>()

/**
 * Validator compiler for Fastify. Query and path text is converted to the schema's type. Text that is no UUID
 * in place of an id in a path is an unknown id: 404. Errors name the field and never echo its value.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({
  schema,
  httpPart,
  url = '',
}) => {
  const part = parts[httpPart ?? 'body'] ?? 'body'
  let validator = compiled.get(schema)
  const validate = (value: unknown, input: unknown) => {
    if (!validator) {
      validator = compiled.get(schema) ?? Compile(schema)
      compiled.set(schema, validator)
    }
    if (!validator.Check(value))
      return {
        error:
          unknownId(schema, validator, value, { part, url }) ??
          validationError(validator, value, path => part + sentPath(schema, input, path)),
      }
    const checked = part === 'body' ? withoutReadOnly(schema, value) : value
    rememberSent(checked, { schema, input })
    return { value: checked }
  }
  return (input: unknown) => {
    if (part !== 'body')
      return validate(parseText(schema, normalizeAliases(schema, input) as object), input)
    const { value, error } = tryNormalizeBody(schema, input)
    return error ? { error } : validate(value, input)
  }
}

function tryNormalizeBody(schema: TSchema, input: unknown) {
  try {
    return { value: normalizeBody(schema, input) }
  } catch (error) {
    return { error: error as Error }
  }
}

// Read-only fields of a record that a client sends back (`patchBody` in lib/base/schema.ts).
function withoutReadOnly(schema: TSchema, value: unknown) {
  const { properties = {} } = schema as { properties?: Record<string, { readOnly?: boolean }> }
  if (!Object.values(properties).some(property => property.readOnly)) return value
  return Object.fromEntries(
    Object.entries(value as object).filter(([name]) => !properties[name]?.readOnly),
  )
}

type TypedSchema = { type?: string | string[] }

// An empty parameter (`?page=`) counts as absent; the last of repeated parameters is used. Unknown ones are
// removed: paging links would repeat them at any length.
function parseText(schema: TSchema, input: object) {
  const { properties = {} } = schema as { properties?: Record<string, TypedSchema> }
  return Object.fromEntries(
    Object.entries(input).flatMap(([key, value]) => {
      const last: unknown = Array.isArray(value) ? value.at(-1) : value
      if (last === '' || !Object.hasOwn(properties, key)) return []
      return [[key, coerce(properties[key]!.type, last)]]
    }),
  )
}

function coerce(type: TypedSchema['type'], value: unknown): unknown {
  if (typeof value !== 'string') return value
  const types = [type].flat()
  if (types.includes('boolean') && /^(?:[Tt]rue|1)$/.test(value)) return true
  if (types.includes('boolean') && /^(?:[Ff]alse|0)$/.test(value)) return false
  if (types.includes('integer') && /^-?\d{1,20}$/.test(value)) return Number(value)
  if (types.includes('number') && /^-?\d{1,20}(\.\d{1,20})?$/.test(value)) return Number(value)
  return value
}

type PathSchema = { properties?: Record<string, { format?: string; description?: string }> }

const word = /^[a-z]+(?:[-_][a-z]+)*$/i

/** The failure for a path in which some id is not a UUID; null for other failures. */
function unknownId(
  schema: TSchema,
  validator: Validator,
  value: unknown,
  { part, url }: { part: Part; url: string },
): Failure | null {
  if (part !== 'path') return null
  const { properties = {} } = schema as PathSchema
  const [, errors] = validator.Errors(value)
  const names = errors.map(error => error.instancePath.slice(1))
  const name = names.find(name => properties[name]?.format === 'uuid')
  if (name === undefined) return null
  // `/books/bulk/read` is an unknown path rather than the book `bulk`.
  const isFollowed = url.includes(`/:${name}/`)
  if (isFollowed && word.test(String((value as Record<string, unknown>)[name])))
    return new NotFound('Unknown path')
  const id = properties[name]!
  // Taken from the parameter's description, such as `Book id.`.
  const [resource] = /^.+(?= id\.?$)/.exec(id.description ?? '') ?? ['Resource']
  return new NotFound(`${resource} not found`)
}

/** `locate`: maps a path in `value` to the path in the request. */
function validationError(
  validator: Validator,
  value: unknown,
  locate: (path: string) => string,
): Invalid {
  // Each unknown field causes a `boolean` error besides the summary that lists them all; the summary is only
  // missing when there are very many.
  const [, all] = validator.Errors(value)
  const summaries = all.filter(error => !isNoise(error))
  const errors = summaries.length > 0 ? summaries : all
  const details = errors.slice(0, 20).map(error => ({
    path: locate(error.instancePath),
    message: errorMessage(error),
    ...codeOf(error),
  }))
  const [first] = details
  return new Invalid(first ? `${first.path} ${first.message}` : `The ${locate('')} is not valid`, {
    details,
  })
}

/** Keywords of JSON Schema that clients translate themselves: `details[].code`, part of the API. */
export const validationCodes = [
  ...['additionalProperties', 'enum', 'format', 'maxItems', 'maxLength', 'maximum', 'minItems'],
  ...['minLength', 'minimum', 'pattern', 'required', 'type', 'uniqueItems'],
]

function codeOf({ keyword, params }: { keyword: string; params: object }) {
  if (!validationCodes.includes(keyword)) return {}
  const { limit } = params as { limit?: unknown }
  return { code: keyword, ...(typeof limit === 'number' ? { limit } : {}) }
}

/** Errors that only repeat a more exact one; null is one of the variants where it is accepted. */
function isNoise({ keyword, params }: { keyword: string; params: object }): boolean {
  const isNullVariant = keyword === 'type' && (params as { type?: unknown }).type === 'null'
  return isNullVariant || keyword === 'boolean' || keyword === 'anyOf'
}

function errorMessage(error: { keyword: string; message: string; params: object }): string {
  const params = error.params as Record<string, unknown>
  if (error.keyword === 'additionalProperties')
    return `must not have ${joinNames([params.additionalProperties].flat())}`
  if (error.keyword === 'boolean') return 'is not a known field'
  if (error.keyword === 'enum' && Array.isArray(params.allowedValues))
    return `must be one of ${joinNames(params.allowedValues.filter(isOnlyForm))}`
  if (error.keyword === 'pattern' && params.pattern === storable)
    return 'must not contain a null character'
  return error.message
}

/** Whether an enum value is not just another one with a direction (`title,asc`) or in snake_case. */
function isOnlyForm(value: unknown, _index: number, values: unknown[]): boolean {
  if (typeof value !== 'string') return true
  const [name, direction] = value.split(',', 2)
  const camelCase = value.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return !(
    (direction !== undefined && values.includes(name)) ||
    (camelCase !== value && values.includes(camelCase))
  )
}

type Sent = { schema: TSchema; input: unknown }

// Keyed by what handlers receive of a request.
const sentForms = new WeakMap<object, Sent>()

/** Remembers the input that a validated part of a request was made from. */
export function rememberSent(value: unknown, sent: Sent) {
  if (typeof value === 'object' && value !== null) sentForms.set(value, sent)
}

/** A message with names spelled as in these parts of the request. */
export function withSentNames(message: string, parts: readonly unknown[]): string {
  const names = new Map(
    parts.flatMap(part => {
      const sent = sentForms.get(part as object)
      return sent ? [...sentNames(sent.schema, sent.input)] : []
    }),
  )
  if (names.size === 0) return message
  return message.replace(/(?<!\w)[a-z]\w*/g, (name, offset: number) => {
    // Without a capital it may be an ordinary word, unless it is part of a path or begins the message.
    const isName = /[A-Z]/.test(name) || offset === 0 || /[/.]/.test(message[offset - 1]!)
    return (isName && names.get(name)) || name
  })
}
