// Progress from page streaming over HTTP, for apps with different prefetch behavior.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openLog } from '../../../lib/base/log.ts'
import { runMaintenance } from '../../../pipeline/work/maintenance.ts'
import { insertAccount } from '../../kit/accounts.ts'
import { comic, createTestLibrary } from '../../kit/library.ts'
import { startApi } from '../../kit/server.ts'

const all = await startApi(t)
const library = await createTestLibrary(t, all, { 'A/1.cbz': comic({ pages: 12 }) })
await library.scan()
const [book] = await library.books()
const other = await all.startAnother()

// Longer than a burst, and until the server has evaluated it.
const readingMs = 1_200
const evaluatedMs = 1_900

async function waitForEvaluation(accountId: string) {
  const deadline = Date.now() + evaluatedMs
  for (;;) {
    await sleep(100)
    const [row] = await all.sql<{ open: boolean }[]>`
      select (state->'isOpen')::boolean as open from page_stream where account_id = ${accountId}`
    if (Date.now() > deadline && !row?.open) return
  }
}

/** An account with the preference set, and its app. */
async function createApp(preference: unknown = true) {
  const reader = await all.createUser('reader')
  await reader.put('/user/preferences/opds.stream_progress', { value: preference })
  const progressPath = () => `/books/${book!.id}/progress`
  const page = async (index: number | string, { base = all.base, method = 'GET' } = {}) => {
    const address = `${base}/opds/v1/books/${book!.id}/pages/${index}`
    const response = await fetch(address, { method, headers: { 'x-api-key': reader.key } })
    await response.arrayBuffer()
    return response.status
  }
  return {
    ...reader,
    page,
    /** Concurrently, from the servers in turn. */
    pages: (indexes: number[], bases = [all.base]) =>
      Promise.all(indexes.map((index, i) => page(index, { base: bases[i % bases.length]! }))),
    /** One after the other, with time to read. */
    async readPages(indexes: number[], bases = [all.base]) {
      for (const [i, index] of indexes.entries()) {
        if (i > 0) await sleep(readingMs)
        await page(index, { base: bases[i % bases.length]! })
      }
    },
    /** After the evaluation; waits for `expected`, which is stored after it. */
    async progress(expected: string | null = null) {
      await waitForEvaluation(reader.id)
      const read = async () => {
        const { status, body } = await reader.get(progressPath())
        return status === 204 ? null : `${body.currentPage}${body.completed ? ' read' : ''}`
      }
      const end = Date.now() + 60_000
      while ((await read()) !== expected && Date.now() < end) await sleep(100)
      return await read()
    },
    move: (body: object) => reader.put(progressPath(), body),
  }
}

t.jobs = 20

t.test('without the preference the progress does not change', async t => {
  const [unset, off, odd] = [await createApp(), await createApp(false), await createApp('true')]
  await unset.delete('/user/preferences/opds.stream_progress')
  const apps = [unset, off, odd]
  for (const app of apps) t.equal(await app.page(5), 200)
  t.same(await Promise.all(apps.map(app => app.progress())), [null, null, null])
  const ids = apps.map(app => app.id)
  t.same([...(await all.sql`select 1 from page_stream where account_id = any(${ids}::uuid[])`)], [])
})

t.test('page by page, up to the end', async t => {
  const reader = await createApp()
  await reader.page(9)
  t.equal(await reader.progress('10'), '10')
  await reader.readPages([10, 11])
  t.equal(await reader.progress('12 read'), '12 read')
  await reader.pages([0, 1])
  t.equal(await reader.progress('12 read'), '12 read', 'reading it again changes nothing')
})

t.test('prefetched pages do not count as read', async t => {
  const reader = await createApp()
  await reader.pages([0, 1, 2, 3, 4])
  t.equal(await reader.progress('1'), '1')
  await reader.readPages([5, 6])
  t.equal(await reader.progress('3'), '3')
  await reader.pages([7, 8, 9, 10, 11])
  t.equal(await reader.progress('4'), '4', 'also at the end')
})

t.test('in any order, from two servers', async t => {
  const reader = await createApp()
  const both = [all.base, other.base]
  await reader.pages([6, 3, 5, 2, 4], both)
  t.equal(await reader.progress('3'), '3')
  await reader.readPages([7, 8], both)
  t.equal(await reader.progress('5'), '5')
  const events = await all.sql`
    select 1 from event where type = 'progress_updated' and account_id = ${reader.id}`
  t.equal(events.length, 3, 'one event per change')
})

t.test('jumps', async t => {
  const reader = await createApp()
  await reader.pages([0, 1, 2])
  await sleep(readingMs)
  await reader.pages([7, 8, 9])
  t.equal(await reader.progress('8'), '8')
  await reader.pages([4, 5, 6])
  t.equal(await reader.progress('8'), '8', 'never backwards')
})

t.test('progress made elsewhere is not moved back', async t => {
  const reader = await createApp()
  await reader.move({ currentPage: 8 })
  await reader.page(2)
  t.equal(await reader.progress('8'), '8')
  await reader.page(8)
  t.equal(await reader.progress('9'), '9')
})

t.test('HEAD, a missing page and an app without permission do not change the progress', async t => {
  const reader = await createApp()
  t.equal(await reader.page(4, { method: 'HEAD' }), 200)
  t.equal(await reader.page(99), 404)
  t.equal(await reader.progress(null), null)
  const { id, key } = await insertAccount(all.sql, 'reader')
  await all.sql`update api_key set permissions = '{BooksRead,PagesRead}' where account_id = ${id}`
  await all.sql`insert into preference values (${id}, 'opds.stream_progress', 'true')`
  const limited = all.withHeaders({ 'x-api-key': key })
  t.equal((await limited.get(`/opds/v1/books/${book!.id}/pages/3`)).status, 200)
  await sleep(evaluatedMs)
  t.equal((await limited.get(`/books/${book!.id}/progress`)).status, 204)
})

t.test('a page is sent although its fetch cannot be recorded', async t => {
  const reader = await createApp()
  await all.sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$
      begin if new.account_id = '${reader.id}' then raise 'no'; end if; return new; end $$;
    create trigger refuse before insert on page_stream for each row execute function refuse()`)
  t.equal(await reader.page(1), 200)
  t.equal(await reader.progress(null), null)
  await all.sql`drop trigger refuse on page_stream`
})

t.test('old state is deleted', async t => {
  const reader = await createApp()
  await reader.page(1)
  t.equal(await reader.progress('2'), '2')
  const rows = () => all.sql`select 1 from page_stream where account_id = ${reader.id}`
  const log = openLog({ level: 'error' })
  await runMaintenance({ sql: all.sql, config: all.config, log }, () => false)
  t.equal((await rows()).length, 1)
  await all.sql`
    update page_stream set updated_at = now() - interval '3 days' where account_id = ${reader.id}`
  await runMaintenance({ sql: all.sql, config: all.config, log }, () => false)
  t.equal((await rows()).length, 0)
})
