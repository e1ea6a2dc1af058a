// Parser of JSON bodies. Parsing and validating long bodies blocks the event loop, so each account may send
// only a few at a time, and they are parsed one after another with pauses in between.
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createAccountGates } from '../../base/async/account-gates.ts'
import { Invalid } from '../../base/errors.ts'
import { rememberMembers } from '../../base/json/json-text.ts'
import { hasWritten, propertyNames } from '../../base/schema.ts'
import { whenClosed } from '../exchange.ts'
import { smallBodyBytes, structureFault } from '../limits/body-limit.ts'

const isJson = /^application\/(?:[\w.-]{1,40}\+)?json(?:;|$)/
const maxReceived = { running: 2, waiting: 50, message: 'Too many requests with long bodies' }

declare module 'fastify' {
  interface FastifyRequest {
    /** Ends the admission of a long body. */
    finishBody?: () => void
  }
}

/**
 * Accepts JSON under any of its media types; an empty body of any type counts as none. Other types get a 415.
 */
export function acceptOnlyJson(server: FastifyInstance) {
  const parse = server.getDefaultJsonParser('error', 'error')
  const gates = createAccountGates(maxReceived)
  const waitForParser = createParserQueue()
  server.removeAllContentTypeParsers()
  // Some clients send a content type with every POST.
  server.addHook('onRequest', async ({ raw: { headers } }) => {
    const isForm = headers['content-type']?.startsWith('multipart/')
    if (headers['content-length'] === '0' && !isForm) delete headers['content-type']
  })
  server.addHook('preParsing', async (request, reply, payload) => {
    if (!mayBeLong(request)) return payload
    // Other callers may only send short bodies.
    const accountId = request.identity?.account.id ?? ''
    const { promise: finished, resolve } = Promise.withResolvers<void>()
    const leaving = new AbortController()
    whenClosed(reply, () => {
      leaving.abort()
      resolve()
    })
    request.finishBody = resolve
    await new Promise<void>((admit, refuse) => {
      gates(accountId, leaving.signal, async () => {
        admit()
        await finished
      }).catch(refuse)
    })
    return payload
  })
  server.addContentTypeParser<string>(
    isJson,
    { parseAs: 'string' },
    async (request: FastifyRequest, body: string) => {
      if (body.length > smallBodyBytes) await waitForParser()
      request.finishBody?.()
      if (body === '') return undefined
      const fault = structureFault(body)
      if (fault !== null) throw new Invalid(fault)
      const value = await new Promise((resolve, reject) =>
        parse(request, body, (error, value) => (error ? reject(error) : resolve(value))),
      )
      const names = writtenNames(request.routeOptions.schema?.body)
      if (names.size > 0) rememberMembers(value, body, names)
      return value
    },
  )
}

const namesBySchema = new WeakMap<object, ReadonlySet<string>>()

/** Members of a body that are stored as they were written. */
function writtenNames(schema: unknown): ReadonlySet<string> {
  const { properties } = (schema ?? {}) as { properties?: Record<string, object> }
  if (!properties) return new Set()
  let names = namesBySchema.get(properties)
  if (!names) {
    const written = Object.entries(properties).filter(([, property]) => hasWritten(property))
    names = new Set(written.flatMap(([name, property]) => propertyNames(name, property)))
    namesBySchema.set(properties, names)
  }
  return names
}

/** Whether the body is JSON that is not short, or of unknown length. */
function mayBeLong({ headers, routeOptions }: FastifyRequest): boolean {
  const { 'content-length': length, 'content-type': type = '' } = headers
  if (routeOptions.bodyLimit! <= smallBodyBytes || !isJson.test(type)) return false
  return length === undefined || Number(length) > smallBodyBytes
}

/**
 * Returns a function that waits until the caller may parse. One caller parses at a time, followed by a pause
 * as long as the parsing took, which leaves the event loop to other work.
 */
function createParserQueue() {
  let last: Promise<unknown> = Promise.resolve()
  return async () => {
    const previous = last
    const { promise, resolve } = Promise.withResolvers<void>()
    last = promise
    await previous
    const startedAt = performance.now()
    setImmediate(() => {
      void sleep(performance.now() - startedAt).then(() => resolve())
    })
  }
}
