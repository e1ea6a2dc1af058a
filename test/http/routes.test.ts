// Table tests over all routes: authentication, ids, conformance to the document.
import { test } from 'tap'
import { resources } from '../../lib/api/resources.ts'
import { documentPath } from '../../lib/http/openapi/openapi.ts'
import { endpoints } from '../../lib/http/route.ts'
import { createFixture } from '../kit/fixture.ts'
import { readBody } from '../kit/http/body.ts'
import { createConformanceCheck } from '../kit/http/conformance.ts'
import { openapi } from '../kit/http/openapi.ts'
import { operationsOf } from '../kit/http/operation.ts'
import { checkPathParameters } from '../kit/http/path-parameters.ts'

const document = openapi()
const operations = new Map(operationsOf(document).map(o => [`${o.method} ${o.path}`, o]))
const all = resources.flatMap(route =>
  endpoints(route)
    .filter(endpoint => !endpoint.whenFull)
    .map(endpoint => ({ ...endpoint, route })),
)
const unknownId = '00000000-0000-7000-8000-00000000dead'

test('routes', async t => {
  const w = await createFixture(t)
  const fetched = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(w.base + path, { method, headers, redirect: 'manual' })
    const text = (await readBody(response)).toString()
    return {
      status: response.status,
      type: response.headers.get('content-type') ?? '',
      text,
      headers: response.headers,
    }
  }
  const filled = (path: string, value?: string) =>
    documentPath(path).replace(/\{(\w+)\}/g, (_, name: string) => {
      const known = encodeURI(w.ids(documentPath(path), name)[0] ?? unknownId)
      // Only ids can be unknown.
      return /id$/.test(name) ? (value ?? known) : known
    })

  t.test('paths are unique and documented', async t => {
    const names = all.map(a => `${a.method} ${a.path}`)
    t.equal(new Set(names).size, names.length)
    for (const { method, path, operationId } of all)
      t.equal(
        operations.has(`${method} ${documentPath(path)}`),
        operationId !== null,
        `${method} ${path}`,
      )
  })

  t.test('the parameters of a path are those that are checked', async t =>
    checkPathParameters(t, resources),
  )

  t.test('401 without credentials, with rate limit headers', async t => {
    for (const { method, path, route } of all) {
      const result = await fetched(method, filled(path))
      if (route.permission === 'public') t.not(result.status, 401, `${method} ${path} is public`)
      else {
        t.equal(result.status, 401, `${method} ${path}`)
        const challenge = result.headers.get('www-authenticate')
        if (route.protocol?.challenge)
          t.match(challenge, /^Basic realm="Stackroom", charset="UTF-8"$/)
        else t.equal(challenge, null)
        if (route.path.startsWith('/opds/v2'))
          t.match(JSON.parse(result.text), { id: /\/opds\/v2\/auth$/ })
        else t.equal(JSON.parse(result.text).error, 'Unauthorized')
      }
      t.ok(result.headers.get('x-ratelimit-limit'), `${method} ${path} has rate limit headers`)
    }
  })

  t.test('404 for an unknown id, and for another word in its place', async t => {
    const key = { 'x-api-key': w.admin.key }
    const withId = all.filter(a => /\{\w*id\}/.test(a.path) && a.route.permission !== 'public')
    for (const { method, path, route } of withId) {
      const word = await fetched(method, filled(path, 'not-an-id'), key)
      t.equal(word.status, 404, `${method} ${path} with a word`)
      const isLast = path.indexOf('{') === path.lastIndexOf('/') + 1
      const message = isLast
        ? /^(?!Resource).+ not found$/
        : /^((?!Resource).+ not found|Unknown path)$/
      t.match(JSON.parse(word.text), { error: 'NotFound', message })
      if (route.body || route.multipart) continue
      const isSearch = path.endsWith('/books/{id}/text')
      const query = isSearch ? '?query=a' : ''
      const unknown = await fetched(method, filled(path, unknownId) + query, key)
      t.equal(unknown.status, 404, `${method} ${path} unknown`)
      t.equal(JSON.parse(unknown.text).error, 'NotFound')
    }
  })

  t.test('every GET response conforms to the document', async t => {
    const conform = createConformanceCheck(document)
    for (const { method, path } of all.filter(a => a.method === 'GET' && a.operationId !== null)) {
      const result = await fetched(method, filled(path), { 'x-api-key': w.admin.key })
      const operation = operations.get(`${method} ${documentPath(path)}`)!
      t.equal(conform(operation, result), null, `${path} ${result.status}`)
      const head = await fetched('HEAD', filled(path), { 'x-api-key': w.admin.key })
      t.equal(head.status, result.status, `HEAD ${path}`)
      t.equal(head.text, '')
    }
  })

  t.test('`full=true` selects the long form, also in the links of a page', async t => {
    const key = { 'x-api-key': w.admin.key }
    const aliases = resources.flatMap(route => {
      const [own, ...others] = endpoints(route)
      return others.filter(other => other.whenFull).map(alias => ({ own: own!, alias }))
    })
    t.ok(aliases.length > 20)
    for (const { own, alias } of aliases.filter(({ own }) => own.method === 'GET')) {
      const long = await fetched('GET', filled(own.path), key)
      const same = await fetched('GET', `${filled(alias.path)}?full=true`, key)
      t.equal(same.status, 200, alias.path)
      const { links: _own, ...expected } = JSON.parse(long.text)
      const { links, ...actual } = JSON.parse(same.text)
      t.same(actual, expected, alias.path)
      if (links) t.match(links.self, /[?&]full=true/)
      const short = await fetched('GET', `${filled(alias.path)}?full=false`, key)
      t.equal(short.status, 200)
    }
  })
})
