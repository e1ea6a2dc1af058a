// Writes answers by the schema of their route. The writer of an answer is built when it is first
// needed: all of them at once take longer than everything else that a start does.
import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'
import type { FastifySerializerCompiler } from 'fastify'

const compile = SerializerSelector()()

/** Serializers for Fastify. */
export const compileSerializer: FastifySerializerCompiler<unknown> = route => {
  let write: ((body: unknown) => string) | null = null
  return body => {
    write ??= compile(route as Parameters<typeof compile>[0])
    return write(body)
  }
}
