// One session in which everything happens that the streams tell of, followed by a browser's own
// EventSource with the cookie, and by curl with an API key.
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { createAccount } from '../../../lib/auth/account.ts'
import { comic, shelve } from '../../kit/library.ts'
import { browser, openPage, pageBefore } from '../../kit/page.ts'
import { type Client, type Served, serve } from '../../kit/server.ts'

const password = 'correct horse battery'
const types = [
  'book_created',
  'book_updated',
  'book_deleted',
  'series_created',
  'series_updated',
  'series_deleted',
  'library_created',
  'library_updated',
  'library_deleted',
  'cover_updated',
  'progress_updated',
  'task_progress',
  'scan_progress',
]

const html = `<!doctype html><script>
let n = 0
const report = said => fetch('/report', { method: 'POST', body: JSON.stringify({ ...said, n: n++ }) })
const follow = path => {
  const source = new EventSource('/api/v1' + path)
  source.onopen = () => report({ open: path })
  source.onerror = () => report({ error: path, state: source.readyState })
  for (const type of ${JSON.stringify(types)})
    source.addEventListener(type, e => report({ path, type, id: e.lastEventId, data: e.data }))
}
fetch('/api/v1/auth/login', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ username: 'ana', password: '${password}' }),
}).then(() => ['/events/stream', '/scans/stream', '/tasks/stream'].forEach(follow))
</script>`

type Said = { path: string; type: string; id: string; data: any; n?: number }

/** Does one thing after the other; after each, its events must arrive. */
async function session(t: Test, all: Served, ana: Client, seen: Said[]) {
  const come = async (type: string, fits: (data: any) => boolean) => {
    for (const end = Date.now() + 10_000; Date.now() < end; await sleep(20))
      if (seen.some(said => said.type === type && fits(said.data))) {
        t.pass(`${type} came`)
        return
      }
    t.fail(`${type} did not come`, { seen: seen.slice(-20) })
  }
  const place = await shelve(t, all, {})
  const { id: old } = place
  t.equal((await ana.delete(`/libraries/${old}`)).status, 204)
  await come('library_deleted', data => data.library_id === old)

  const made = await ana.post('/libraries', { name: 'Comics', path: place.root })
  t.equal(made.status, 201)
  const library = made.body.id
  await come('library_created', data => data.library_id === library && data.libraryId === library)
  await ana.patch(`/libraries/${library}`, { name: 'More comics' })
  await come('library_updated', data => data.library_id === library)

  place.write('Alpha/1.cbz', comic())
  place.write('Beta/1.cbz', comic())
  const scan = await ana.post(`/libraries/${library}/scan`)
  await come('scan_progress', data => data.scan_id === scan.body.id && data.status === 'running')
  await come('series_created', data => data.library_id === library)
  await come('book_created', data => data.series_id !== undefined)
  await come('cover_updated', data => data.book_id !== undefined)
  await come('scan_progress', data => data.status === 'completed' && data.books_added === 2)
  await come(
    'task_progress',
    data => data.task_id === scan.body.id && data.task_type === 'scan_library',
  )
  const [first, gone] = await all.sql<{ id: string; seriesId: string }[]>`
    select b.id, b.series_id as "seriesId" from book b join series s on s.id = b.series_id
    where b.library_id = ${library}
    order by s.name`

  await ana.patch(`/books/${first!.id}`, { title: 'Another title' })
  await come('book_updated', data => data.book_id === first!.id && data.fields?.includes('title'))
  await ana.patch(`/series/${first!.seriesId}`, { title: 'Another series' })
  await come(
    'series_updated',
    data => data.series_id === first!.seriesId && data.fields?.includes('title'),
  )
  await ana.put(`/books/${first!.id}/progress`, { currentPage: 1 })
  await come('progress_updated', data => data.book_id === first!.id)

  place.remove('Beta')
  await ana.post(`/libraries/${library}/scan`)
  await come(
    'book_updated',
    data => data.book_id === gone!.id && data.fields?.includes('deleted') === true,
  )
  await ana.delete(`/libraries/${library}/purge-deleted`)
  await come('book_deleted', data => data.book_id === gone!.id)
  await come('series_deleted', data => data.series_id === gone!.seriesId)
}

test('a browser follows all three streams', { skip: browser ? false : 'no browser' }, async t => {
  const all = await serve(t)
  await createAccount(all.sql, {
    username: 'ana',
    email: 'ana@example.org',
    password,
    role: 'admin',
  })
  const login = await all.anyone.post('/auth/login', { username: 'ana', password })
  const ana = all.with({ authorization: `Bearer ${login.body.access_token}` })
  const seen: Said[] = []
  const open = new Set<string>()
  const url = await pageBefore(t, {
    base: all.base,
    html,
    report(said) {
      if (said.open) open.add(said.open)
      if (said.type) seen.push({ ...said, data: JSON.parse(said.data) })
    },
  })
  openPage(t, url)
  for (const end = Date.now() + 30_000; open.size < 3 && Date.now() < end; ) await sleep(50)
  t.equal(open.size, 3, 'all streams are open')
  await session(t, all, ana, seen)
  t.same([...new Set(seen.map(said => said.type))].sort(), [...types].sort())
  // Reports go side by side and may overtake each other.
  seen.sort((a, b) => a.n! - b.n!)
  for (const path of ['/events/stream', '/scans/stream', '/tasks/stream']) {
    const ids = seen
      .filter(said => said.path === path && said.id !== '')
      .map(said => Number(said.id))
    t.ok(ids.length > 0, path)
    t.same(
      ids,
      [...new Set(ids)].sort((a, b) => a - b),
      'each once and in order',
    )
  }
})

test('curl follows all three streams with an API key', async t => {
  const all = await serve(t)
  const admin = await all.as('admin')
  const seen: Said[] = []
  const comments = new Set<string>()
  for (const path of ['/events/stream', '/scans/stream', '/tasks/stream']) {
    const child = spawn('curl', [
      '-sN',
      '-H',
      `x-api-key: ${admin.key}`,
      `${all.base}/api/v1${path}`,
    ])
    t.teardown(() => child.kill())
    let rest = ''
    child.stdout.on('data', chunk => {
      const blocks = (rest + chunk).split('\n\n')
      rest = blocks.pop()!
      for (const block of blocks) {
        if (block.startsWith(':')) comments.add(path)
        const [, type, data, id] = /^event: (\w+)\ndata: (.+)(?:\nid: (\d+))?$/.exec(block) ?? []
        if (type) seen.push({ path, type, id: id ?? '', data: JSON.parse(data!) })
      }
    })
  }
  for (const end = Date.now() + 10_000; comments.size < 3 && Date.now() < end; ) await sleep(20)
  t.equal(comments.size, 3, 'a comment comes at once')
  await session(t, all, admin, seen)
  t.same([...new Set(seen.map(said => said.type))].sort(), [...types].sort())
})
