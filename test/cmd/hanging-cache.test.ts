// A server whose cache lies on a disk that hangs.
import { join } from 'node:path'
import t from 'tap'
import { folderWithFiles, temporaryFolder } from '../kit/files/folders.ts'
import { hangingFolder } from '../kit/files/hanging-folder.ts'
import { comicFiles } from '../kit/library.ts'
import { processes, waitUntil } from '../kit/processes.ts'
import { leaveOutWithout } from '../kit/shared.ts'

t.test('pages are made without a cache whose disk hangs', async t => {
  const data = join(temporaryFolder(t), 'data')
  const disk = hangingFolder(join(data, 'cache'), temporaryFolder(t))
  if (disk === null) return leaveOutWithout('gcc', 13)
  const { sql, serve, admin } = await processes(
    t,
    { ...disk.env, STACKROOM_WEB__ENABLED: 'true' },
    data,
  )
  t.teardown(disk.respond)
  const headers = await admin()
  const server = await serve('--library', folderWithFiles(t, comicFiles(6)), '--log-level', 'info')
  const get = (path: string) => fetch(`${server.base}${path}`, { headers })
  const books = () => sql<{ id: string }[]>`select id from book where page_count > 0 order by id`
  await waitUntil(async () => (await books()).length === 6)
  const paths = (await books()).map(({ id }) => `/api/v1/books/${id}/pages/1`)

  disk.hang()
  const scaled = Promise.all(paths.slice(0, 3).map(path => get(`${path}?width=20&format=png`)))
  const document = get('/')
  // A thread looks at what it has not verified yet.
  for (const path of paths.slice(3)) t.equal((await get(path)).status, 200, 'an original page')
  t.equal((await get('/health')).status, 200)
  for (const response of await scaled) t.equal(response.status, 200, 'a scaled page')
  t.equal((await document).status, 200, 'the web application')
  t.equal((await get(`${paths[4]!}?width=20&format=png`)).status, 200)
  t.match(server.output.stderr, /a cache folder does not respond/)
  disk.respond()
  await waitUntil(() => /a cache folder responds again/.test(server.output.stderr))
  t.equal((await get(`${paths[5]!}?width=20&format=png`)).status, 200)

  disk.hang()
  const pending = Promise.allSettled(paths.map(path => get(`${path}?width=30&format=png`)))
  t.equal((await server.terminate()).code, 0)
  t.notMatch(server.output.stderr, '"part":"api"', 'the server ends within its grace period')
  await pending
})
