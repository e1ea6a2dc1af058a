// JSON serializers from response schemas, compiled on first use: compiling all of them takes longer than the
// rest of the server start.
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifySerializerCompiler } from 'fastify'
import { writeJsonTexts } from '../../base/json/json-text.ts'
import { hasWritten } from '../../base/schema.ts'
import type { SchemaNode } from '../normalize.ts'

type Serializer = (body: unknown) => string | Buffer

const compile = SerializerSelector()()
// By schema: the servers of a process share their routes.
const compiled = new WeakMap<object, Serializer>()

/** Serializer compiler for Fastify. */
export const compileSerializer: FastifySerializerCompiler<unknown> = route => {
  const schema = route.schema as object
  let serialize = compiled.get(schema)
  return body => {
    if (!serialize) {
      serialize = compiled.get(schema) ?? compileSchema(route as Parameters<typeof compile>[0])
      compiled.set(schema, serialize)
    }
    // Fastify sends buffers as well.
    return serialize(body) as string
  }
}

function compileSchema(route: Parameters<typeof compile>[0]): Serializer {
  const compilePart = (schema: object) => {
    const serialize = compile({ ...route, schema }) as (body: unknown) => string
    return hasWritten(schema) ? (body: unknown) => writeJsonTexts(serialize(body)) : serialize
  }
  const schema = route.schema as object
  return createPageSerializer(schema, compilePart) ?? compilePart(schema)
}

type Compile = (schema: SchemaNode) => (value: unknown) => string

/** Members that hold the records of a page, in every API. */
const listNames = ['data', 'content']

/** Null for a schema that does not describe a page. `compile` creates the serializers of its parts. */
export function createPageSerializer(
  schema: SchemaNode,
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
