// Preconditions of writes, methods that a path does not have, ids in any case.
import { test } from 'tap'
import { resources } from '../../lib/api/resources.ts'
import { documentPath } from '../../lib/http/openapi/openapi.ts'
import { endpoints, type Route } from '../../lib/http/route.ts'
import { createFixture } from '../kit/fixture.ts'
import { readBody } from '../kit/http/body.ts'
import { oneIn } from '../kit/suite/sample.ts'

test('requests', async t => {
  const w = await createFixture(t)
  const { admin } = w
  const [seriesId] = w.ids('/series/{id}', 'id')
  const [bookId] = w.ids('/books/{id}', 'id')
  const filled = (path: string, change: (id: string) => string = id => id) =>
    documentPath(path).replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURI(change(w.ids(documentPath(path), name)[0] ?? 'none')),
    )

  t.test('a write with If-Match happens only while the ETag is current', async t => {
    const path = `/series/${seriesId}/metadata`
    const before = await admin.get(path)
    const headers = { 'if-match': before.headers.get('etag')! }
    const first = await admin.patch(path, { publisher: 'One' }, { headers })
    t.equal(first.status, 200)
    const second = await admin.patch(path, { publisher: 'Two' }, { headers })
    t.equal(second.status, 412)
    t.match(second.body, { error: 'PreconditionFailed', message: String, details: null })
    t.equal((await admin.get(path)).body.publisher, 'One')
    const any = { headers: { 'if-match': '*' } }
    t.equal((await admin.patch(path, { publisher: 'Three' }, any)).status, 200)
    t.equal((await admin.put(`/books/${bookId}/progress`, { current_page: 1 }, any)).status, 412)
  })

  t.test('of concurrent writes with one ETag a single one succeeds', async t => {
    const path = `/series/${seriesId}/metadata`
    const headers = { 'if-match': (await admin.get(path)).headers.get('etag')! }
    const names = ['a', 'b', 'c', 'd', 'e']
    const statuses = await Promise.all(
      names.map(async publisher => (await admin.patch(path, { publisher }, { headers })).status),
    )
    t.same(statuses.sort(), [200, 412, 412, 412, 412])
  })

  t.test('405 with Allow for the other methods of every path, 404 for unknown paths', async t => {
    const methods = new Map<string, Set<string>>()
    for (const { method, path } of resources.flatMap((route: Route) => endpoints(route)))
      methods.set(filled(path), (methods.get(filled(path)) ?? new Set()).add(method))
    for (const [path, own] of methods) {
      const missing = ['PUT', 'DELETE', 'PATCH', 'POST'].find(method => !own.has(method))
      if (!missing) continue
      const response = await fetch(w.base + path, { method: missing })
      const text = (await readBody(response)).toString()
      // The pattern of another route, as `covers/{id}` of `covers/from-book`.
      if (response.status === 401) continue
      t.equal(response.status, 405, `${missing} ${path}`)
      t.equal(JSON.parse(text).error, 'MethodNotAllowed')
      const allowed = response.headers.get('allow')!.split(', ')
      t.ok([...own].every(method => allowed.includes(method)) && !allowed.includes(missing), path)
    }
    t.equal((await fetch(`${w.base}/api/v1/none`, { method: 'PUT' })).status, 404)
  })

  t.test('ids in upper case are the same ids, in paths and queries', async t => {
    const upper = (id: string) => (/^[\da-f-]{36}$/.test(id) ? id.toUpperCase() : id)
    const key = { 'x-api-key': admin.key }
    const get = async (path: string) => {
      const response = await fetch(w.base + path, { headers: key })
      const body = (await readBody(response)).toString('latin1')
      return { status: response.status, body: body.replace(/"links":\{[^}]*\}/, '') }
    }
    const paths = resources
      .filter(({ method, atRoot }) => method === 'GET' && !atRoot)
      .map(route => `/api/v1${route.path}`)
      .filter(path => /\{\w*id\}/.test(path) && !/stream/.test(path))
      .filter(oneIn(3))
    for (const path of paths)
      t.same(await get(filled(path, upper)), await get(filled(path)), filled(path, upper))
    for (const query of ['series?libraryId=', 'books?library_id=', 'series/in-progress?libraryId='])
      t.same(
        await get(`/api/v1/${query}${upper(w.libraries[0]!.id)}`),
        await get(`/api/v1/${query}${w.libraries[0]!.id}`),
        query,
      )
    t.equal((await admin.get(`/books?seriesId=${upper(seriesId!)}`)).body.total > 0, true)
  })

  t.test(
    'ids in upper case in bodies and conditions; the write and its response agree',
    async t => {
      const upper = bookId!.toUpperCase()
      const progress = await admin.put(`/books/${upper}/progress`, { current_page: 1 })
      t.equal(progress.status, 200)
      t.equal(progress.body.bookId, bookId)
      const libraryId = w.libraries[0]!.id.toUpperCase()
      const created = await admin.post('/users', {
        ...{ username: 'limited', email: 'limited@example.org', password: 'Strong-pass-1' },
        libraryIds: [libraryId, libraryId.toLowerCase()],
      })
      t.equal(created.status, 201, JSON.stringify(created.body))
      const condition = { libraryId: { operator: 'in', values: [libraryId] } }
      t.ok((await admin.post('/books/list', { condition })).body.total > 0)
      const tagged = await admin.post(`/series/${seriesId!.toUpperCase()}/sharing-tags`, {
        sharing_tag_id: w.secretTag.toUpperCase(),
      })
      t.ok(tagged.status < 300, JSON.stringify(tagged.body))
      const search = await admin.post('/series/search', { query: 'Alpha', libraryId, full: true })
      t.ok(search.body.data[0].metadata.locks, 'full items')
    },
  )

  t.test('null leaves a field unchanged where it cannot be cleared', async t => {
    const [id] = w.ids('/users/{id}', 'id')
    const before = (await admin.get(`/users/${id}`)).body
    const nulls = { username: null, email: null, role: null, isActive: null, permissions: null }
    const after = await admin.patch(`/users/${id}`, nulls)
    t.equal(after.status, 200, JSON.stringify(after.body))
    t.same({ ...after.body, updatedAt: null }, { ...before, updatedAt: null })
    t.equal((await admin.post('/users', { username: null })).status, 400)
  })
})
