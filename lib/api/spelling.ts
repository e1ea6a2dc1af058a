// Clients spell names in two ways (page_size, pageSize) and sometimes with other words. Input is
// brought to the names of the schema before it is checked.
import type { TSchema } from '../schema.ts'

type Named = {
  properties?: Record<string, Named>
  aliases?: readonly string[]
  items?: Named
  anyOf?: Named[]
}

/** `value` with the schema's names for its members, objects and lists inside it too. A name of the schema's own wins over other spellings. */
export function respell(schema: TSchema, value: unknown): unknown {
  return walk(schema as Named, value)
}

function walk(schema: Named, value: unknown): unknown {
  if (Array.isArray(value)) return schema.items ? value.map(v => walk(schema.items!, v)) : value
  if (typeof value !== 'object' || value === null) return value
  const shape = schema.properties ? schema : schema.anyOf?.find(s => s.properties)
  if (!shape?.properties) return value
  const names = namesOf(shape)
  const out: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    const name = names.get(key) ?? key
    if (name !== key && (name in value || name in out)) continue
    const inner = Object.hasOwn(shape.properties, name) ? shape.properties[name] : undefined
    out[name] = inner ? walk(inner, member) : member
  }
  return out
}

const known = new WeakMap<object, Map<string, string>>()

function namesOf(schema: Named): Map<string, string> {
  const before = known.get(schema)
  if (before) return before
  const names = new Map<string, string>()
  for (const [name, property] of Object.entries(schema.properties!)) {
    for (const alias of property.aliases ?? []) names.set(alias, name)
    names.set(
      name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
      name,
    )
    names.set(name, name)
  }
  known.set(schema, names)
  return names
}
