// Event audience: which events clients of different accounts receive.
import { test } from 'tap'
import { newId } from '../../../lib/base/id.ts'
import { type NewEvent, publish, publishProgress } from '../../../lib/store/event/publish.ts'
import { lastEvent } from '../../kit/events.ts'
import { openSseClient, type SseClient } from '../../kit/http/sse.ts'
import { startApiWithoutPipeline } from '../../kit/server.ts'

type Served = Awaited<ReturnType<typeof startApiWithoutPipeline>>
const [here, there] = [newId(), newId()]
const [plain, adult, secret, elsewhere] = [newId(), newId(), newId(), newId()]
const books = Object.fromEntries([plain, adult, secret, elsewhere].map(id => [id, newId()]))
const adultBook = newId()
const tag = newId()

/** Two libraries; in the first a series for all, one for adults, one with a tag, and a book for adults. */
async function createLibraries({ sql }: Served) {
  for (const [id, root] of [
    [here, '/here'],
    [there, '/there'],
  ] as const)
    await sql`insert into library (id, name, root) values (${id}, ${root}, ${root})`
  await sql`insert into sharing_tag (id, name) values (${tag}, 'secret')`
  const rows = [
    { id: plain, library: here, age: null },
    { id: adult, library: here, age: 18 },
    { id: secret, library: here, age: null },
    { id: elsewhere, library: there, age: null },
  ]
  for (const { id, library, age } of rows) {
    await sql`
      insert into series (id, library_id, key, name, name_key, title, sort_key, search_key, age_rating)
      values (${id}, ${library}, ${id}, '', '', '', '', '', ${age})`
    await addBook({ sql }, { id: books[id]!, library, series: id, age: null })
  }
  await addBook({ sql }, { id: adultBook, library: here, series: plain, age: 18 })
  await sql`insert into series_sharing_tag (series_id, tag_id) values (${secret}, ${tag})`
}

async function addBook(
  { sql }: Pick<Served, 'sql'>,
  { id, library, series, age }: { id: string; library: string; series: string; age: number | null },
) {
  const directory = newId()
  await sql`
    insert into directory (id, library_id, path) values (${directory}, ${library}, ${Buffer.from(id)})`
  await sql`
    insert into book (id, library_id, series_id, directory_id, name, size, modified_ms, title,
      sort_key, search_key, name_key, age_rating)
    values (${id}, ${library}, ${series}, ${directory}, ${Buffer.from('1.cbz')}, 1, 1, '', '', '', '', ${age})`
}

const bookOf = (id: string) => ({ id: books[id]!, seriesId: id })
const changes: NewEvent[] = [
  { type: 'book_updated', libraryId: here, books: [bookOf(plain), bookOf(adult), bookOf(secret)] },
  { type: 'book_updated', libraryId: here, books: [{ id: adultBook, seriesId: plain }] },
  { type: 'series_updated', libraryId: here, series: [secret, adult, plain] },
  { type: 'cover_updated', libraryId: here, series: [adult] },
  { type: 'library_updated', libraryId: here },
  { type: 'book_created', libraryId: there, books: [bookOf(elsewhere)] },
  { type: 'library_updated', libraryId: there },
]

/** Waits until all clients have passed the last event. */
async function received(sql: Served['sql'], clients: Pick<SseClient, 'waitForNumber'>[]) {
  const last = await lastEvent(sql)
  await Promise.all(clients.map(client => client.waitForNumber(last)))
}

/** The events that a client received, with names for ids. */
function describe(client: SseClient): string[] {
  const names: Record<string, string> = {
    [plain]: 'plain',
    [adult]: 'adult',
    [secret]: 'secret',
    [elsewhere]: 'elsewhere',
    [here]: 'here',
    [there]: 'there',
    [adultBook]: 'adultBook',
  }
  for (const [series, book] of Object.entries(books)) names[book] = `${names[series]} book`
  return client.events().map(({ event, data }) => {
    const id = data.book_id ?? data.series_id ?? data.library_id
    return `${event} ${names[id] ?? id}`
  })
}

test('accounts receive events of what is visible to them', async t => {
  const all = await startApiWithoutPipeline(t, {}, { keepAliveMs: 100 })
  const { sql } = all
  await createLibraries(all)
  const client = async (role: 'reader' | 'admin', restrict?: (id: string) => Promise<unknown>) => {
    const account = await all.createUser(role)
    await restrict?.(account.id)
    return {
      id: account.id,
      ...(await openSseClient(t, all.base, { headers: { 'x-api-key': account.key } })),
    }
  }
  const clients = {
    free: await client('reader'),
    here: await client('reader', async id => {
      await sql`update account set all_libraries = false where id = ${id}`
      await sql`insert into account_library (account_id, library_id) values (${id}, ${here})`
    }),
    young: await client('reader', id => sql`update account set age_limit = 12 where id = ${id}`),
    younger: await client(
      'admin',
      id => sql`
      update account set age_limit = 12, shows_unrated = false where id = ${id}`,
    ),
    denied: await client(
      'admin',
      id => sql`
      insert into account_sharing_tag (id, account_id, tag_id, mode)
      values (${newId()}, ${id}, ${tag}, 'deny')`,
    ),
    allowed: await client(
      'reader',
      id => sql`
      insert into account_sharing_tag (id, account_id, tag_id, mode)
      values (${newId()}, ${id}, ${tag}, 'allow')`,
    ),
  }
  await publish(sql, changes)
  await publish(sql, [{ type: 'library_updated', libraryId: here, accountId: clients.free.id }])
  await received(sql, Object.values(clients))
  t.equal(clients.free.events().length, 12)
  const seen = Object.fromEntries(
    Object.entries(clients).map(([name, client]) => [name, describe(client)]),
  )
  t.same(seen.here, [
    'book_updated plain book',
    'book_updated adult book',
    'book_updated secret book',
    'book_updated adultBook',
    'series_updated secret',
    'series_updated adult',
    'series_updated plain',
    'cover_updated adult',
    'library_updated here',
  ])
  t.same(seen.young, [
    'book_updated plain book',
    'book_updated secret book',
    'series_updated secret',
    'series_updated plain',
    'library_updated here',
    'book_created elsewhere book',
    'library_updated there',
  ])
  t.same(seen.younger, ['library_updated here', 'library_updated there'])
  t.same(seen.denied, [
    'book_updated plain book',
    'book_updated adult book',
    'book_updated adultBook',
    'series_updated adult',
    'series_updated plain',
    'cover_updated adult',
    'library_updated here',
    'book_created elsewhere book',
    'library_updated there',
  ])
  t.same(seen.allowed, [
    'book_updated secret book',
    'series_updated secret',
    'library_updated here',
    'library_updated there',
  ])
})

test('deletions are received by accounts that could see the entity', async t => {
  const all = await startApiWithoutPipeline(t, {}, { keepAliveMs: 100 })
  const { sql } = all
  await createLibraries(all)
  const client = async (restrict?: (id: string) => Promise<unknown>) => {
    const account = await all.createUser('reader')
    await restrict?.(account.id)
    return {
      id: account.id,
      ...(await openSseClient(t, all.base, { headers: { 'x-api-key': account.key } })),
    }
  }
  const free = await client()
  const young = await client(id => sql`update account set age_limit = 12 where id = ${id}`)
  const denied = await client(
    id => sql`
    insert into account_sharing_tag (id, account_id, tag_id, mode)
    values (${newId()}, ${id}, ${tag}, 'deny')`,
  )
  const assigned = await client(
    id => sql`update account set all_libraries = false where id = ${id}`,
  )
  const unassigned = await client(
    id => sql`update account set all_libraries = false where id = ${id}`,
  )
  await sql`delete from book`
  await sql`delete from series`
  await publish(sql, [
    {
      type: 'book_deleted',
      libraryId: here,
      books: [bookOf(plain), bookOf(adult), bookOf(secret)],
      audience: { ratings: [null, 18, 6], tags: [[], [], [tag]] },
    },
    { type: 'series_deleted', libraryId: here, series: [plain], audience: { ratings: [null] } },
    { type: 'library_deleted', libraryId: here, audience: { accounts: [assigned.id] } },
  ])
  // While a library is being deleted, the list of libraries of every account is explicit.
  await sql`update library set deleting_at = now() where id = ${there}`
  await sql`select pg_notify('account', '*')`
  await publish(sql, [{ type: 'library_deleted', libraryId: there, audience: { accounts: [] } }])
  await received(sql, [free, young, denied, assigned, unassigned])
  const books = ['book_deleted plain book', 'book_deleted adult book', 'book_deleted secret book']
  const libraries = ['library_deleted here', 'library_deleted there']
  t.same(describe(free), [...books, 'series_deleted plain', ...libraries])
  t.same(describe(young), [books[0], books[2], ...libraries])
  t.same(describe(denied), [books[0], books[1], ...libraries])
  t.same(describe(assigned), ['library_deleted here'])
  t.same(describe(unassigned), [])
})

test('progress goes to its own account, entity types to those with the permission', async t => {
  const all = await startApiWithoutPipeline(t, {}, { keepAliveMs: 100 })
  const { sql } = all
  await createLibraries(all)
  const [ana, ben] = [await all.createUser('reader'), await all.createUser('admin')]
  const some = await all.createUser('reader')
  await sql`update api_key set permissions = '{SeriesRead}' where account_id = ${some.id}`
  const connect = (account: { key: string }) =>
    openSseClient(t, all.base, { headers: { 'x-api-key': account.key } })
  const [forAna, forBen, forSome] = [await connect(ana), await connect(ben), await connect(some)]
  await publish(sql, [
    { type: 'progress_updated', libraryId: here, books: [bookOf(plain)], accountId: ana.id },
    { type: 'book_updated', libraryId: here, books: [bookOf(plain)] },
    { type: 'series_updated', libraryId: here, series: [plain] },
    { type: 'library_updated', libraryId: here },
  ])
  await received(sql, [forAna, forBen, forSome])
  const others = ['book_updated plain book', 'series_updated plain', 'library_updated here']
  t.same(describe(forAna), ['progress_updated plain book', ...others])
  t.same(describe(forBen), others)
  t.same(describe(forSome), ['series_updated plain'])
})

test('task progress goes to accounts that can see its subject', async t => {
  const all = await startApiWithoutPipeline(t, {}, { keepAliveMs: 100 })
  const { sql } = all
  await createLibraries(all)
  const client = async (permissions: string[], restrict?: (id: string) => Promise<unknown>) => {
    const account = await all.createUser('admin')
    await sql`update api_key set permissions = ${permissions} where account_id = ${account.id}`
    await restrict?.(account.id)
    const headers = { 'x-api-key': account.key }
    return openSseClient(t, all.base, { path: '/tasks/stream', headers })
  }
  const byTag = (id: string) => sql`
    insert into account_sharing_tag (id, account_id, tag_id, mode)
    values (${newId()}, ${id}, ${tag}, 'deny')`
  const byLibrary = (id: string) => sql`update account set all_libraries = false where id = ${id}`
  const operator = await client(['TasksRead'], byTag)
  const reader = await client(['LibrariesRead'], byTag)
  const outside = await client(['TasksRead', 'LibrariesRead'], byLibrary)
  const free = await client(['TasksRead'])
  const neither = await all.createUser('reader')
  await sql`update api_key set permissions = '{BooksRead}' where account_id = ${neither.id}`
  const refused = await fetch(`${all.base}/api/v1/tasks/stream`, {
    headers: { 'x-api-key': neither.key },
  })
  t.equal(refused.status, 403)

  const task = (name: string, more: object = {}) => ({
    stream: 'task' as const,
    type: 'task_progress' as const,
    data: { task_type: name },
    ...more,
  })
  await publishProgress(sql, [
    task('maintenance'),
    task('scan', { libraryId: here }),
    task('secret', { libraryId: here, seriesId: secret, bookId: books[secret] }),
    task('plain', { libraryId: here, seriesId: plain }),
    task('batch', { libraryId: here, limited: null }),
    task('counted', { libraryId: here, limited: { task_type: 'uncounted' } }),
  ])
  await received(sql, [operator, reader, outside, free])
  const types = (client: SseClient) => client.events().map(event => event.data.taskType)
  t.same(types(free), ['maintenance', 'scan', 'secret', 'plain', 'batch', 'counted'])
  t.same(types(operator), ['maintenance', 'scan', 'plain', 'uncounted'])
  t.same(types(reader), ['scan', 'plain', 'uncounted'])
  t.same(types(outside), ['maintenance'])
})
