// Fuzzing of the API: arbitrary requests of the OpenAPI document, whose responses must conform to it.
import fc from 'fast-check'
import { arbitraryRequest, type Request } from './arbitrary.ts'
import { readBody } from './body.ts'
import { createConformanceCheck } from './conformance.ts'
import { type Operation, operationsOf } from './operation.ts'

type Options = {
  document: any
  base: string
  /** Request headers to choose from: one per account. */
  callers: Record<string, string>[]
  ids: (path: string, name: string) => string[]
  /** Valid bodies of operations whose schema does not describe them. */
  bodies?: Record<string, fc.Arbitrary<unknown>>
  /** Forms by operation: fields and files, or a malformed body. */
  forms?: Record<string, fc.Arbitrary<Form>>
  /** Headers of some requests. */
  headers?: fc.Arbitrary<Record<string, string>>
  runs: number
  seed: number
}
export type Form = Record<string, string | Uint8Array> | string
export type Violation = { method: string; path: string; body: string; problem: string }

/**
 * Returns the first `maxViolations` responses that do not conform, the number of responses by status, and
 * the operations that never succeeded.
 */
export async function fuzz(
  { document, base, callers, ids, bodies = {}, forms = {}, runs, seed, ...options }: Options,
  maxViolations = 20,
) {
  const operations = operationsOf(document)
  const violation = createConformanceCheck(document)
  const schemas = document.components.schemas
  const statuses: Record<string, number> = {}
  const succeeded = new Set<string>()
  const violations: Violation[] = []
  const each = operations.map(operation => ({
    arbitrary: fc.tuple(
      arbitraryRequest(operation, {
        schemas,
        ids: (o: Operation, name: string) => ids(o.path, name),
        body: bodies[operation.operationId],
      }),
      forms[operation.operationId] ?? fc.constant(null),
    ),
    weight:
      operation.method === 'DELETE' || /login|register|password|initialize/.test(operation.path)
        ? 1
        : 4,
  }))
  const none = fc.constant<Record<string, string>>({})
  const headers = fc.oneof({ weight: 4, arbitrary: none }, options.headers ?? none)
  const requests = fc.tuple(fc.oneof(...each), fc.constantFrom(...callers), headers)
  for (const [[request, form], caller, more] of fc.sample(requests, { numRuns: runs, seed })) {
    if (violations.length >= maxViolations) break
    const sent = { ...request, form, headers: { ...more, ...caller } }
    const { status, problem } = await send(base, sent, violation)
    statuses[status] = (statuses[status] ?? 0) + 1
    if (status < 300) succeeded.add(request.operation.operationId)
    if (problem)
      violations.push({
        method: request.operation.method,
        path: request.path,
        body: request.raw ?? JSON.stringify(request.body) ?? '',
        problem,
      })
  }
  const neverSucceeded = operations
    .filter(o => !succeeded.has(o.operationId))
    .map(o => `${o.method} ${o.path}`)
  return { violations, statuses, neverSucceeded }
}

type Sent = Request & { form: Form | null; headers: Record<string, string> }

async function send(
  base: string,
  { operation, path, headers, ...request }: Sent,
  violation: ReturnType<typeof createConformanceCheck>,
) {
  const { type: contentType, body } = bodyOf({ operation, ...request })
  const response = await fetch(base + path, {
    method: operation.method,
    redirect: 'manual',
    headers: { ...headers, ...(contentType ? { 'content-type': contentType } : {}) },
    ...(body === null ? {} : { body }),
    signal: AbortSignal.timeout(30_000),
  })
  const text = (await readBody(response)).toString()
  const type = response.headers.get('content-type') ?? ''
  return {
    status: response.status,
    problem: violation(operation, { status: response.status, type, text }),
  }
}

type Content = { type: string | null; body: string | FormData | null }

function bodyOf({ operation, form, raw, body }: Omit<Sent, 'path' | 'headers'>): Content {
  if (typeof form === 'string') return { type: 'multipart/form-data; boundary=x', body: form }
  if (form) {
    const parts = new FormData()
    for (const [name, value] of Object.entries(form))
      if (typeof value === 'string') parts.set(name, value)
      else parts.set(name, new Blob([new Uint8Array(value)]), `${name}.bin`)
    return { type: null, body: parts }
  }
  const hasBody = operation.body !== null && (raw !== null || body !== undefined)
  return hasBody
    ? { type: 'application/json', body: raw ?? JSON.stringify(body) }
    : { type: null, body: null }
}
