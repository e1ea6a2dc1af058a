// Every route: who is let in, what is not found, and that answers are what the document promises.
import { test } from 'tap'
import { resources } from '../../lib/api/resources.ts'
import { newKey } from '../../lib/auth/api-key.ts'
import { documentPath, openapiDocument } from '../../lib/http/openapi.ts'
import { addresses, type Route } from '../../lib/http/route.ts'
import { newId } from '../../lib/id.ts'
import { bodyOf } from '../kit/body.ts'
import { conformance } from '../kit/conform.ts'
import { world } from '../kit/fixture.ts'
import { operationsOf } from '../kit/operation.ts'

const document = openapiDocument(resources, '1') as any
const operations = new Map(operationsOf(document).map(o => [`${o.method} ${o.path}`, o]))
const all = resources.flatMap(route => addresses(route).map(address => ({ ...address, route })))
const nobody = '00000000-0000-7000-8000-00000000dead'

test('routes', async t => {
  const w = await world(t)
  const powerless = newKey()
  await w.sql`
    insert into api_key (id, account_id, name, prefix, secret_sha256, permissions)
    values (${newId()}, ${w.admin.id}, 'powerless', ${powerless.prefix}, ${powerless.digest}, '{}')`
  const fetched = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(w.base + path, { method, headers, redirect: 'manual' })
    const text = (await bodyOf(response)).toString()
    return {
      status: response.status,
      type: response.headers.get('content-type') ?? '',
      text,
      headers: response.headers,
    }
  }
  const filled = (path: string, value?: string) =>
    documentPath(path).replace(/\{(\w+)\}/g, (_, name: string) => {
      const known = encodeURI(w.ids(documentPath(path), name)[0] ?? nobody)
      // What is not the name of a thing cannot be unknown.
      return /id$/.test(name) ? (value ?? known) : known
    })

  t.test('no address is served twice, and each stands in the document', async t => {
    const names = all.map(a => `${a.method} ${a.path}`)
    t.equal(new Set(names).size, names.length)
    for (const { method, path, hidden } of all)
      t.equal(operations.has(`${method} ${documentPath(path)}`), !hidden, `${method} ${path}`)
  })

  t.test('401 without credentials, with the headers of the rate limit', async t => {
    for (const { method, path, route } of all) {
      const answer = await fetched(method, filled(path))
      if (route.permission === 'public') t.not(answer.status, 401, `${method} ${path} is public`)
      else {
        t.equal(answer.status, 401, `${method} ${path}`)
        const challenge = answer.headers.get('www-authenticate')
        if (route.catalogue) t.match(challenge, /^Basic realm="Stackroom", charset="UTF-8"$/)
        else t.equal(challenge, null)
        if (route.catalogue === 2) t.match(JSON.parse(answer.text), { id: /\/opds\/v2\/auth$/ })
        else t.equal(JSON.parse(answer.text).error, 'Unauthorized')
      }
      t.ok(answer.headers.get('x-ratelimit-limit'), `${method} ${path} tells its limit`)
    }
  })

  t.test('403 without the permission, before the body is looked at', async t => {
    for (const { method, path, route } of all.filter(a => needsPermission(a.route))) {
      const answer = await fetched(method, filled(path), { 'x-api-key': powerless.key })
      t.equal(answer.status, 403, `${method} ${path}`)
      t.equal(JSON.parse(answer.text).error, 'Forbidden', String(route.permission))
    }
  })

  t.test('400 for a malformed id and 404 for an unknown one', async t => {
    const key = { 'x-api-key': w.admin.key }
    const withId = all.filter(a => /\{\w*id\}/.test(a.path) && a.route.permission !== 'public')
    for (const { method, path, route } of withId) {
      const malformed = await fetched(method, filled(path, 'not-an-id'), key)
      t.equal(malformed.status, 400, `${method} ${path} malformed`)
      if (route.body || route.multipart) continue
      const unknown = await fetched(method, filled(path, nobody), key)
      t.equal(unknown.status, 404, `${method} ${path} unknown`)
      t.equal(JSON.parse(unknown.text).error, 'NotFound')
    }
  })

  t.test('every GET answers an administrator as the document promises', async t => {
    const conform = conformance(document)
    for (const { method, path } of all.filter(a => a.method === 'GET' && !a.hidden)) {
      const answer = await fetched(method, filled(path), { 'x-api-key': w.admin.key })
      const operation = operations.get(`${method} ${documentPath(path)}`)!
      t.equal(conform(operation, answer), null, `${path} ${answer.status}`)
      const head = await fetched('HEAD', filled(path), { 'x-api-key': w.admin.key })
      t.equal(head.status, answer.status, `HEAD ${path}`)
      t.equal(head.text, '')
    }
  })
})

function needsPermission({ permission }: Route) {
  return permission !== 'public' && permission !== 'auth'
}
