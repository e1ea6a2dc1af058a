// Hidden ids in every place of every operation: the response is that for an id of nothing, and nothing hidden changes.
import { test } from 'tap'
import { resources } from '../../lib/api/resources.ts'
import { openapiDocument } from '../../lib/http/openapi/openapi.ts'
import type { Route } from '../../lib/http/route.ts'
import { komgaRoutes } from '../../lib/protocols/komga/routes/routes.ts'
import { createFixture } from '../kit/fixture.ts'
import { readBody } from '../kit/http/body.ts'
import { changedRows, hiddenRows, hideInFixture, restrict } from '../kit/http/hidden.ts'
import { operationsOf } from '../kit/http/operation.ts'
import { type PlacedRequest, placedRequests, unknownId } from '../kit/http/placed-ids.ts'
import { createSchemaValues } from '../kit/http/schema-values.ts'
import { enableKomga } from '../kit/komga.ts'

const trees: [string, readonly Route[]][] = [
  ['', resources],
  ['/komga', komgaRoutes],
]
// What signs the caller out, and accounts: an administrator may give them any library.
const isLeftOut = (path: string) => /\/logout$|\/users(?:\/\{id\})?$/.test(path)

test('a hidden id is an id of nothing', { timeout: 300_000 }, async t => {
  const w = await createFixture(t, { libraryCount: 2 })
  await enableKomga(w.admin)
  const hidden = await hideInFixture(w)
  const { id, key } = await w.createUser('admin')
  await restrict(w, id)
  const before = await hiddenRows(w.sql, hidden)
  const visible = (path: string, name: string) =>
    w.ids(path, name).filter(value => !hidden.secrets.includes(value))
  const { book, series, library } = hidden.ids
  const candidates = [book, series, library].map(ids => ids.at(-1)!)
  const send = async ({ method, path, body }: PlacedRequest, marked: string) => {
    const url = (w.base + path).replaceAll(unknownId, marked)
    const headers = { 'x-api-key': key, 'content-type': 'application/json' }
    const init = body === null ? {} : { body: body.replaceAll(unknownId, marked) }
    const response = await fetch(url, { method, headers, redirect: 'manual', ...init })
    const text = (await readBody(response)).toString('latin1')
    const head = JSON.stringify([...response.headers])
    return { status: response.status, text, head, normal: `${response.status} ${normalized(text)}` }
  }
  let count = 0
  for (const [base, routes] of trees) {
    const document = openapiDocument(routes, '1') as any
    const values = createSchemaValues(document.components.schemas)
    for (const operation of operationsOf(document).filter(({ path }) => !isLeftOut(path)))
      for (const placed of placedRequests(operation, { ids: visible, values })) {
        const request = { ...placed, path: base + placed.path }
        const name = `${request.method} ${request.path} ${request.body ?? ''}`.slice(0, 300)
        const of = candidatesFor(placed, candidates, w.ids)
        const unknown = [await send(request, unknownId)]
        for (const one of of) {
          const { normal, status, text, head } = await send(request, one)
          count++
          const found = hidden.secrets.filter(
            secret => secret !== one && (text.includes(secret) || head.includes(secret)),
          )
          if (found.length > 0) t.fail(`${name} ${status} has ${found.join()}`)
          if (unknown.some(response => response.normal === normal)) continue
          // What the first request created or deleted.
          unknown.push(await send(request, unknownId))
          if (unknown.some(response => response.normal === normal)) continue
          t.same(normal.slice(0, 300), unknown.at(-1)!.normal.slice(0, 300), name)
        }
      }
  }
  t.ok(count > 500, `${count} requests`)
  const after = await hiddenRows(w.sql, hidden)
  t.same(changedRows(before, after), [], 'nothing hidden was changed')
})

type Ids = (path: string, name: string) => string[]

/** In the order of the candidates. */
const kinds = [/book/i, /series/i, /librar/i]

/** Hidden ids that the place may be for: those that the field names, in a path those that the parameter knows. */
function candidatesFor({ path, body }: PlacedRequest, candidates: string[], ids: Ids): string[] {
  const place = body?.includes(unknownId) ? body : path.split('?')[1]
  if (place !== undefined) {
    const named = candidates.filter((_, i) => kinds[i]!.test(place))
    return named.length > 0 ? named : candidates
  }
  const template = path.replace(unknownId, '{id}')
  const known = candidates.filter(id => ids(template, 'id').includes(id))
  return known.length > 0 ? known : candidates.slice(0, 1)
}

/** Without ids and times, which differ from one response to the next. */
const normalized = (text: string) =>
  text
    .replace(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gi, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/stackroom_\w+/g, 'KEY')
