// Alternative names of input fields (page_size for pageSize), mapped to the names of the schema.
import { isDeepStrictEqual } from 'node:util'
import { Invalid } from '../errors.ts'
import { propertyNames, type TSchema } from '../schema.ts'

type SchemaNode = {
  properties?: Record<string, SchemaNode>
  aliases?: readonly string[]
  readOnly?: boolean
  items?: SchemaNode
  anyOf?: SchemaNode[]
}

/** A copy of `value` with the schema's names, at every depth. The schema's own name wins over aliases. */
export function normalizeAliases(schema: TSchema, value: unknown): unknown {
  return walk(schema as SchemaNode, value)
}

/** The same for a body. Throws Invalid when two aliases of one field have different values. */
export function normalizeBodyAliases(schema: TSchema, value: unknown): unknown {
  return walk(schema as SchemaNode, value, 'body')
}

// `path` locates the value in error messages; without it conflicting aliases are ignored.
function walk(schema: SchemaNode, value: unknown, path?: string): unknown {
  if (Array.isArray(value)) {
    const { items } = schema
    return items ? value.map((item, i) => walk(items, item, path && `${path}/${i}`)) : value
  }
  if (typeof value !== 'object' || value === null) return value
  const shape = schema.properties ? schema : schema.anyOf?.find(variant => variant.properties)
  if (!shape?.properties) return value
  const names = aliasMap(shape)
  const result: Record<string, unknown> = {}
  const duplicates: [name: string, value: unknown][] = []
  for (const [key, member] of Object.entries(value)) {
    const name = names.get(key) ?? key
    const property = Object.hasOwn(shape.properties, name) ? shape.properties[name] : undefined
    const normalized = property ? walk(property, member, path && `${path}/${name}`) : member
    if (name !== key && (Object.hasOwn(value, name) || Object.hasOwn(result, name))) {
      if (path !== undefined && !property?.readOnly) duplicates.push([name, normalized])
    } else result[name] = normalized
  }
  for (const [name, duplicate] of duplicates)
    if (!isDeepStrictEqual(duplicate, result[name]))
      throw new Invalid(`${path}/${name} has two different values`)
  return result
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
