// JSON Schemas as OpenAPI 3.1 schema objects: named component schemas, without internal keywords.
export type Json = Record<string, unknown>

/**
 * Keywords of our own in a schema. `component`: name among the component schemas. `documentedAs`: the
 * schema in the document, where validation is more lenient. `mediaTypes`: further types of a response.
 */
export type AnnotatedSchema = Json & {
  component?: string
  documentedAs?: Json
  mediaTypes?: readonly string[]
  aliases?: unknown
  hasLinkHeader?: boolean
}

export type Schemas = Map<string, object>

const literalKeys = new Set(['default', 'examples', 'example', 'enum', 'const'])

/** A copy of `schema` in which named schemas are replaced by references and added to `components`. */
export function withReferences(schema: unknown, components: Schemas): unknown {
  if (Array.isArray(schema)) return schema.map(member => withReferences(member, components))
  if (typeof schema !== 'object' || schema === null) return schema
  const {
    component,
    documentedAs,
    aliases: _aliases,
    mediaTypes: _mediaTypes,
    hasLinkHeader: _hasLinkHeader,
    ...keywords
  } = schema as AnnotatedSchema
  if (documentedAs && !component) return withReferences(documentedAs, components)
  const plain = () =>
    Object.fromEntries(
      Object.entries(documentedAs ?? keywords).map(([key, value]) => [
        key,
        literalKeys.has(key) ? value : withReferences(value, components),
      ]),
    )
  if (!component) return plain()
  if (!components.has(component)) {
    // Reserved first, since a schema may refer to itself.
    components.set(component, {})
    components.set(component, plain())
  }
  return { $ref: `#/components/schemas/${component}` }
}

export function sorted<T>(members: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)))
}
