// Checks what a request brings against the schema of its route.
import type { FastifySchemaCompiler } from 'fastify'
import { Compile, type Validator } from 'typebox/compile'
import { Invalid } from '../errors.ts'
import type { TSchema } from '../schema.ts'
import { respell, respellBody } from './aliases.ts'

type Part = 'body' | 'query' | 'path'
const parts: Record<string, Part> = { body: 'body', querystring: 'query', params: 'path' }

/**
 * Validators for Fastify. Text of queries and paths is converted to the type that is wanted; a
 * malformed id in a path is 400 as well. Answers name the place, never echo the value.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const part = parts[httpPart ?? 'body'] ?? 'body'
  // Built when it is first needed: hundreds at once take a good part of a start.
  let built: Validator | null = null
  const checked = (value: unknown) => {
    const validator = (built ??= Compile(schema))
    return validator.Check(value)
      ? { value: part === 'body' ? withoutShown(schema, value) : value }
      : { error: complaint(validator, value, part) }
  }
  return (given: unknown) => {
    if (part !== 'body') return checked(fromText(schema, respell(schema, given) as object))
    const { value, error } = spelt(schema, given)
    return error ? { error } : checked(value)
  }
}

function spelt(schema: TSchema, given: unknown) {
  try {
    return { value: respellBody(schema, given) }
  } catch (error) {
    return { error: error as Error }
  }
}

// What a record only shows came back with it (`change` of lib/schema.ts).
function withoutShown(schema: TSchema, value: unknown) {
  const { properties = {} } = schema as { properties?: Record<string, { readOnly?: boolean }> }
  if (!Object.values(properties).some(property => property.readOnly)) return value
  return Object.fromEntries(
    Object.entries(value as object).filter(([name]) => !properties[name]?.readOnly),
  )
}

type Typed = { type?: string | string[] }

// `?page=` says nothing; of repeated parameters the last one counts. Those that the route does not
// know are left out: they would come back in links, as long as they please.
function fromText(schema: TSchema, value: object) {
  const { properties = {} } = schema as { properties?: Record<string, Typed> }
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, given]) => {
      const last: unknown = Array.isArray(given) ? given.at(-1) : given
      if (last === '' || !Object.hasOwn(properties, key)) return []
      return [[key, typed(properties[key]!.type, last)]]
    }),
  )
}

function typed(type: Typed['type'], value: unknown): unknown {
  if (typeof value !== 'string') return value
  const types = [type].flat()
  if (types.includes('boolean') && /^(true|1)$/i.test(value)) return true
  if (types.includes('boolean') && /^(false|0)$/i.test(value)) return false
  if (types.includes('integer') && /^-?\d{1,20}$/.test(value)) return Number(value)
  if (types.includes('number') && /^-?\d{1,20}(\.\d{1,20})?$/.test(value)) return Number(value)
  return value
}

function complaint(validator: Validator, value: unknown, part: Part): Invalid {
  // Beside the one that names them all, each unknown member gives an error of its own; of many
  // members only those are there.
  const all = validator.Errors(value)
  const summed = all.filter(error => error.keyword !== 'boolean')
  const errors = summed.length > 0 ? summed : all
  const details = errors.slice(0, 20).map(error => ({
    path: `${part}${error.instancePath}`,
    message: wording(error),
  }))
  const [first] = details
  return new Invalid(first ? `${first.path} ${first.message}` : `The ${part} is not valid`, {
    details,
  })
}

function wording(error: { keyword: string; message: string; params: object }): string {
  const params = error.params as Record<string, unknown>
  if (error.keyword === 'additionalProperties')
    return `must not have ${list(params.additionalProperties)}`
  if (error.keyword === 'boolean') return 'is not known here'
  if (error.keyword === 'enum' && Array.isArray(params.allowedValues))
    return `must be one of ${list(params.allowedValues)}`
  return error.message
}

const list = (names: unknown) =>
  Array.isArray(names) ? names.slice(0, 30).join(', ') : String(names)
