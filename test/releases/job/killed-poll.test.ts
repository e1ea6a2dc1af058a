// Polls that are killed: between two pages and while a page is stored, nothing is lost and nothing doubled.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'tap'
import { unrestrictedViewer } from '../../../lib/accounts/viewer.ts'
import { setTracked } from '../../../lib/releases/tracking.ts'
import { insertAccount } from '../../kit/accounts.ts'
import { openCatalog } from '../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { insertReleaseSource, item } from '../../kit/releases/polls.ts'
import { untilBlocked } from '../../kit/row-locks.ts'

const pageCount = 6
const perPage = 40

/** Every item is on two pages, as in a feed that grows while it is read. */
const pageOf = (page: number) => ({
  items: Array.from({ length: perPage * 2 }, (_, i) =>
    item({
      externalReleaseId: `r${page * perPage + i}`,
      seriesTitles: ['Alpha'],
      chapters: [{ start: 1000 + page * perPage + i, end: 1000 + page * perPage + i }],
    }),
  ),
  cursor: page + 1,
  isLast: page === pageCount - 1,
})

test('killed polls', async t => {
  const catalog = await openCatalog(t)
  const { sql, url } = catalog
  const library = await createTestLibrary(t, catalog, { 'Alpha/1.cbz': comic() })
  await library.scan()
  const [series] = await sql<{ id: string }[]>`select id from series`
  const viewer = unrestrictedViewer((await insertAccount(sql, 'admin')).id)
  await setTracked(sql, viewer, { seriesIds: [series!.id], tracked: true })
  const source = await insertReleaseSource(sql)

  let onPage: (page: number, child: ChildProcess) => Promise<'respond' | 'killed'>
  let child: ChildProcess
  const requested: number[] = []
  const server = createServer(async (request, response) => {
    const page = Number(request.url!.slice(1))
    requested.push(page)
    if ((await onPage(page, child)) === 'killed') response.destroy()
    else response.end(JSON.stringify(pageOf(page)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }

  /** Runs a poll until it ends or is killed. */
  async function run(decide: typeof onPage) {
    onPage = decide
    const script = join(import.meta.dirname, '../../kit/releases/poll-process.ts')
    child = spawn(process.execPath, [script, url, source.id, `http://127.0.0.1:${port}`], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    const [code, signal] = await once(child, 'close')
    return signal ?? code
  }

  const killAt = (last: number) => async (page: number, child: ChildProcess) => {
    if (page < last) return 'respond' as const
    child.kill('SIGKILL')
    return 'killed' as const
  }
  t.equal(await run(killAt(2)), 'SIGKILL', 'killed while it waits for the third page')

  const holder = await sql.reserve()
  await holder`begin`
  const blocked = run(async page => {
    if (page === 3) {
      await holder`select from series where id = ${series!.id} for update`
      untilBlocked(sql).then(() => child.kill('SIGKILL'))
    }
    return 'respond'
  })
  t.equal(await blocked, 'SIGKILL', 'killed while it stores the fourth page')
  await holder`rollback`
  holder.release()
  t.equal(await run(async () => 'respond'), 0, 'a whole poll')

  t.same(requested, [0, 1, 2, 2, 3, 3, 4, 5], 'each one continues where the last one ended')
  const rows = await sql<{ id: string }[]>`
    select external_release_id as id from release order by last_chapter`
  const total = perPage * (pageCount + 1)
  t.same(
    rows.map(row => row.id),
    Array.from({ length: total }, (_, i) => `r${i}`),
    'every release once',
  )
  const [history] = await sql`select count(*)::integer as n from release_change`
  t.equal(history!.n, total, 'with one entry in its history each')
  const announced = await sql<{ count: number }[]>`
    select count from event where type = 'release_announced'`
  t.equal(
    announced.reduce((sum, row) => sum + row.count, 0),
    total,
    'and one event each',
  )
})
