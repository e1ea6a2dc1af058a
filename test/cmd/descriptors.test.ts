// A server without file descriptors: requests for files are refused for now, and jobs are run again later.
import { once } from 'node:events'
import { Agent, type IncomingMessage, request as send } from 'node:http'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { findOrCreateLibrary } from '../../lib/catalog/library/library-write.ts'
import { canLimitDescriptors, leaveDescriptors } from '../kit/descriptors.ts'
import { folderWithFiles } from '../kit/files/folders.ts'
import { comicFiles } from '../kit/library.ts'
import { processes, waitUntil } from '../kit/processes.ts'
import { leaveOutWithout } from '../kit/shared.ts'

const message = 'The server has too many files open; try again later'

async function startServer(t: Test) {
  const root = folderWithFiles(t, comicFiles(6))
  const { sql, serve, admin } = await processes(t)
  const headers = await admin()
  const { id: libraryId } = await findOrCreateLibrary(sql, {
    root: Buffer.from(root),
    name: 'Shelf',
  })
  const { base, child } = await serve()
  // On one connection: without descriptors the server accepts no other, and one that ends leaves a descriptor.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const request = async (method: string, path: string, body?: object) => {
    const sent = send(base + path, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      agent,
    })
    sent.end(body && JSON.stringify(body))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const bytes = await buffer(response)
    const { statusCode: status, headers: received } = response
    const isJson = received['content-type']?.startsWith('application/json')
    return {
      status,
      retryAfter: received['retry-after'],
      json: isJson ? JSON.parse(String(bytes)) : null,
    }
  }
  const get = (path: string) => request('GET', `/api/v1${path}`)
  await waitUntil(async () => (await request('GET', '/health/startup')).status === 200)
  return {
    sql,
    get,
    post: (path: string, body = {}) => request('POST', `/api/v1${path}`, body),
    async leave(count: number) {
      await get('/info')
      return leaveDescriptors(child.pid!, count)
    },
    scanPath: `/libraries/${libraryId}/scan`,
    scanStatus: async () => (await get(`/libraries/${libraryId}/scan-status`)).json,
    async cataloged() {
      const [counts] = await sql<{ books: number; errors: number; covers: number }[]>`
        select count(*)::integer as books, count(a.cover)::integer as covers,
          count(coalesce(b.error_code, a.cover_error))::integer as errors
        from book b join book_artifact a on a.book_id = b.id`
      return counts!
    },
  }
}
type Server = Awaited<ReturnType<typeof startServer>>

async function scan({ post, scanPath, cataloged, scanStatus }: Server) {
  await post(scanPath)
  await waitUntil(async () => (await scanStatus()).status === 'completed')
  await waitUntil(async () => (await cataloged()).covers === 6)
}

t.jobs = 3
const check = (name: string, work: (t: Test) => Promise<unknown>) =>
  t.test(name, async t => {
    if (canLimitDescriptors) await work(t)
    else leaveOutWithout('prlimit')
  })

check('pages and covers are 503 while there are no descriptors', async t => {
  const server = await startServer(t)
  const { sql, get, post, leave } = server
  await scan(server)
  const [first, second] = await sql<{ id: string }[]>`select id from book order by id`
  const paths = [
    `/books/${first!.id}/pages/1`,
    `/books/${first!.id}/pages/1?width=20`,
    `/books/${first!.id}/thumbnail`,
    `/books/${first!.id}/file`,
  ]
  const lift = await leave(0)
  for (const path of paths) {
    const { status, retryAfter, json } = await get(path)
    t.match({ status, retryAfter }, { status: 503, retryAfter: '5' }, path)
    t.match(json, { error: 'ServiceUnavailable', message: /try again later$/ }, path)
  }
  lift()
  for (const path of paths) t.equal((await get(path)).status, 200, path)

  const liftAgain = await leave(0)
  const path = `/books/${second!.id}/pages/1?width=20`
  t.match(await get(path), { status: 503, json: { message } }, 'in a thread that runs')
  const cover = await post(`/books/${second!.id}/thumbnail/generate`, { force: true })
  const { taskId } = cover.json
  await waitUntil(async () => Boolean((await get(`/tasks/${taskId}`)).json.startedAt))
  liftAgain()
  await waitUntil(async () => (await get(`/tasks/${taskId}`)).json.status === 'completed')
  t.equal((await get(path)).status, 200, 'in a new thread')
  t.match(await server.cataloged(), { errors: 0, covers: 6 })
})

check('a scan without descriptors goes on when there are some', async t => {
  const server = await startServer(t)
  const { post, leave, scanPath, scanStatus, cataloged } = server
  const lift = await leave(0)
  await waitUntil(async () => (await post(scanPath)).status === 200)
  await waitUntil(async () => /file descriptors/.test((await scanStatus()).message))
  lift()
  await waitUntil(async () => (await scanStatus()).status === 'completed')
  await waitUntil(async () => (await cataloged()).covers === 6)
  t.match(await scanStatus(), { message: null })
  t.match(await cataloged(), { books: 6, errors: 0 })
})

check('threads that run out of descriptors leave no error with a book', async t => {
  const server = await startServer(t)
  const { sql } = server
  // Enough for the folders or nearly so, too few for the threads that read books.
  const lift = await server.leave(7)
  await waitUntil(async () => (await server.post(server.scanPath)).status === 200)
  const isHeld = sql`discovered_at is not null or message like '%file descriptors%'`
  await waitUntil(async () => (await sql`select 1 from scan where ${isHeld}`).length > 0)
  lift()
  await scan(server)
  t.match(await server.cataloged(), { books: 6, errors: 0 })
})
