// Contract check of the API: what the OpenAPI document allows in a query or body is accepted, and what it
// forbids is refused with 400.
import { readBody } from './body.ts'
import { type Json, type Operation, operationsOf } from './operation.ts'
import { createSchemaValues, type SchemaValues } from './schema-values.ts'

export type ContractCase = {
  operation: Operation
  path: string
  body: unknown
  isAllowed: boolean
  /** What varies: `query page`, `body`. */
  subject: string
}

/** A refusal of a value that a JSON Schema cannot exclude. */
export type Exception = { operation: RegExp; message: RegExp; reason: string }

export type Difference = { case: string; status: number; message: string }

type Options = {
  document: any
  base: string
  headers: Record<string, string>
  ids: (path: string, name: string) => string[]
  exceptions: readonly Exception[]
  /** Members that a body must have to be accepted at all: an existing folder, a current password. */
  bodies: Record<string, (count: number) => Json>
  /** Sends one in this many cases of a body or parameter; 1 for all. */
  stride: number
  /** Maximum number of operations with the same schema of a body or parameter; 0 for all. */
  repetitions: number
}

/** Sends every case; returns the differences and how often each exception applied. */
export async function checkContract(options: Options) {
  const { base, headers, exceptions } = options
  const differences: Difference[] = []
  const counts = { allowed: 0, forbidden: 0 }
  const applied = new Map(exceptions.map(({ reason }) => [reason, 0]))
  for (const { operation, path, body, isAllowed, subject } of contractCases(options)) {
    counts[isAllowed ? 'allowed' : 'forbidden']++
    const response = await fetch(base + path, {
      method: operation.method,
      redirect: 'manual',
      headers: {
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    })
    const text = (await readBody(response)).toString('utf8')
    const { status } = response
    const isRefused = status === 400 || status === 422
    // 431: a query beyond the limit of the URL.
    if (status < 500 && (isAllowed ? !isRefused : status === 400 || status === 431)) continue
    const message = text.slice(0, 200)
    const name = `${operation.method} ${operation.path}`
    const exception = exceptions.find(e => e.operation.test(name) && e.message.test(message))
    if (exception && status >= 400 && status < 500)
      applied.set(exception.reason, applied.get(exception.reason)! + 1)
    else
      differences.push({
        case: `${isAllowed ? 'allowed' : 'forbidden'} ${subject} of ${operation.method} ${path} ${JSON.stringify(body)?.slice(0, 300) ?? ''}`,
        status,
        message,
      })
  }
  return { differences, counts, applied }
}

function* contractCases({
  document,
  ids,
  bodies,
  repetitions,
  stride,
}: Options): Generator<ContractCase> {
  const values = createSchemaValues(document.components.schemas)
  const seen = new Map<string, number>()
  const isRepeated = (key: string) => {
    const count = (seen.get(key) ?? 0) + 1
    seen.set(key, count)
    return repetitions > 0 && count > repetitions
  }
  for (const operation of operationsOf(document)) {
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(ids(operation.path, name)[0] ?? '00000000-0000-7000-8000-00000000dead'),
    )
    const extra = bodies[operation.operationId] ?? (() => ({}))
    let count = 0
    const required = operation.parameters.filter(p => p.in === 'query' && p.required)
    const search = new URLSearchParams(
      required.map((p): [string, string] => [p.name, String(values.of(p.schema).allowed[0])]),
    )
    for (const { name, schema } of operation.parameters.filter(p => p.in === 'query')) {
      if (isRepeated(`${name} ${JSON.stringify(schema)}`)) continue
      for (const { text, isAllowed } of sampled(queryCases(schema, values), stride)) {
        const query = new URLSearchParams(search)
        query.set(name, text)
        const body = operation.body ? validBody(operation.body, values, extra(count++)) : undefined
        const url = `${path}?${query}`
        yield { operation, path: url, body, isAllowed, subject: `query ${name}` }
      }
    }
    if (!operation.body || isRepeated(`body ${JSON.stringify(operation.body)}`)) continue
    const { allowed, forbidden } = values.of(operation.body)
    const isValid = values.checkerOf(operation.body)
    const url = search.size > 0 ? `${path}?${search}` : path
    for (const body of [...sampled(allowed, stride), ...sampled(forbidden, stride)]) {
      const completed = complete(body, { base: allowed[0] as Json, extra: extra(count++) })
      const isAllowed = isValid(completed)
      yield { operation, path: url, body: completed, isAllowed, subject: 'body' }
    }
  }
}

/** The first and every so many of the others, from another place in each list. */
function sampled<T>(values: T[], stride: number): T[] {
  return values.filter((_, i) => i === 0 || (i + values.length) % stride === 0)
}

const validBody = (schema: Json, values: SchemaValues, extra: Json) => ({
  ...(values.of(schema).allowed[0] as Json),
  ...extra,
})

/** With its required members in place of the base's. */
function complete(body: unknown, { base, extra }: { base: Json; extra: Json }): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const members = body as Json
  const replaced = Object.entries(extra).filter(([name]) => members[name] === base[name])
  return { ...members, ...Object.fromEntries(replaced) }
}

// Other forms that are accepted of a boolean, by the description of the document.
const booleans: Record<string, boolean> = {
  ...{ true: true, True: true, 1: true },
  ...{ false: false, False: false, 0: false },
}

/** Values of a parameter as text: valid if it is valid as text, number or boolean. */
function queryCases(schema: Json, values: SchemaValues) {
  const isValid = values.checkerOf(schema)
  const { allowed, forbidden } = values.of(schema)
  const texts = [...allowed, ...forbidden]
    .filter(value => ['string', 'number', 'boolean'].includes(typeof value))
    .map(String)
    // An empty parameter counts as absent.
    .filter(text => text !== '')
  return [...new Set(texts)].map(text => ({
    text,
    isAllowed: [text, Number(text), booleans[text] ?? text].some(value => isValid(value)),
  }))
}
