// JSON of a page of records, encoded record by record. As one string, a page would be assembled from
// thousands of pieces and then copied, with two bytes for every character if one of them needs it.

type Schema = {
  type?: string
  properties?: Record<string, Schema>
  items?: Schema
  required?: string[]
}
type Compile = (schema: Schema) => (value: unknown) => string

/** Members that hold the records of a page, in every API. */
const listNames = ['data', 'content']

/** Null for a schema that does not describe a page. `compile` creates the serializers of its parts. */
export function createPageSerializer(
  schema: Schema,
  compile: Compile,
): ((page: unknown) => Buffer) | null {
  const name = listNames.find(
    name => schema.properties?.[name]?.items && schema.required?.includes(name),
  )
  if (name === undefined || schema.type !== 'object') return null
  const { [name]: list, ...properties } = schema.properties!
  const required = schema.required?.filter(other => other !== name) ?? []
  const serializeItem = compile(list!.items!)
  const serializeRest = compile({ ...schema, properties, required })
  return page => {
    const { [name]: items, ...rest } = page as Record<string, unknown[]>
    const text = createText()
    text.add(`{"${name}":[`)
    for (const [i, item] of items!.entries()) {
      const json = serializeItem(item)
      if (i === 0) text.reserve(Math.min(json.length * items!.length * 1.2, maxReserved))
      else text.add(',')
      text.add(json)
    }
    const members = serializeRest(rest).slice(1)
    text.add(members === '}' ? ']}' : `],${members}`)
    return text.bytes()
  }
}

const firstCapacity = 2048
// More than a page of records of typical length.
const maxReserved = 4 * 1024 * 1024
// Maximum UTF-8 length of a UTF-16 code unit.
const maxUnitBytes = 3

/** A growing UTF-8 text. */
function createText() {
  let buffer = Buffer.allocUnsafe(firstCapacity)
  let length = 0
  function reserve(bytes: number) {
    if (length + bytes <= buffer.length) return
    const larger = Buffer.allocUnsafe(Math.ceil(Math.max(length + bytes, buffer.length * 1.5)))
    buffer.copy(larger, 0, 0, length)
    buffer = larger
  }
  return {
    reserve,
    add(text: string) {
      if (length + text.length * maxUnitBytes > buffer.length) reserve(Buffer.byteLength(text))
      length += buffer.write(text, length)
    },
    bytes: () => buffer.subarray(0, length),
  }
}
