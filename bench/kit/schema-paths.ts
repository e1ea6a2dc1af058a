// Schemas of an OpenAPI document by the path of a member: through references, alternatives, lists and maps.

export type Schema = {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}
type Components = Record<string, Schema>

/** The schema and its alternatives, without references. */
function alternatives(schema: Schema, components: Components): Schema[] {
  if (schema.$ref) {
    const named = components[schema.$ref.split('/').at(-1)!]
    return named ? alternatives(named, components) : []
  }
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  return [schema, ...parts.flatMap(part => alternatives(part, components))]
}

type Found = { schemas: Schema[]; isRequired: boolean }

/** What a member may be, with all its alternatives; `*` are the items of a list or the values of a map. */
export function schemasAt(root: Schema, path: readonly string[], components: Components): Found {
  let found: Found = { schemas: alternatives(root, components), isRequired: true }
  for (const name of path) {
    const members = found.schemas.flatMap(schema => memberOf(schema, name) ?? [])
    found = {
      schemas: members.flatMap(schema => alternatives(schema, components)),
      isRequired: found.schemas.some(schema => schema.required?.includes(name)),
    }
  }
  return found
}

function memberOf(schema: Schema, name: string): Schema | undefined {
  if (name !== '*') return schema.properties?.[name]
  if (schema.items) return schema.items
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
}
