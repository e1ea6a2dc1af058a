// The OpenAPI document of the API, and the check that every response of a test conforms to it.
import { resources } from '../../../lib/api/resources.ts'
import { openapiDocument } from '../../../lib/http/openapi/openapi.ts'
import { createConformanceCheck } from './conformance.ts'
import { operationsOf } from './operation.ts'

/** The document, built once per process. */
export const openapi = once(() => openapiDocument(resources, '1') as any)

const checks = once(() => {
  const operations = operationsOf(openapi()).map(operation => ({
    operation,
    variables: operation.path.split('{').length,
    pattern: new RegExp(
      `^${operation.path.replace(/\{(\w+)\}/g, (_, name) => (name === 'path' ? '.+' : '[^/]+'))}$`,
    ),
  }))
  // As in the router, fixed segments go before parameters.
  operations.sort((a, b) => a.variables - b.variables)
  return { operations, violation: createConformanceCheck(openapi()) }
})

/** Throws if the document does not allow this response to a request. */
export function assertConforms(
  method: string,
  url: string,
  { status, type, bytes }: { status: number; type: string; bytes: Buffer },
): void {
  if (status === 404 || status === 429) return
  const { operations, violation } = checks()
  const path = url.split('?')[0]!
  const match = operations.find(o => o.operation.method === method && o.pattern.test(path))
  if (!match) return
  const text = type.includes('json') ? bytes.toString() : bytes.toString('latin1')
  const problem = violation(match.operation, { status, type, text })
  if (problem) throw new Error(`${method} ${url}: ${problem}`)
}

function once<T>(create: () => T): () => T {
  let value: T | undefined
  return () => (value ??= create())
}
