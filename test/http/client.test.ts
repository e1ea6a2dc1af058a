// A reading app written against the exported OpenAPI document, from setup to the last page.
import { setTimeout as sleep } from 'node:timers/promises'
import createClient from 'openapi-fetch'
import { test } from 'tap'
import type { paths } from '../../lib/web/app/api/schema.d.ts'
import { folderWithFiles } from '../kit/files/folders.ts'
import { comic } from '../kit/library.ts'
import { startApi } from '../kit/server.ts'

const account = { username: 'ana', email: 'ana@example.org', password: 'Correct-horse-1' }

test('a reading app', async t => {
  const { base } = await startApi(t)
  const api = createClient<paths>({ baseUrl: base })
  const folder = folderWithFiles(t, {
    'Akira/Akira 1.cbz': comic({ pages: 3 }),
    'Akira/Akira 2.cbz': comic({ pages: 2 }),
    'Blame/Blame 1.cbz': comic({ pages: 2 }),
  })

  const status = await api.GET('/api/v1/setup/status')
  t.match(status.data, { setupRequired: true, hasUsers: false })
  const setup = await api.POST('/api/v1/setup/initialize', { body: account })
  t.equal(setup.response.status, 201)

  const login = await api.POST('/api/v1/auth/login', {
    body: { username: 'ANA@example.org', password: account.password },
  })
  t.match(login.data, { access_token: login.data!.accessToken }, 'snake_case and camelCase')
  t.match(setup.response.headers.get('set-cookie'), /auth_token=.*HttpOnly/)
  const headers = { authorization: `Bearer ${login.data!.accessToken}` }
  t.equal((await api.GET('/api/v1/auth/me', { headers })).data?.username, 'ana')

  const created = await api.POST('/api/v1/libraries', {
    headers,
    body: { name: 'Manga', path: folder, scanImmediately: true },
  })
  t.equal(created.response.status, 201, JSON.stringify(created.error))
  const inLibrary = { params: { path: { id: created.data!.id } }, headers }
  for (let left = 2000; left > 0; left--) {
    const scan = await api.GET('/api/v1/libraries/{id}/scan-status', inLibrary)
    if (scan.data?.status === 'completed') break
    await sleep(50)
  }

  const series = await api.GET('/api/v1/series', {
    headers,
    params: { query: { sort: 'name,desc', pageSize: 1 } },
  })
  t.same([series.data?.total, series.data?.data.map(s => s.title)], [2, ['Blame']])
  t.match(series.response.headers.get('link'), /rel="next"/)
  const next = await fetch(base + series.data!.links.next, { headers })
  const second = (await next.json()) as typeof series.data
  t.same(
    second!.data.map(s => s.title),
    ['Akira'],
  )
  const akira = second!.data[0]!.id

  const found = await api.POST('/api/v1/books/list', {
    headers,
    params: { query: { sort: 'number,asc' } },
    body: {
      condition: {
        allOf: [
          { seriesId: { operator: 'is', value: akira } },
          { readStatus: { operator: 'is', value: 'unread' } },
        ],
      },
    },
  })
  t.equal(found.data?.total, 2, JSON.stringify(found.error))
  const [first, other] = found.data!.data
  const ofFirst = { headers, params: { path: { id: first!.id } } }

  const pages = await api.GET('/api/v1/books/{id}/pages', ofFirst)
  t.same(
    pages.data?.data.map(p => p.pageNumber),
    [1, 2, 3],
  )
  for (const page_number of [1, 3]) {
    const image = await api.GET('/api/v1/books/{book_id}/pages/{page_number}', {
      headers,
      params: { path: { book_id: first!.id, page_number }, query: { width: 16, format: 'webp' } },
      parseAs: 'arrayBuffer',
    })
    t.equal(image.response.status, 200)
    t.equal(image.response.headers.get('content-type'), 'image/webp')
  }

  const read = await api.PUT('/api/v1/books/{id}/progress', {
    ...ofFirst,
    body: { currentPage: 3 },
  })
  t.match(read.data, { isCompleted: true, is_completed: true, currentPage: 3 })
  const deck = await api.GET('/api/v1/books/on-deck', { headers })
  t.same(
    deck.data?.data.map(b => b.id),
    [other!.id],
    'the next book of the series is on deck',
  )

  t.equal((await api.POST('/api/v1/auth/logout', { headers })).response.status, 200)
  t.equal(
    (await api.GET('/api/v1/auth/me', { headers })).response.status,
    401,
    'the token is invalid after sign-out',
  )
})
