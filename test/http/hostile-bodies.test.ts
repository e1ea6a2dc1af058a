// Hostile JSON bodies: the work for one request is bounded by the schema of its route.
import { test } from 'tap'
import { resources } from '../../lib/api/resources.ts'
import { bodyLimit, smallBodyBytes } from '../../lib/http/limits/body-limit.ts'
import { endpoints, type Route } from '../../lib/http/route.ts'
import { compileValidator } from '../../lib/http/validate.ts'
import { komgaRoutes } from '../../lib/protocols/komga/routes/routes.ts'
import { enableKomga } from '../kit/komga.ts'
import { startApiWithoutPipeline } from '../kit/server.ts'
import { cpuMs } from '../kit/suite/cpu-time.ts'
import { oneIn } from '../kit/suite/sample.ts'

// Shorter than the limit: the costs compared are proportional to the length.
const maxTestedBytes = 50_000
const unknownId = '00000000-0000-7000-8000-00000000dead'
type Node = {
  type?: string | string[]
  properties?: Record<string, Node>
  items?: Node
  maxItems?: number
  anyOf?: Node[]
}
const variants = (node: Node): Node[] => (node.anyOf ? node.anyOf.flatMap(variants) : [node])

/** Objects with `value` in the place of every field of the schema, at every depth. */
function* placements(schema: Node, value: unknown): Generator<unknown> {
  yield value
  for (const { properties = {}, items } of variants(schema)) {
    for (const [name, property] of Object.entries(properties))
      for (const placed of placements(property, value)) yield { [name]: placed }
    if (items) for (const placed of placements(items, value)) yield [placed]
  }
}

/** The value, counting the properties that are read from it. */
function counted(value: object, counter: { reads: number }): object {
  return new Proxy(value, {
    get(target, key) {
      counter.reads++
      const member: unknown = Reflect.get(target, key)
      return typeof member === 'object' && member !== null ? counted(member, counter) : member
    },
  })
}

const members = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`x${i}`, 1]))

test('validation reads no more of a body than its schema has', t => {
  const extremes = [members(5000), new Array(20_000).fill(1), new Array(20_000).fill({})]
  let cases = 0
  for (const route of [...resources, ...komgaRoutes]) {
    if (!route.body) continue
    const schema = route.body as Node
    const validate = compileValidator({
      schema: route.body,
      httpPart: 'body',
      method: route.method,
      url: route.path,
    }) as (value: unknown) => { error?: Error }
    let most = 0
    for (const extreme of extremes)
      for (const placed of placements(schema, extreme)) {
        const counter = { reads: 0 }
        validate(counted(placed as object, counter))
        most = Math.max(most, counter.reads)
        cases++
      }
    if (most > 4000) t.fail(`${route.method} ${route.path}: ${most} reads`)
  }
  t.ok(cases > 1000, `${cases} bodies`)
  t.end()
})

test('lists in bodies have a maximum length', t => {
  const unlimited: string[] = []
  const visit = (node: Node, path: string) => {
    for (const { type, properties = {}, items, maxItems } of variants(node)) {
      if ([type].flat().includes('array') && maxItems === undefined) unlimited.push(path)
      for (const [name, property] of Object.entries(properties)) visit(property, `${path}/${name}`)
      if (items) visit(items, `${path}[]`)
    }
  }
  for (const { body, method, path } of [...resources, ...komgaRoutes])
    if (body) visit(body as Node, `${method} ${path}`)
  t.same(unlimited, [])
  t.end()
})

/** Every second body, others for the next route. */
const some = (texts: string[], index: number) =>
  texts.filter((text, i) => oneIn(2)(text, i + index))

/** Bodies of about `length` bytes that are expensive to read in different ways. */
function hostileTexts(length: number, fields: string[]): string[] {
  const names = Array.from({ length: Math.floor(length / 12) }, (_, i) => `"${i}":1`)
  const nested = `${'['.repeat(length / 2 - 50)}${']'.repeat(length / 2 - 50)}`
  const values = [
    `[${'1,'.repeat(length / 2 - 50)}1]`,
    `[${'{},'.repeat(length / 3 - 50)}1]`,
    `{${names.join(',')}}`,
    nested,
    `"${'x'.repeat(length - 50)}"`,
    '9'.repeat(length - 50),
  ]
  const [first = 'x', ...others] = fields
  const placed = values.map(value => `{"${first}":${value}}`)
  const further = others.flatMap(name => [`{"${name}":${nested}}`, `{"${name}":${values[0]}}`])
  return [values[2]!, values[0]!, ...placed, ...further]
}

test('hostile bodies cost about as much as reading them', async t => {
  const all = await startApiWithoutPipeline(t)
  const admin = await all.createUser('admin')
  const measured = { activeMs: 0, parseMs: 0, count: 0 }
  const statuses = new Set<number>()
  for (const [index, route] of resources.entries()) {
    const [endpoint] = endpoints(route)
    if (route.method === 'GET' || route.multipart) continue
    const url = endpoint!.path.replace(/\{\w+\}|\{\*\}/g, unknownId)
    const length = Math.min(bodyLimit(route), maxTestedBytes)
    for (const text of some(hostileTexts(length, freeFields(route)), index)) {
      const before = cpuMs()
      const response = await all.api.server.inject({
        method: route.method,
        url,
        headers: { 'x-api-key': admin.key, 'content-type': 'application/json' },
        payload: text,
      })
      const answered = cpuMs()
      JSON.parse(text)
      measured.parseMs += cpuMs() - answered
      measured.activeMs += answered - before
      statuses.add(response.statusCode)
      if (response.statusCode >= 500)
        t.fail(`${response.statusCode} ${route.method} ${url} ${text.slice(0, 30)}`)
      measured.count++
    }
  }
  const ratio = measured.activeMs / measured.parseMs
  t.ok(ratio < 30, `${ratio.toFixed(1)} times the cost of reading ${measured.count} bodies`)
  t.ok(statuses.has(400) && !statuses.has(413), `${[...statuses]}`)
})

/** A field of any type, where there is one, and the other fields with a list or an object. */
function freeFields({ body }: Route): string[] {
  const { properties = {} } = (body ?? {}) as Node
  return Object.keys(properties)
    .filter(name =>
      variants(properties[name]!).some(
        ({ type }) => type === undefined || /object|array/.test(String(type)),
      ),
    )
    .slice(0, 2)
}

test('hostile bodies of the Komga-compatible API are refused', async t => {
  const all = await startApiWithoutPipeline(t)
  const admin = await all.createUser('admin')
  await enableKomga(admin)
  const statuses = new Set<number>()
  const send = async (path: string, init: RequestInit) => {
    const response = await fetch(`${all.base}/komga${path}`, init)
    await response.arrayBuffer()
    return response.status
  }
  for (const [index, route] of komgaRoutes.filter(({ body }) => body).entries()) {
    const [endpoint] = endpoints(route)
    const { method } = route
    const path = endpoint!.path.replace(/\{\w+\}|\{\*\}/g, unknownId)
    const headers = { 'content-type': 'application/json' }
    const length = Math.min(bodyLimit(route), maxTestedBytes)
    for (const body of some(hostileTexts(length, freeFields(route)), index)) {
      const signed = { ...headers, 'x-api-key': admin.key }
      const status = await send(path, { method, headers: signed, body })
      statuses.add(status)
      if (status >= 500) t.fail(`${status} ${method} ${path} ${body.slice(0, 30)}`)
    }
    if (route.permission === 'public') continue
    const body = '{'.repeat(smallBodyBytes + 1)
    t.equal(await send(path, { method, headers, body }), 401, `${method} ${path}`)
  }
  t.ok(statuses.has(400) && !statuses.has(413), `${[...statuses]}`)
})

test('callers who are not signed in are refused before their body is read', async t => {
  const { api } = await startApiWithoutPipeline(t)
  for (const route of resources) {
    if (route.method === 'GET' || route.multipart) continue
    const [endpoint] = endpoints(route)
    const { statusCode } = await api.server.inject({
      method: route.method,
      url: endpoint!.path.replace(/\{\w+\}|\{\*\}/g, unknownId),
      headers: { 'content-type': 'application/json' },
      payload: '{'.repeat(smallBodyBytes + 1),
    })
    t.equal(statusCode, route.permission === 'public' ? 413 : 401, endpoint!.path)
  }
})
