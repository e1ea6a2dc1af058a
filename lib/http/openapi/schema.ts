// JSON Schemas as OpenAPI 3.1 schema objects, with named component schemas and without internal keywords.
// Request schemas include alternative names and null for unchanged fields. Names are in camelCase only,
// because client generators write `page_size` and `pageSize` alike.
import { propertyNames } from '../../base/schema.ts'
import { allowsNull } from '../normalize.ts'

export type Json = Record<string, unknown>

/**
 * Our own schema keywords. `component`: name among the component schemas. `documentedAs`: the schema to
 * document where validation is more lenient. `mediaTypes`: additional types of a response. `isWritten`: a
 * value that is stored and returned as text.
 */
export type AnnotatedSchema = Json & {
  component?: string
  documentedAs?: Json
  mediaTypes?: readonly string[]
  aliases?: unknown
  hasLinkHeader?: boolean
  isWritten?: boolean
}

export type Schemas = Map<string, object>

const literalKeys = new Set(['default', 'examples', 'example', 'enum', 'const'])

/** A copy of a response schema; named schemas are replaced by references and added to `components`. */
export const responseSchema = (schema: unknown, components: Schemas): unknown =>
  withReferences(schema, components, withDistinctProperties)

/** Like `responseSchema`, for a request. */
export const requestSchema = (schema: unknown, components: Schemas): unknown =>
  withReferences(schema, components, withAcceptedProperties)

const mapValues = (object: Json, map: (value: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]))

type Transform = (schema: Json) => Json

function withReferences(schema: unknown, components: Schemas, transform: Transform): unknown {
  const copied = (member: unknown) => withReferences(member, components, transform)
  if (Array.isArray(schema)) return schema.map(copied)
  if (typeof schema !== 'object' || schema === null) return schema
  const {
    component,
    documentedAs,
    aliases: _aliases,
    mediaTypes: _mediaTypes,
    hasLinkHeader: _hasLinkHeader,
    isWritten: _isWritten,
    ...keywords
  } = schema as AnnotatedSchema
  // A separately documented schema is exact.
  if (documentedAs && !component)
    return withReferences(documentedAs, components, withDistinctProperties)
  const inner = (value: unknown) =>
    withReferences(value, components, documentedAs ? withDistinctProperties : transform)
  // Names of properties are not keywords: one may be called `aliases`.
  const ofKey = (key: string, value: unknown) =>
    key === 'properties' ? mapValues(value as Json, inner) : inner(value)
  const plain = () =>
    Object.fromEntries(
      Object.entries(documentedAs ?? transform(keywords)).map(([key, value]) => [
        key,
        literalKeys.has(key) ? value : ofKey(key, value),
      ]),
    )
  if (!component) return plain()
  if (!components.has(component)) {
    // Reserved first, because a schema may refer to itself.
    components.set(component, {})
    components.set(component, plain())
  }
  return { $ref: `#/components/schemas/${component}` }
}

type Property = Json & { aliases?: readonly string[]; readOnly?: boolean; description?: string }

type ObjectSchema = Json & {
  properties?: Record<string, Property>
  required?: readonly string[]
}

/** Drops snake_case property names that also exist in camelCase. */
function withDistinctProperties(schema: Json): Json {
  const { properties, required } = schema as ObjectSchema
  if (!properties) return schema
  const names = distinctNames(Object.keys(properties))
  if (names.length === Object.keys(properties).length) return schema
  return {
    ...schema,
    properties: Object.fromEntries(names.map(name => [name, properties[name]])),
    ...(required ? { required: required.filter(name => names.includes(name)) } : {}),
  }
}

const inAnyCase = (name: string) => name.replaceAll('_', '').toLowerCase()

/** Names that do not just differ in case and underscores, preferably in camelCase. */
function distinctNames(names: readonly string[]): string[] {
  const distinct = new Map<string, string>()
  for (const name of names.toSorted((a, b) => Number(a.includes('_')) - Number(b.includes('_'))))
    if (!distinct.has(inAnyCase(name))) distinct.set(inAnyCase(name), name)
  return names.filter(name => distinct.get(inAnyCase(name)) === name)
}

/** An object schema with the alternative names of its properties, and null for optional ones. */
function withAcceptedProperties(schema: Json): Json {
  const { properties, required = [] } = withDistinctProperties(schema) as ObjectSchema
  if (!properties) return schema
  const accepted: Json = {}
  const alternatives: Json[] = []
  // Client generators assume that a property with a default is always present.
  for (const [name, { default: _default, ...property }] of Object.entries(properties)) {
    const isRequired = required.includes(name)
    const value = isRequired || allowsNull(property) ? property : orNull(property)
    const aliases = aliasesOf(name, properties)
    accepted[name] = value
    for (const alias of aliases) accepted[alias] ??= aliasOf(name, value as Property)
    if (isRequired && aliases.length > 0)
      alternatives.push({ anyOf: [name, ...aliases].map(key => ({ required: [key] })) })
  }
  const stillRequired = required.filter(name => aliasesOf(name, properties).length === 0)
  const { required: _required, ...others } = schema
  return {
    ...others,
    properties: accepted,
    ...(stillRequired.length > 0 ? { required: stillRequired } : {}),
    ...(alternatives.length > 0 ? { allOf: alternatives } : {}),
  }
}

/** The other names of a property that requests may use, except snake_case ones. */
export function aliasesOf(name: string, properties: Record<string, Property>): string[] {
  const taken = new Set(Object.keys(properties).map(inAnyCase))
  return distinctNames(propertyNames(name, properties[name]!)).filter(
    alias => !taken.has(inAnyCase(alias)),
  )
}

/** The schema of a property under another name. */
export function aliasOf(name: string, property: Property): Json {
  const { description: _description, default: _default, documentedAs, ...rest } = property
  const documented = documentedAs as Json | undefined
  const description = `Same as \`${name}\`.`
  if (!documented) return { ...rest, description }
  const { description: _own, default: _value, ...shown } = documented
  return { ...rest, documentedAs: { ...shown, description } }
}

function orNull(property: Property): Json {
  const { type, enum: values, component, documentedAs, ...rest } = property
  if (documentedAs && !component)
    return { ...property, documentedAs: orNull(documentedAs as Property) }
  if (typeof type !== 'string' || component || type === 'object' || type === 'array') {
    const { description, ...plain } = property
    return { anyOf: [plain, { type: 'null' }], ...(description ? { description } : {}) }
  }
  return { ...rest, type: [type, 'null'], ...(values ? { enum: [...(values as []), null] } : {}) }
}

export function sorted<T>(members: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)))
}
