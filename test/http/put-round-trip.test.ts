// Round trips: a record that was read can be sent back with PUT and PATCH.
import t from 'tap'
import { comic, createTestLibrary } from '../kit/library.ts'
import { startApi } from '../kit/server.ts'

const info = `<ComicInfo><Title>File title</Title><Writer>Ana Author</Writer><Genre>Action</Genre></ComicInfo>`

t.test('records can be sent back unchanged', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  const ana = await all.createUser('reader')
  const shelf = await createTestLibrary(t, all, { 'Akira/1.cbz': comic({ info }) })
  await shelf.scan()
  const [book] = await shelf.books()
  const [library] = (await admin.get('/libraries')).body.data
  const [key] = (await admin.get('/api-keys')).body.data
  const [series] = (await admin.get('/series')).body.data
  await admin.put('/user/preferences/ui.theme', { value: 'dark' })
  const places = [
    `/libraries/${library.id}`,
    `/users/${ana.id}`,
    `/api-keys/${key.id}`,
    `/books/${book!.id}/metadata`,
    `/series/${series.id}/metadata`,
    '/admin/settings/application.name',
    '/user/preferences/ui.theme',
  ]

  for (const at of places)
    t.test(at.replace(/[\da-f-]{36}/, '{id}'), async t => {
      const { body } = await admin.get(at)
      for (const verb of at.includes('preferences') || at.includes('admin')
        ? ['PUT']
        : ['PUT', 'PATCH']) {
        const response = await admin.request(verb, at, { body })
        t.equal(response.status, 200, JSON.stringify(response.body))
        // The last use of a key is stored a little later.
        const { locks: _l, updatedAt: _u, version: _v, lastUsedAt: _a, ...before } = body
        t.match(response.body, before)
      }
      const unknown = await admin.put(at, { ...body, bogus: 1 })
      t.match(unknown, { status: 400, body: { message: 'body must not have bogus' } })
    })

  t.test('the schedule of a library is accepted in snake_case and camelCase', async t => {
    const at = `/libraries/${library.id}`
    const config = { scanning_config: { cron_schedule: '0 3 * * *', default_mode: 'normal' } }
    t.equal((await admin.put(at, config)).status, 200)
    const { body } = await admin.get(at)
    const snake = { ...body.scanning_config, default_mode: 'deep' }
    const first = await admin.put(at, { ...body, scanning_config: snake })
    t.match(first.body, { scanning_config: { default_mode: 'deep', cron_schedule: '0 3 * * *' } })
    const camel = { ...first.body.scanningConfig, cronSchedule: '0 4 * * *' }
    const second = await admin.put(at, { ...first.body, scanningConfig: camel })
    t.match(second.body, { scanning_config: { default_mode: 'deep', cron_schedule: '0 4 * * *' } })
    const both = { ...second.body, scanning_config: null, scanningConfig: camel }
    const third = await admin.put(at, both)
    t.equal(third.body.scanning_config, null)
    t.equal(
      (await admin.put(at, { ...third.body, scanning_config: snake, scanningConfig: camel }))
        .status,
      400,
    )
  })

  t.test('conflicting aliases are rejected', async t => {
    const at = `/books/${book!.id}/progress`
    const { status, body } = await admin.put(at, { current_page: 1, currentPage: 0 })
    t.match({ status, ...body }, { status: 400, message: /currentPage has two different values/ })
    const agreed = { current_page: 1, currentPage: 1, is_completed: false, completed: false }
    t.equal((await admin.put(at, agreed)).status, 200)
  })

  t.test('authors are changed as a list, beside unchanged role fields', async t => {
    const at = `/books/${book!.id}/metadata`
    const authors = [
      { name: 'Dumas, Alexandre', role: 'writer', sortName: 'Dumas' },
      { name: 'Pia', role: 'penciller', sortName: null },
    ]
    const { body } = await admin.get(at)
    const changed = await admin.put(at, { ...body, authors })
    t.same(changed.body.authors, authors)
    const again = await admin.put(at, changed.body)
    t.same(again.body.authors, authors)
    const { authors: _, ...texts } = again.body
    t.same(
      (await admin.put(at, texts)).body.authors,
      authors,
      'role fields alone replace the authors',
    )
    const named = await admin.put(at, { ...again.body, penciller: 'Pia, Paul' })
    t.match(named.body.pencillers, ['Pia', 'Paul'])
  })
})

t.test('many unknown fields are listed', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  const body = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`x${i}`, 1]))
  const response = await admin.put(`/users/${admin.id}`, body)
  t.match(response, { status: 400, body: { message: 'body/x0 is not a known field' } })
})

t.test('paging links repeat only known parameters', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  const { body, headers } = await admin.get(`/books?page_size=2&bogus=${'x'.repeat(9000)}`)
  t.equal(body.links.self, '/api/v1/books?page=1&pageSize=2')
  t.notMatch(headers.get('link'), 'bogus')
})

t.test('304 has no Content-Length, for HEAD and GET', async t => {
  const all = await startApi(t)
  const admin = await all.createUser('admin')
  const etag = (await admin.get('/books')).headers.get('etag')!
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await admin.request(method, '/books', {
      headers: { 'if-none-match': etag },
    })
    t.equal(status, 304, method)
    t.not(headers.get('content-length'), '0', method)
  }
})

t.test('OPTIONS without Origin gets a JSON response', async t => {
  const all = await startApi(t)
  const { status } = await all.anonymous.request('OPTIONS', '/books')
  t.equal(status, 204)
})
