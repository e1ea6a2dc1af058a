// Sends requests made from the OpenAPI document and compares the answers with it.
import fc from 'fast-check'
import { type Request, requestOf } from './arbitrary.ts'
import { bodyOf } from './body.ts'
import { conformance } from './conform.ts'
import { type Operation, operationsOf } from './operation.ts'

type Fuzzing = {
  document: any
  base: string
  /** Headers of the callers to choose from. */
  callers: Record<string, string>[]
  ids: (path: string, name: string) => string[]
  runs: number
  seed: number
}
export type Fault = { method: string; path: string; body: string; wrong: string }

/** What broke its promise, at most `enough` of it; and the number of answers by status. */
export async function fuzz({ document, base, callers, ids, runs, seed }: Fuzzing, enough = 20) {
  const operations = operationsOf(document)
  const conform = conformance(document)
  const schemas = document.components.schemas
  const statuses: Record<string, number> = {}
  const succeeded = new Set<string>()
  const faults: Fault[] = []
  const each = operations.map(operation => ({
    arbitrary: requestOf(operation, {
      schemas,
      ids: (o: Operation, name: string) => ids(o.path, name),
    }),
    weight:
      operation.method === 'DELETE' || /login|register|password|initialize/.test(operation.path)
        ? 1
        : 4,
  }))
  const request = fc.tuple(fc.oneof(...each), fc.constantFrom(...callers))
  for (const [one, headers] of fc.sample(request, { numRuns: runs, seed })) {
    if (faults.length >= enough) break
    const { status, wrong } = await send(base, one, headers, conform)
    statuses[status] = (statuses[status] ?? 0) + 1
    if (status < 300) succeeded.add(one.operation.operationId)
    if (wrong)
      faults.push({
        method: one.operation.method,
        path: one.path,
        body: one.raw ?? JSON.stringify(one.body) ?? '',
        wrong,
      })
  }
  const never = operations
    .filter(o => !succeeded.has(o.operationId))
    .map(o => `${o.method} ${o.path}`)
  return { faults, statuses, never }
}

async function send(
  base: string,
  { operation, path, body, raw }: Request,
  headers: Record<string, string>,
  conform: ReturnType<typeof conformance>,
) {
  const hasBody = operation.body !== null && (raw !== null || body !== undefined)
  const response = await fetch(base + path, {
    method: operation.method,
    redirect: 'manual',
    headers: { ...headers, ...(hasBody ? { 'content-type': 'application/json' } : {}) },
    ...(hasBody ? { body: raw ?? JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(30_000),
  })
  const text = (await bodyOf(response)).toString()
  const type = response.headers.get('content-type') ?? ''
  return {
    status: response.status,
    wrong: conform(operation, { status: response.status, type, text }),
  }
}
