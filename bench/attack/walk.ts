// Walk over every operation of every root, as callers with different rights, with hidden ids and hostile values.

import { komgaResources } from '../../lib/api/komga.ts'
import { resources } from '../../lib/api/resources.ts'
import { endpoints, type Route } from '../../lib/http/route.ts'
import type { Fixture } from '../../test/kit/fixture.ts'
import type { Hidden } from '../../test/kit/http/hidden.ts'
import { hostileBodies, hostileForms, hostileParameters, nextOf, otherTypes } from './hostile.ts'
import type { Attack } from './send.ts'

/** Native, OPDS and KOReader; the compatible API with the catalogs below it. */
const trees: readonly [base: string, routes: readonly Route[]][] = [
  ['', resources],
  ['/komga', komgaResources],
]
/** Maintenance of everything, and the order of a list, include what is hidden from the caller (SECURITY.md). */
const maintenance =
  /^(?:POST|DELETE) .*\/(?:libraries\/\{\w+\}\/\S+|thumbnails\/generate|titles\/reprocess|[a-z]+-all(?:-errors)?|release-sources\/\S+)$|^PUT .*\/readlists\/\{id\}\/books$/
const unknownId = '00000000-0000-7000-8000-00000000dead'

/** `values`: how many hostile ones each parameter and field gets, in turn. */
export type Walk = {
  fixture: Fixture
  hidden: Hidden
  caller: string
  isRestricted: boolean
  values: number
}

export function* walk({ fixture, hidden, caller, isRestricted, values }: Walk): Generator<Attack> {
  for (const [base, routes] of trees)
    for (const route of routes)
      for (const { method, path } of endpoints(route)) {
        // Ends the session, or what the other requests need.
        if (/\/logout$/.test(path)) continue
        if (isRestricted && maintenance.test(`${method} ${path}`)) continue
        const visit = { base, route, method, path, fixture, hidden }
        for (const attack of onEndpoint(visit, values)) yield { by: caller, ...attack }
      }
}

type Visit = Pick<Walk, 'fixture' | 'hidden'> & {
  base: string
  route: Route
  method: string
  path: string
}
type Request = Omit<Attack, 'by'>

function* onEndpoint(visit: Visit, values: number): Generator<Request> {
  const { base, route, method, path, fixture, hidden } = visit
  const names = [...path.matchAll(/\{(\w+|\*)\}/g)].map(match => match[1]!)
  const visible = (name: string) =>
    fixture.ids(path, name).find(id => !hidden.secrets.includes(id)) ?? unknownId
  const filled = (at: string | null, value: string) =>
    base +
    path.replace(/\{(\w+|\*)\}/g, (_, name: string) =>
      name === at ? value : encodeURIComponent(visible(name)),
    )
  const body = route.body ? { body: '{}' } : {}
  const plain = (url: string): Request => ({ method, path: url, ...body })
  const isDelete = method === 'DELETE'
  for (const name of names) {
    const known = fixture.ids(path, name).filter(id => hidden.secrets.includes(id))
    for (const id of spread(known, values)) yield plain(filled(name, id))
    for (const value of nextOf(hostileParameters, values)) yield plain(filled(name, value))
  }
  // What is deleted would be missing from the rest of the walk.
  const url = filled(null, '')
  const target = isDelete ? filled(names[0] ?? null, unknownId) : url
  yield plain(target)
  yield* withQueries(visit, { target, values, plain })
  if (isDelete) return
  yield* withBodies(visit, url, values)
}

type Queries = { target: string; values: number; plain: (url: string) => Request }

function* withQueries({ route }: Visit, { target, values, plain }: Queries) {
  const query = Object.keys((route.query as { properties?: object } | undefined)?.properties ?? {})
  for (const name of values > 1 ? query : query.slice(0, 1))
    for (const value of nextOf(hostileParameters, values))
      yield plain(`${target}?${encodeURIComponent(name)}=${value}`)
  if (values === 1 || query.length === 0) return
  const [first = 'x'] = query
  yield plain(`${target}?${`${encodeURIComponent(first)}=1&`.repeat(1500)}`)
  yield plain(`${target}?${query.map(name => `${encodeURIComponent(name)}=%00`).join('&')}`)
}

function* withBodies({ route, method }: Visit, url: string, values: number) {
  if (method === 'GET') return
  if (route.multipart) {
    for (const form of nextOf(hostileForms, values > 1 ? hostileForms.length : 1))
      yield typeof form === 'string'
        ? { method, path: url, body: form, type: 'multipart/form-data; boundary=x' }
        : { method, path: url, body: form, type: null }
    return
  }
  for (const body of hostileBodies(route, values)) yield { method, path: url, body }
  for (const type of nextOf(otherTypes, values)) yield { method, path: url, body: '{"a":1}', type }
}

function spread<T>(items: readonly T[], count: number): T[] {
  const step = Math.max(1, Math.floor(items.length / count))
  return items.filter((_, i) => i % step === 0).slice(0, count)
}
