// All event types in one session, received by a browser's EventSource (cookie) and by curl (API key).
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { createAccount } from '../../../lib/accounts/account.ts'
import { entityTypes } from '../../../lib/store/event/publish.ts'
import { insertApiKey } from '../../kit/accounts.ts'
import type { Client } from '../../kit/http/client.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { waitUntil } from '../../kit/processes.ts'
import { insertReleaseSource, item, pollItems } from '../../kit/releases/polls.ts'
import { startApi, type TestApi } from '../../kit/server.ts'
import { skipWithoutBrowser, useBrowser } from '../../kit/web/browser.ts'

const password = 'correct horse battery'
const paths = ['/events/stream', '/scans/stream', '/tasks/stream']
const types = [...entityTypes, 'task_progress', 'scan_progress']

const html = `<!doctype html><script>
let n = 0
const send = message => report({ ...message, n: n++ })
const follow = path => {
  const source = new EventSource('/api/v1' + path)
  source.onopen = () => send({ open: path })
  source.onerror = () => send({ error: path, state: source.readyState })
  for (const type of ${JSON.stringify(types)})
    source.addEventListener(type, e => send({ path, type, id: e.lastEventId, data: e.data }))
}
fetch('/api/v1/auth/login', {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ username: 'ana', password: '${password}' }),
}).then(() => ${JSON.stringify(paths)}.forEach(follow))
</script>`

type ReceivedEvent = { path: string; type: string; id: string; data: any; n?: number }

/** Runs the steps one by one and waits for the events of each. */
async function session(t: Test, all: TestApi, ana: Client, receivers: ReceivedEvent[][]) {
  const come = async (type: string, fits: (data: any) => boolean) => {
    const hasCome = (seen: ReceivedEvent[]) =>
      seen.some(report => report.type === type && fits(report.data))
    for (const end = Date.now() + 120_000; Date.now() < end; await sleep(20))
      if (receivers.every(hasCome)) {
        t.pass(`${type} came`)
        return
      }
    t.fail(`${type} did not come`, { seen: receivers.map(seen => seen.slice(-20)) })
  }
  const place = await createTestLibrary(t, all, {})
  const { id: old } = place
  t.equal((await ana.delete(`/libraries/${old}`)).status, 204)
  await come('library_deleted', data => data.library_id === old)

  const created = await ana.post('/libraries', { name: 'Comics', path: place.root })
  t.equal(created.status, 201)
  const library = created.body.id
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
  await ana.post('/want-to-read/bulk', { bookIds: [first!.id] })
  await come('want_to_read_updated', data => data.book_id === first!.id)
  await ana.put(`/series/${first!.seriesId}/rating`, { rating: 60 })
  await come('rating_updated', data => data.series_id === first!.seriesId && data.user_id)
  const locator = { href: 'page-1', type: 'image/jpeg', locations: { position: 1 } }
  await ana.post(`/books/${first!.id}/annotations`, { kind: 'bookmark', locator })
  await come('annotation_updated', data => data.book_id === first!.id)

  for (const [path, kind] of [
    ['/collections', 'collection'],
    ['/readlists', 'read_list'],
  ] as const) {
    const { body } = await ana.post(path, { name: 'Best' })
    await come(`${kind}_created`, data => data[`${kind}_id`] === body.id)
    await ana.patch(`${path}/${body.id}`, { name: 'Better' })
    await come(`${kind}_updated`, data => data.fields?.includes('name') === true)
    await ana.delete(`${path}/${body.id}`)
    await come(`${kind}_deleted`, data => data[`${kind}_id`] === body.id)
  }

  await ana.patch(`/series/${first!.seriesId}/tracking`, { tracked: true })
  await come('series_updated', data => data.fields?.includes('tracking') === true)
  const source = await insertReleaseSource(all.sql)
  const release = { seriesTitles: ['Another series'], chapters: [{ start: 7, end: 8 }] }
  await pollItems(all.sql, source.id, [item({ externalReleaseId: 'r7', ...release })])
  await come(
    'release_announced',
    data => data.series_id === first!.seriesId && data.chapter === 8 && data.ledgerId !== undefined,
  )
  await come('release_source_polled', data => data.source_id === source.id && !data.had_error)

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

test('a browser with its cookie and curl with an API key receive all three streams', async t => {
  const all = await startApi(t)
  const { id } = await createAccount(all.sql, {
    username: 'ana',
    email: 'ana@example.org',
    password,
    role: 'admin',
  })
  const login = await all.anonymous.post('/auth/login', { username: 'ana', password })
  const ana = all.withHeaders({ authorization: `Bearer ${login.body.access_token}` })
  const byCurl = await openCurl(t, all, (await insertApiKey(all.sql, id)).key)
  const byBrowser = skipWithoutBrowser(1) ? null : await openBrowser(t, all)
  const receivers = byBrowser ? [byCurl, byBrowser] : [byCurl]
  await session(t, all, ana, receivers)
  for (const seen of receivers)
    t.same([...new Set(seen.map(report => report.type))].sort(), [...types].sort())
  if (!byBrowser) return
  // Reports may arrive out of order.
  byBrowser.sort((a, b) => a.n! - b.n!)
  for (const path of paths) {
    const ids = byBrowser
      .filter(report => report.path === path && report.id !== '')
      .map(report => Number(report.id))
    t.ok(ids.length > 0, path)
    t.same(
      ids,
      [...new Set(ids)].sort((a, b) => a - b),
      'each event once and in order',
    )
  }
})

/** What a page of the same origin receives: EventSource sends no headers, but the cookie. */
async function openBrowser(t: Test, all: TestApi): Promise<ReceivedEvent[]> {
  const seen: ReceivedEvent[] = []
  const open = new Set<string>()
  const browser = await useBrowser(t)
  const page = await browser.newPage()
  t.teardown(() => page.close())
  await page.exposeFunction('report', (report: any) => {
    if (report.open) open.add(report.open)
    if (report.type) seen.push({ ...report, data: JSON.parse(report.data) })
  })
  const url = `${all.base}/page`
  await page.route(url, route => route.fulfill({ contentType: 'text/html', body: html }))
  await page.goto(url)
  await waitUntil(() => open.size === paths.length)
  return seen
}

async function openCurl(t: Test, all: TestApi, key: string): Promise<ReceivedEvent[]> {
  const seen: ReceivedEvent[] = []
  const comments = new Set<string>()
  for (const path of paths) {
    const child = spawn('curl', ['-sN', '-H', `x-api-key: ${key}`, `${all.base}/api/v1${path}`])
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
  // A comment is sent immediately.
  await waitUntil(() => comments.size === paths.length)
  return seen
}
