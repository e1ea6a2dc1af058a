// JSON serializers from response schemas, compiled on first use: compiling all of them takes longer than the
// rest of the server start.
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifySerializerCompiler } from 'fastify'
import { writeJsonTexts } from '../../base/json/json-text.ts'
import { hasWritten } from '../../base/schema.ts'
import { createPageSerializer } from './serialize-page.ts'

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
