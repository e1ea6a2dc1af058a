// All operations of the Komga-compatible API: refusals, unknown ids, shapes of the answers.
import { test } from 'tap'
import { generateKey } from '../../../../lib/accounts/api-key.ts'
import { komgaResources } from '../../../../lib/api/komga.ts'
import { newId } from '../../../../lib/base/id.ts'
import { endpoints, type Route } from '../../../../lib/http/route.ts'
import { komgaRoutes } from '../../../../lib/protocols/komga/routes/routes.ts'
import { createFixture } from '../../../kit/fixture.ts'
import { readBody } from '../../../kit/http/body.ts'
import { checkPathParameters } from '../../../kit/http/path-parameters.ts'
import { enableKomga } from '../../../kit/komga.ts'
import { anonymous, komgaOperations, operationDifferences } from '../../../kit/komga-schemas.ts'
import { oneIn } from '../../../kit/suite/sample.ts'

const endpointsOf = (routes: readonly Route[]) =>
  routes.flatMap(route => endpoints(route).map(endpoint => ({ ...endpoint, route })))
/** Operations of this API, including the OPDS catalogs and KOReader sync below its prefix. */
const all = endpointsOf(komgaRoutes)
const whole = endpointsOf(komgaResources)
const unknownId = '00000000-0000-7000-8000-00000000dead'
const operations = komgaOperations()
const refusedStatuses = [403, 404]

test('every operation of the document has a route', async t => {
  const names = komgaResources.flatMap(endpoints).map(({ method, path }) => `${method} ${path}`)
  t.equal(new Set(names).size, names.length, 'paths are unique')
  const served = new Set(names.map(name => anonymous(name)))
  for (const name of operations?.keys() ?? []) t.ok(served.has(name), name)
})

test('the parameters of a path are those that are checked', async t =>
  checkPathParameters(t, komgaResources))

test('a walk over all operations', async t => {
  const w = await createFixture(t)
  await enableKomga(w.admin)
  const send = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${w.base}/komga${path}`, { method, headers, redirect: 'manual' })
    const bytes = await readBody(response)
    const type = response.headers.get('content-type') ?? ''
    const body = type.includes('json') && bytes.length > 0 ? JSON.parse(bytes.toString()) : null
    return { status: response.status, type, bytes, body, headers: response.headers }
  }
  const filled = (path: string, value?: string) =>
    path
      .replace(/\{(\w+)\}/g, (_, name: string) => {
        const known = encodeURIComponent(w.ids(path, name)[0] ?? unknownId)
        return /id$/i.test(name) ? (value ?? known) : known
      })
      .replace('{*}', 'x')
  const key = (user: { key: string }) => ({ 'x-api-key': user.key })

  await t.test('401 and 403', async t => {
    const powerless = generateKey()
    await w.sql`
      insert into api_key (id, account_id, name, prefix, secret_sha256, permissions)
      values (${newId()}, ${w.admin.id}, 'powerless', ${powerless.prefix}, ${powerless.digest}, '{}')`
    // Which ones need what is in test/http/permissions.test.ts.
    for (const { method, path, route } of whole.filter(oneIn(10))) {
      const { status, body, headers } = await send(method, filled(path))
      const { permission } = route
      const document = path.startsWith('/opds/v2')
        ? { id: /\/komga\/opds\/v2\/auth$/ }
        : { error: 'Unauthorized' }
      if (permission === 'public') t.not(status, 401, `${method} ${path}`)
      else t.match([status, body], [401, document], path)
      if (status === 401) t.match(headers.get('www-authenticate'), /^Basic realm=/)
      if (route.permission === 'public' || route.permission === 'auth') continue
      const refused = await send(method, filled(path), { 'x-api-key': powerless.key })
      t.match([refused.status, refused.body], [403, { error: 'Forbidden' }], `${method} ${path}`)
    }
  })

  await t.test('404 for unknown ids', async t => {
    for (const { method, path, route } of whole.filter(a => /\{\w*Id\}|\{id\}/.test(a.path))) {
      if (route.permission === 'public' || route.body || route.multipart) continue
      const { status } = await send(method, filled(path, unknownId), key(w.admin))
      if (status === 404) continue
      // Refused for every id.
      t.ok(status >= 400 && status < 500, `${method} ${path} ${status}`)
      t.equal((await send(method, filled(path), key(w.admin))).status, status)
    }
    for (const { method, path } of whole.filter(a => /\{\w*id\}/i.test(a.path))) {
      const word = await send(method, filled(path, 'not-an-id'), key(w.admin))
      t.ok(refusedStatuses.includes(word.status), `${method} ${path} with a word: ${word.status}`)
      // Refused for every id.
      if (word.status !== 404)
        t.equal((await send(method, filled(path), key(w.admin))).status, word.status)
    }
  })

  await t.test('errors with headers of their own', async t => {
    const headers = { ...key(w.admin), range: 'bytes=99999999-' }
    for (const path of ['/api/v1/books/{id}/file', '/opds/v1.2/books/{id}/file/x.cbz']) {
      const { status, body, headers: sent } = await send('GET', filled(path), headers)
      t.match([status, body], [416, { status: 416, error: 'Range Not Satisfiable' }], path)
      t.match(sent.get('content-range'), /^bytes \*\/\d+$/)
    }
  })

  await t.test('answers are of the shape of the document', async t => {
    const reads = all.filter(({ method, path }) => method === 'GET' && !path.startsWith('/sse'))
    let successes = 0
    for (const { path } of reads) {
      // Not of the caller's own session.
      if (path === '/api/logout') continue
      const schema = operations?.get(`GET ${anonymous(path)}`)
      const url = filled(path)
      const { status, body, bytes } = await send('GET', url, key(w.admin))
      t.ok(status < 500, `${url} ${status}`)
      if (status === 200) successes++
      if (status === 200 && body !== null) {
        t.same(operationDifferences(schema, body), [], url)
        t.notMatch(bytes.toString(), /T\d\d:\d\d:\d\d\.\d+(?:Z|\+)/, `no fractions in ${url}`)
      }
      const head = await send('HEAD', url, key(w.admin))
      t.ok(head.status < 500 && head.bytes.length === 0, `HEAD ${path}`)
    }
    t.ok(successes > 50, `${successes} successes`)
  })
})
