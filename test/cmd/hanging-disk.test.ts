// A server with two libraries, of which the disk of one hangs.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { folderWithFiles, temporaryFolder } from '../kit/files/folders.ts'
import { hangingFolder } from '../kit/files/hanging-folder.ts'
import { comic, comicFiles } from '../kit/library.ts'
import { processes, waitUntil } from '../kit/processes.ts'
import { leaveOutWithout } from '../kit/shared.ts'

type Book = { id: string; root: string }

t.test('a disk that hangs affects its library alone', async t => {
  const away = folderWithFiles(t, comicFiles(6))
  const present = folderWithFiles(t, comicFiles(3))
  const disk = hangingFolder(away, temporaryFolder(t))
  if (disk === null) return leaveOutWithout('gcc', 20)
  const { sql, serve, admin } = await processes(t, disk.env)
  t.teardown(disk.respond)
  const headers = await admin()
  const folders = ['--library', away, '--library', present, '--watch', 'off', '--schedule', 'off']
  const server = await serve(...folders, '--log-level', 'info')
  const get = (path: string) => fetch(`${server.base}/api/v1${path}`, { headers })
  const read = async (path: string): Promise<any> => (await get(path)).json()
  const post = (path: string) => fetch(`${server.base}/api/v1${path}`, { method: 'POST', headers })
  const scansOf = async (root: string) =>
    (
      await sql<{ state: string }[]>`
        select s.state from scan s join library l on l.id = s.library_id
        where convert_from(l.root, 'utf8') = ${root} order by s.created_at`
    ).map(({ state }) => state)
  await waitUntil(
    async () =>
      [...(await scansOf(away)), ...(await scansOf(present))].join() === 'completed,completed',
  )
  const books = await sql<Book[]>`
    select b.id, convert_from(l.root, 'utf8') as root
    from book b join library l on l.id = b.library_id order by b.id`
  const [first, second, third, ...others] = books.filter(book => book.root === away)
  const [elsewhere] = books.filter(book => book.root === present)
  const libraries: { id: string; path: string }[] = (await read('/libraries')).data
  const idOf = (root: string) => libraries.find(({ path }) => path === root)!.id
  const page = (book: Book | undefined) => get(`/books/${book!.id}/pages/1`)
  const file = (book: Book | undefined) => get(`/books/${book!.id}/file`)

  disk.hang()
  const blocked = Promise.all([
    page(first),
    get(`/books/${first!.id}/pages/1?width=20`),
    file(second),
  ])
  t.equal((await page(elsewhere)).status, 200, 'a page of the other library')
  t.equal((await get('/books')).status, 200, 'lists')
  for (const response of await blocked) {
    t.equal(response.status, 503)
    t.match(response.headers.get('retry-after'), /^\d+$/)
  }
  t.equal((await page(third)).status, 503)
  t.equal((await file(third)).status, 503)
  t.match(await read('/health'), {
    status: 'degraded',
    message: 'A library folder does not respond',
  })
  t.match(await read(`/libraries/${idOf(away)}`), { isResponding: false })
  t.match(await read(`/libraries/${idOf(present)}`), { isResponding: true })

  t.equal((await post(`/libraries/${idOf(away)}/scan`)).status, 200)
  await waitUntil(async () =>
    /does not respond/.test((await read(`/libraries/${idOf(away)}/scan-status`)).message),
  )
  writeFileSync(join(present, 'Row', '4.cbz'), comic())
  t.equal((await post(`/libraries/${idOf(present)}/scan`)).status, 200)
  await waitUntil(async () => (await scansOf(present)).at(-1) === 'completed')
  t.equal((await post(`/libraries/${idOf(away)}/scan/cancel`)).status, 204)
  t.same(await scansOf(away), ['completed', 'cancelled'])

  disk.respond()
  await waitUntil(async () => (await page(third)).status === 200)
  t.equal((await post(`/libraries/${idOf(away)}/scan`)).status, 200)
  await waitUntil(async () => (await scansOf(away)).at(-1) === 'completed')
  const [missing] =
    await sql`select count(*)::integer as count from book where missing_at is not null`
  t.equal(missing!.count, 0, 'nothing is missing')
  const lines = server.output.stderr.split('\n').filter(line => line.includes('a library folder '))
  t.match(lines, [/does not respond/, /responds again/])
  t.equal(lines.length, 2)

  disk.hang()
  const pending = Promise.allSettled([...others.map(page), ...others.map(file)])
  t.equal((await server.terminate()).code, 0)
  t.notMatch(server.output.stderr, '"part":"api"', 'the server ends within its grace period')
  await pending
})
