// Clients spell names in two ways (page_size, pageSize) and sometimes with other words. Input is
// brought to the names of the schema before it is checked.
import { isDeepStrictEqual } from 'node:util'
import { Invalid } from '../errors.ts'
import { spellings, type TSchema } from '../schema.ts'

type Named = {
  properties?: Record<string, Named>
  aliases?: readonly string[]
  readOnly?: boolean
  items?: Named
  anyOf?: Named[]
}

/** `value` with the schema's names for its members, objects and lists inside it too. A name of the schema's own wins over other spellings. */
export function respell(schema: TSchema, value: unknown): unknown {
  return walk(schema as Named, value)
}

/** The same for a body, where two spellings of a member that disagree are Invalid: either may be the one that was meant. */
export function respellBody(schema: TSchema, value: unknown): unknown {
  return walk(schema as Named, value, 'body')
}

// `at` is the place of the value where spellings must agree.
function walk(schema: Named, value: unknown, at?: string): unknown {
  if (Array.isArray(value))
    return schema.items ? value.map((v, i) => walk(schema.items!, v, at && `${at}/${i}`)) : value
  if (typeof value !== 'object' || value === null) return value
  const shape = schema.properties ? schema : schema.anyOf?.find(s => s.properties)
  if (!shape?.properties) return value
  const names = namesOf(shape)
  const out: Record<string, unknown> = {}
  const twice: [string, unknown][] = []
  for (const [key, member] of Object.entries(value)) {
    const name = names.get(key) ?? key
    const inner = Object.hasOwn(shape.properties, name) ? shape.properties[name] : undefined
    const spelt = inner ? walk(inner, member, at && `${at}/${name}`) : member
    if (name !== key && (Object.hasOwn(value, name) || Object.hasOwn(out, name))) {
      if (at !== undefined && !inner?.readOnly) twice.push([name, spelt])
    } else out[name] = spelt
  }
  for (const [name, spelt] of twice)
    if (!isDeepStrictEqual(spelt, out[name]))
      throw new Invalid(`${at}/${name} is given twice, and differently`)
  return out
}

const known = new WeakMap<object, Map<string, string>>()

function namesOf(schema: Named): Map<string, string> {
  const before = known.get(schema)
  if (before) return before
  const names = new Map<string, string>()
  for (const [name, property] of Object.entries(schema.properties!)) {
    for (const spelling of spellings(name, property)) names.set(spelling, name)
  }
  known.set(schema, names)
  return names
}
