// Reading apps of several kinds stream a book over HTTP, and where the reader is taken to be.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openLog } from '../../lib/log.ts'
import { upkeep } from '../../pipeline/work/maintenance.ts'
import { comic, shelve } from '../kit/library.ts'
import { newAccount, serve } from '../kit/server.ts'

const all = await serve(t)
const shelf = await shelve(t, all, { 'A/1.cbz': comic({ pages: 12 }) })
await shelf.scan()
const [book] = await shelf.books()
const other = await all.another()

// Longer than what belongs together, and until the server has looked at it.
const readingMs = 1_200
const settledMs = 1_900

async function settled(accountId: string) {
  const until = Date.now() + settledMs
  for (;;) {
    await sleep(100)
    const [row] = await all.sql<{ open: boolean }[]>`
      select (state->'isOpen')::boolean as open from page_stream where account_id = ${accountId}`
    if (Date.now() > until && !row?.open) return await sleep(200)
  }
}

/** An account whose place is to be moved, and its app. */
async function app(wants: unknown = true) {
  const reader = await all.as('reader')
  await reader.put('/user/preferences/opds.stream_progress', { value: wants })
  const place = () => `/books/${book!.id}/progress`
  const page = async (index: number | string, { base = all.base, method = 'GET' } = {}) => {
    const address = `${base}/opds/v1/books/${book!.id}/pages/${index}`
    const response = await fetch(address, { method, headers: { 'x-api-key': reader.key } })
    await response.arrayBuffer()
    return response.status
  }
  return {
    ...reader,
    page,
    /** At once, of one server after the other. */
    pages: (indexes: number[], bases = [all.base]) =>
      Promise.all(indexes.map((index, i) => page(index, { base: bases[i % bases.length]! }))),
    /** One after the other, with time to read. */
    async turn(indexes: number[], bases = [all.base]) {
      for (const [i, index] of indexes.entries()) {
        if (i > 0) await sleep(readingMs)
        await page(index, { base: bases[i % bases.length]! })
      }
    },
    async place() {
      await settled(reader.id)
      const { status, body } = await reader.get(place())
      return status === 204 ? null : `${body.currentPage}${body.completed ? ' read' : ''}`
    },
    move: (body: object) => reader.put(place(), body),
  }
}

t.jobs = 20

t.test('nothing moves for who did not ask for it', async t => {
  const [unset, off, odd] = [await app(), await app(false), await app('true')]
  await unset.delete('/user/preferences/opds.stream_progress')
  const apps = [unset, off, odd]
  for (const one of apps) t.equal(await one.page(5), 200)
  t.same(await Promise.all(apps.map(one => one.place())), [null, null, null])
  const ids = apps.map(one => one.id)
  t.same([...(await all.sql`select 1 from page_stream where account_id = any(${ids}::uuid[])`)], [])
})

t.test('page by page, up to the end', async t => {
  const reader = await app()
  await reader.page(9)
  t.equal(await reader.place(), '10')
  await reader.turn([10, 11])
  t.equal(await reader.place(), '12 read')
  await reader.pages([0, 1])
  t.equal(await reader.place(), '12 read', 'reading it again moves nothing')
})

t.test('what is fetched ahead is not read', async t => {
  const reader = await app()
  await reader.pages([0, 1, 2, 3, 4])
  t.equal(await reader.place(), '1')
  await reader.turn([5, 6])
  t.equal(await reader.place(), '3')
  await reader.pages([7, 8, 9, 10, 11])
  t.equal(await reader.place(), '4', 'nor at the end')
})

t.test('in any order, from two servers', async t => {
  const reader = await app()
  const both = [all.base, other.base]
  await reader.pages([6, 3, 5, 2, 4], both)
  t.equal(await reader.place(), '3')
  await reader.turn([7, 8], both)
  t.equal(await reader.place(), '5')
  const told = await all.sql`
    select 1 from event where type = 'progress_updated' and account_id = ${reader.id}`
  t.equal(told.length, 3, 'each move was told once')
})

t.test('where the reader jumps to', async t => {
  const reader = await app()
  await reader.pages([0, 1, 2])
  await sleep(readingMs)
  await reader.pages([7, 8, 9])
  t.equal(await reader.place(), '8')
  await reader.pages([4, 5, 6])
  t.equal(await reader.place(), '8', 'never back')
})

t.test('further along by another way, it stays there', async t => {
  const reader = await app()
  await reader.move({ currentPage: 8 })
  await reader.page(2)
  t.equal(await reader.place(), '8')
  await reader.page(8)
  t.equal(await reader.place(), '9')
})

t.test(
  'neither HEAD nor a page that is not there moves anything, nor an app that may not',
  async t => {
    const reader = await app()
    t.equal(await reader.page(4, { method: 'HEAD' }), 200)
    t.equal(await reader.page(99), 404)
    t.equal(await reader.place(), null)
    const { id, key } = await newAccount(all, 'reader')
    await all.sql`update api_key set permissions = '{BooksRead,PagesRead}' where account_id = ${id}`
    await all.sql`insert into preference values (${id}, 'opds.stream_progress', 'true')`
    const looking = all.with({ 'x-api-key': key })
    t.equal((await looking.get(`/opds/v1/books/${book!.id}/pages/3`)).status, 200)
    await sleep(settledMs)
    t.equal((await looking.get(`/books/${book!.id}/progress`)).status, 204)
  },
)

t.test('a page is sent although its fetch cannot be written down', async t => {
  const reader = await app()
  await all.sql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$
      begin if new.account_id = '${reader.id}' then raise 'no'; end if; return new; end $$;
    create trigger refuse before insert on page_stream for each row execute function refuse()`)
  t.equal(await reader.page(1), 200)
  t.equal(await reader.place(), null)
  await all.sql`drop trigger refuse on page_stream`
})

t.test('what was fetched long ago is forgotten', async t => {
  const reader = await app()
  await reader.page(1)
  await reader.place()
  const rows = () => all.sql`select 1 from page_stream where account_id = ${reader.id}`
  const log = openLog({ level: 'error' })
  await upkeep({ sql: all.sql, config: all.config, log }, () => false)
  t.equal((await rows()).length, 1)
  await all.sql`
    update page_stream set at = now() - interval '3 days' where account_id = ${reader.id}`
  await upkeep({ sql: all.sql, config: all.config, log }, () => false)
  t.equal((await rows()).length, 0)
})
