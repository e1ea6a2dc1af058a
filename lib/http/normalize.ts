// Normalizes request values by their schema: alternative field names (page_size for pageSize), lowercase
// UUIDs, null for unchanged fields.
import { isDeepStrictEqual } from 'node:util'
import { Invalid } from '../base/errors.ts'
import { propertyNames, type TSchema } from '../base/schema.ts'

export type SchemaNode = {
  type?: string | readonly string[]
  enum?: readonly unknown[]
  format?: string
  maxLength?: number
  properties?: Record<string, SchemaNode>
  required?: readonly string[]
  aliases?: readonly string[]
  readOnly?: boolean
  additionalProperties?: unknown
  patternProperties?: unknown
  items?: SchemaNode
  maxItems?: number
  maxProperties?: number
  anyOf?: SchemaNode[]
}

/** A copy of `value` with the schema's names, at every depth. The schema's own name wins over aliases. */
export function normalizeAliases(schema: TSchema, value: unknown): unknown {
  return walk(schema as SchemaNode, value)
}

/**
 * Like `normalizeAliases`, for a body; also drops optional fields that are null where the schema does not
 * allow null, since such fields are unchanged. Throws Invalid when two aliases of a field have different
 * values, or when there are more items or fields than the schema allows: validation visits each of them.
 */
export function normalizeBody(schema: TSchema, value: unknown): unknown {
  return walk(schema as SchemaNode, value, 'body')
}

// `path` locates the value in error messages; without it conflicting aliases are ignored.
function walk(schema: SchemaNode, value: unknown, path?: string): unknown {
  if (typeof value === 'string') return normalizeText(variantWith(schema, 'format')?.format, value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const { items, maxItems } = variantWith(schema, 'items') ?? {}
    if (path !== undefined && maxItems !== undefined && value.length > maxItems)
      throw new Invalid(`${path} must not have more than ${maxItems} items`, {
        details: [{ path, message: `must not have more than ${maxItems} items` }],
      })
    return items ? value.map((item, i) => walk(items, item, path && `${path}/${i}`)) : value
  }
  const shape = variantWith(schema, 'properties')
  if (!shape?.properties) {
    if (path !== undefined) limitMembers(schema, value, path)
    return value
  }
  const names = aliasMap(shape)
  if (path !== undefined)
    limitFields(value, { names, isClosed: shape.additionalProperties === false, path })
  const result: Record<string, unknown> = {}
  const duplicates: [name: string, value: unknown][] = []
  for (const [key, member] of Object.entries(value)) {
    const name = names.get(key) ?? key
    const property = Object.hasOwn(shape.properties, name) ? shape.properties[name] : undefined
    if (path !== undefined && member === null && property && isUnchanged(shape, name, property))
      continue
    const normalized = property ? walk(property, member, path && `${path}/${key}`) : member
    if (name !== key && (Object.hasOwn(value, name) || Object.hasOwn(result, name))) {
      if (path !== undefined && !property?.readOnly) duplicates.push([key, normalized])
    } else result[name] = normalized
  }
  for (const [key, duplicate] of duplicates) {
    const name = names.get(key)!
    if (!isDeepStrictEqual(duplicate, result[name]))
      throw new Invalid(`${path}/${nameIn(value, shape, name)} has two different values`)
  }
  return result
}

/**
 * The path of a normalized value with the names used in `input`: `/scanning_config/default_mode` for
 * `/scanningConfig/scanMode`.
 */
export function sentPath(schema: TSchema, input: unknown, path: string): string {
  let node: SchemaNode | undefined = schema as SchemaNode
  let value = input
  const names = path.split('/').map((name, i) => {
    if (i === 0) return name
    const shape: SchemaNode = (node && variantWith(node, 'properties')) ?? {}
    const sent = nameIn(value, shape, name)
    node = shape.properties?.[name] ?? (node && variantWith(node, 'items')?.items)
    value = (value as Record<string, unknown> | null | undefined)?.[sent]
    return sent
  })
  return names.join('/')
}

/**
 * Maps the schema's names to the spelling in `input`: `scanMode` to `default_mode`. Omits names that `input`
 * also has in the schema's spelling. In free-form objects names are in camelCase.
 */
export function sentNames(schema: TSchema, input: unknown): Map<string, string> {
  const sent = new Map<string, string>()
  const unchanged = new Set<string>()
  const visit = (node: SchemaNode, value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      const { items = {} } = variantWith(node, 'items') ?? {}
      for (const item of value) visit(items, item)
      return
    }
    const shape = variantWith(node, 'properties')
    for (const [key, member] of Object.entries(value)) {
      const name = (shape && aliasMap(shape).get(key)) ?? camelCase(key)
      if (name === key) unchanged.add(name)
      else sent.set(name, key)
      visit(shape?.properties?.[name] ?? {}, member)
    }
  }
  visit(schema as SchemaNode, input)
  for (const name of unchanged) sent.delete(name)
  return sent
}

const camelCase = (key: string) =>
  key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

function nameIn(value: unknown, shape: SchemaNode, name: string): string {
  if (typeof value !== 'object' || value === null || !shape.properties) return name
  if (Object.hasOwn(value, name)) return name
  const names = aliasMap(shape)
  return Object.keys(value).find(key => names.get(key) === name) ?? name
}

/**
 * Throws Invalid for more fields than are possible. A smaller number of unknown ones is left to validation.
 */
function limitFields(
  value: object,
  {
    names,
    isClosed,
    path,
  }: { names: ReadonlyMap<string, string>; isClosed: boolean; path: string },
) {
  const keys = Object.keys(value)
  const max = isClosed ? names.size : names.size + maxUnknownFields
  if (keys.length <= max) return
  const unknown = keys.filter(key => !names.has(key))
  const message = isClosed
    ? `must not have ${joinNames(unknown)}`
    : `must not have more than ${max} fields`
  throw new Invalid(`${path} ${message}`, { details: [{ path, message }] })
}

// For objects that may have any other fields.
const maxUnknownFields = 100

/** Like `limitFields`, for a map. Values of any type are not visited by validation and not limited here. */
function limitMembers(schema: SchemaNode, value: object, path: string) {
  const map =
    variantWith(schema, 'additionalProperties') ?? variantWith(schema, 'patternProperties')
  if (!map || Object.keys(value).length <= (map.maxProperties ?? maxMembers)) return
  const message = `must not have more than ${map.maxProperties ?? maxMembers} members`
  throw new Invalid(`${path} ${message}`, { details: [{ path, message }] })
}

const maxMembers = 1000
const maxReportedNames = 30
const maxNameLength = 100

/** Names for an error message, of bounded length. */
export const joinNames = (names: readonly unknown[]): string =>
  names
    .filter(name => name !== null)
    .slice(0, maxReportedNames)
    .map(name => String(name).slice(0, maxNameLength))
    .join(', ')

function normalizeText(format: string | undefined, value: string): string {
  // Ids are sometimes compared as text, and PostgreSQL writes them in lowercase.
  if (format === 'uuid') return value.toLowerCase()
  // Date does not support leap seconds.
  return format === 'date-time' ? value.replace(/:60(?=[.Zz+-])/, ':59') : value
}

/** The schema, or its variant, that has a keyword. */
const variantWith = (schema: SchemaNode, keyword: keyof SchemaNode): SchemaNode | undefined =>
  schema[keyword] === undefined
    ? schema.anyOf?.find(variant => variant[keyword] !== undefined)
    : schema

function isUnchanged({ required = [] }: SchemaNode, name: string, property: SchemaNode): boolean {
  return !required.includes(name) && !allowsNull(property)
}

/** Whether the schema allows null. */
export function allowsNull({ type, anyOf, ...rest }: SchemaNode): boolean {
  if (anyOf) return anyOf.some(allowsNull)
  if (type !== undefined) return [type].flat().includes('null')
  return !('enum' in rest || 'const' in rest || '$ref' in rest)
}

const aliasMaps = new WeakMap<object, Map<string, string>>()

function aliasMap(schema: SchemaNode): Map<string, string> {
  const cached = aliasMaps.get(schema)
  if (cached) return cached
  const names = new Map<string, string>()
  for (const [name, property] of Object.entries(schema.properties!))
    for (const alias of propertyNames(name, property)) names.set(alias, name)
  aliasMaps.set(schema, names)
  return names
}
