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
  runs: number
  seed: number
}
export type Violation = { method: string; path: string; body: string; problem: string }

/**
 * Returns the first `maxViolations` responses that do not conform, the number of responses by status, and
 * the operations that never succeeded.
 */
export async function fuzz(
  { document, base, callers, ids, bodies = {}, runs, seed }: Options,
  maxViolations = 20,
) {
  const operations = operationsOf(document)
  const violation = createConformanceCheck(document)
  const schemas = document.components.schemas
  const statuses: Record<string, number> = {}
  const succeeded = new Set<string>()
  const violations: Violation[] = []
  const each = operations.map(operation => ({
    arbitrary: arbitraryRequest(operation, {
      schemas,
      ids: (o: Operation, name: string) => ids(o.path, name),
      body: bodies[operation.operationId],
    }),
    weight:
      operation.method === 'DELETE' || /login|register|password|initialize/.test(operation.path)
        ? 1
        : 4,
  }))
  const requests = fc.tuple(fc.oneof(...each), fc.constantFrom(...callers))
  for (const [request, headers] of fc.sample(requests, { numRuns: runs, seed })) {
    if (violations.length >= maxViolations) break
    const { status, problem } = await send(base, request, headers, violation)
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

async function send(
  base: string,
  { operation, path, body, raw }: Request,
  headers: Record<string, string>,
  violation: ReturnType<typeof createConformanceCheck>,
) {
  const hasBody = operation.body !== null && (raw !== null || body !== undefined)
  const response = await fetch(base + path, {
    method: operation.method,
    redirect: 'manual',
    headers: { ...headers, ...(hasBody ? { 'content-type': 'application/json' } : {}) },
    ...(hasBody ? { body: raw ?? JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(30_000),
  })
  const text = (await readBody(response)).toString()
  const type = response.headers.get('content-type') ?? ''
  return {
    status: response.status,
    problem: violation(operation, { status: response.status, type, text }),
  }
}
