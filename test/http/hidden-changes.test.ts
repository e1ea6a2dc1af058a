// Non-interference: however hidden books change, no response to a restricted account changes, neither
// in a list, a count, an order nor a statistic, and no event or task of it is delivered.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, test } from 'tap'
import { resources } from '../../lib/api/resources.ts'
import { newId } from '../../lib/base/id.ts'
import { refreshScanned } from '../../lib/catalog/derived/refresh.ts'
import { refreshBookSearch } from '../../lib/catalog/derived/search-rows.ts'
import { publishScan } from '../../lib/catalog/scan/scan-events.ts'
import { openapiDocument } from '../../lib/http/openapi/openapi.ts'
import type { JobName, Jobs } from '../../lib/store/queue/jobs.ts'
import { createFixture, type Fixture } from '../kit/fixture.ts'
import { readBody } from '../kit/http/body.ts'
import { type Operation, operationsOf } from '../kit/http/operation.ts'
import { openSseClient } from '../kit/http/sse.ts'

type Rule = (w: Fixture, accountId: string) => Promise<unknown>
type Hidden = { id: string; seriesId: string; libraryId: string }
type Request = { name: string; path: string; body?: string }
type Viewer = Awaited<ReturnType<Fixture['createUser']>>

const operations = operationsOf(openapiDocument(resources, '1') as never)
// For each rule; all look up records in the same way.
const idsPerPath = [0, 2, 1]
const later = { afterSeconds: 3600 }

const rules: Record<string, Rule> = {
  'by a denied tag': (w, id) =>
    w.admin.put(`/users/${id}/sharing-tags`, { sharingTagId: w.secretTag, accessMode: 'deny' }),
  'by age, of series and of single books': (w, id) => w.admin.put(`/users/${id}`, { ageLimit: 10 }),
  'by library': (w, id) => w.admin.put(`/users/${id}`, { libraryIds: [w.libraries[0]!.id] }),
}

test('changes of hidden books change nothing for a restricted account', async t => {
  const w = await createFixture(t, { libraryCount: 2 })
  await w.sql`update series set age_rating = 18 where name = 'Hidden'`
  await jobsDone(w)
  for (const [part, [name, restrict]] of Object.entries(rules).entries()) {
    await t.test(name, async t => {
      const viewer = await w.createUser('maintainer', { permissions: ['UsersRead'] })
      await restrict(w, viewer.id)
      const hidden = await hiddenBooks(w, viewer)
      t.ok(hidden.length > 0, `${hidden.length} hidden books`)
      const streams = await openStreams(t, w, viewer)
      const requested = requestsOf(w, part)
      const first = await snapshot(w, viewer, requested)
      const jobs = await changeHidden(w, hidden, viewer)
      const after = await snapshot(w, viewer, requested)
      const changing = requested.filter(
        ({ name }) => differences(first.get(name), after.get(name)).length > 0,
      )
      // Values that change by themselves, such as times, change again.
      const again = await snapshot(w, viewer, changing)

      t.ok(first.size > 120, `${first.size} responses`)
      const changed = changing.flatMap(({ name }) => {
        const unstable = differences(after.get(name), again.get(name))
        return differences(first.get(name), after.get(name))
          .filter(path => !unstable.includes(path))
          .map(path => `${name} ${path}`)
      })
      t.same(changed, [])
      for (const id of jobs)
        for (const [method, path] of [
          ['GET', `/tasks/${id}`],
          ['POST', `/tasks/${id}/cancel`],
          ['POST', `/tasks/${id}/retry`],
        ] as const)
          t.equal((await viewer.request(method, path)).status, 404, `${method} ${path}`)
      await w.sql`
        update pgboss.job set state = 'completed', completed_on = now() - interval '1 day'
        where id = any(${jobs})`
      t.equal((await viewer.delete('/tasks/purge?days=0')).status, 200)
      const left = await w.sql`select id from pgboss.job where id = any(${jobs})`
      t.equal(left.length, jobs.length, 'tasks about hidden books are not purged')
      const limited = name !== 'by library'
      await checkStreams(t, streams, { hidden, jobs, limited })
    })
  }
})

/** The present and missing books that the account cannot read. */
async function hiddenBooks(w: Fixture, viewer: Viewer): Promise<Hidden[]> {
  const books = await w.sql<Hidden[]>`
    select id, series_id as "seriesId", library_id as "libraryId" from book order by id`
  const statuses = await Promise.all(books.map(book => viewer.get(`/books/${book.id}`)))
  return books.filter((_, i) => statuses[i]!.status === 404)
}

/** The jobs of the fixture are tasks, which change until they end. */
async function jobsDone({ sql }: Fixture) {
  const pending = () => sql`
    select from pgboss.job
    where state = 'active' or state in ('created', 'retry') and start_after < now() + interval '1 minute'`
  while ((await pending()).length > 0) await sleep(50)
}

/** Every GET of the API, every sort order in one of the parts, and the filtered lists. */
function requestsOf(w: Fixture, part: number): Request[] {
  const documents = operations.filter(o => o.method === 'GET' && isDocument(o))
  const filtered = ['/books/list', '/series/list'].flatMap(list =>
    conditions.map(condition => ({
      name: `POST ${list} ${JSON.stringify(condition)}`,
      path: `/api/v1${list}?pageSize=500`,
      body: JSON.stringify({ condition }),
    })),
  )
  const read = documents.flatMap(operation => paths(w, operation, part))
  return [...read.map(path => ({ name: `GET ${path}`, path })), ...filtered]
}

/** Responses by name of the request. */
async function snapshot(
  w: Fixture,
  viewer: Viewer,
  requests: Request[],
): Promise<Map<string, unknown>> {
  const responses = new Map<string, unknown>()
  for (const { name, path, body } of requests) {
    const headers = { 'x-api-key': viewer.key, 'accept-encoding': 'identity' }
    const response = await fetch(
      w.base + path,
      body
        ? { method: 'POST', body, headers: { ...headers, 'content-type': 'application/json' } }
        : { headers },
    )
    const bytes = await readBody(response)
    const isJson = response.headers.get('content-type')?.includes('json')
    const value = isJson ? JSON.parse(String(bytes)) : bytes.toString('latin1')
    responses.set(name, { status: response.status, value })
  }
  return responses
}

const conditions = [
  undefined,
  ...['unread', 'in_progress', 'read'].map(value => ({ readStatus: { operator: 'is', value } })),
  { genre: { operator: 'is', value: 'Drama' } },
  { genre: { operator: 'isNull' } },
  { tag: { operator: 'contains', value: 'o' } },
  { completion: { operator: 'isTrue' } },
  { title: { operator: 'contains', value: 'e' } },
]

/** Whether its response is a document, not an image or a file. */
const isDocument = ({ responses }: Operation) =>
  Object.keys(responses['200']?.content ?? {}).every(type => /json|xml/.test(type))

/** The path with existing values of its first parameter, and with a part of the sort orders. */
function paths(w: Fixture, { path, parameters }: Operation, part: number): string[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1]!)
  const [first] = names
  const fill = (value: string | undefined) =>
    path.replace(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(name === first ? value! : (w.ids(path, name)[0] ?? newId())),
    )
  const values = first ? w.ids(path, first).slice(0, idsPerPath[part]) : [undefined]
  const orders = (parameters.find(p => p.name === 'sort')?.schema.enum ?? []) as string[]
  const isPaged = parameters.some(p => p.name === 'pageSize')
  return values.flatMap(value => {
    const filled = `${fill(value)}${isPaged ? '?pageSize=100' : ''}`
    // The long form lists the same.
    const sorted =
      first || path.endsWith('/full') ? [] : orders.filter(order => order.includes(','))
    const inPart = sorted.filter((_, i) => i % Object.keys(rules).length === part)
    return [filled, ...inPart.map(order => `${filled}&sort=${order}`)]
  })
}

/** Paths of the values in which two responses differ. */
function differences(one: unknown, other: unknown): string[] {
  const [first, second] = [flatten(one), flatten(other)]
  const names = new Set([...first.keys(), ...second.keys()])
  return [...names].filter(name => first.get(name) !== second.get(name))
}

function flatten(value: unknown): Map<string, unknown> {
  const found = new Map<string, unknown>()
  const visit = (part: unknown, path: string) => {
    if (typeof part !== 'object' || part === null) found.set(path, part)
    // The use of a key is recorded some seconds later.
    else
      for (const [key, inner] of Object.entries(part))
        if (key !== 'lastUsedAt') visit(inner, `${path}.${key}`)
  }
  visit(value, '')
  return found
}

/** More hidden books, labels, errors, progress, scan counters, duplicates and jobs. Returns the ids of the jobs. */
async function changeHidden(w: Fixture, hidden: Hidden[], viewer: Viewer): Promise<string[]> {
  const { sql } = w
  const ids = hidden.map(book => book.id)
  const columns = await sql<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_name = 'book' and table_schema = 'public' and is_generated = 'NEVER'`
  const names = columns.map(column => column.name)
  const copies = await sql<Hidden[]>`
    insert into book (${sql(names)})
    select ${names.map(name => sql`r.${sql(name)}`).reduce((a, b) => sql`${a}, ${b}`)}
    from book b
    cross join generate_series(1, 3) n
    cross join jsonb_populate_record(b, jsonb_build_object(
      'id', gen_random_uuid(), 'name', convert_to(gen_random_uuid() || '.cbz', 'utf8'),
      'size', b.size + n, 'page_count', b.page_count + n, 'error_code', 'bad_crc',
      'genres', array['Western', 'Drama'], 'created_at', now())) r
    where b.id = any(${ids})
    returning id, series_id as "seriesId", library_id as "libraryId"`
  const all = [...hidden, ...copies]
  const seriesIds = [...new Set(all.map(book => book.seriesId))]
  await sql`
    insert into book_artifact (book_id, sha256)
    select id, sha256('same') from unnest(${copies.map(book => book.id)}::uuid[]) as id`
  await sql.begin(async tx => {
    await tx`
      insert into progress (account_id, book_id, current_page, is_completed, completed_at)
      select ${viewer.id}, id, 1, true, now() from unnest(${copies.map(b => b.id)}::uuid[]) as id`
    await recount(tx as never)
    await refreshBookSearch(
      tx,
      copies.map(book => book.id),
    )
    await refreshScanned(tx, seriesIds)
  })
  const libraryIds = [...new Set(hidden.map(book => book.libraryId))]
  await w.dedupe()
  await sql`
    update scan set found = found + 13, added = added + 11, changed = changed + 3, moved = moved + 2,
      missing = missing + 5, restored = restored + 1, series_added = series_added + 4,
      bytes_read = bytes_read + 12345, to_index = to_index + 11, failed = '{"bad_crc": 7}'
    where library_id = any(${libraryIds})`
  await sql`
    update book set scan_id = (
      select id from scan n where n.library_id = book.library_id order by created_at desc limit 1)
    where id = any(${copies.map(book => book.id)})`
  const scans = await sql<{ id: string }[]>`
    select id from scan where library_id = any(${libraryIds})`
  for (const { id } of scans) await publishScan(sql, id, { force: true })
  return await enqueueJobs(w, all, viewer)
}

const recount = (sql: Fixture['sql']) => sql`
  with counted as (
    update series s
    set book_count = n.books, page_count = n.pages, size = n.size
    from (
      select series_id, count(*) as books, sum(page_count) as pages, sum(size) as size
      from book where missing_at is null group by 1) n
    where s.id = n.series_id
    returning s.library_id, s.book_count, s.page_count, s.size
  )
  update library l
  set book_count = n.books, page_count = n.pages, size = n.size
  from (
    select library_id, sum(book_count) as books, sum(page_count) as pages, sum(size) as size
    from counted group by 1) n
  where l.id = n.library_id`

/** A job of every kind about hidden books, and about a hidden library where there is one. */
async function enqueueJobs(w: Fixture, hidden: Hidden[], viewer: Viewer) {
  const { sql, pipeline } = w
  const [book, other] = hidden
  const { libraryId, id: bookId } = book!
  const scan = { scanId: newId(), libraryId }
  const send = <N extends JobName>(name: N, job: Jobs[N]) =>
    pipeline.queue.send(sql, name, [job], { ...later, key: newId() })
  const statuses = await Promise.all(hidden.map(one => viewer.get(`/series/${one.seriesId}`)))
  const hiddenSeries = hidden.find((_, i) => statuses[i]!.status === 404)!
  const ids = [
    await send('coverOnDemand', { libraryId, bookId }),
    await send('cover', { ...scan, ids: [bookId] }),
    await send('hash', { ...scan, ids: [bookId, other!.id] }),
    await send('index', { ...scan, ids: [newId()] }),
    await send('analyze', { ...scan, bookId }),
    await send('analyze', { ...scan, ...hiddenSeries, bookId: undefined! }),
  ]
  const library = w.libraries.map(({ id }) => id).find(id => hidden.every(b => b.libraryId === id))
  if (library !== undefined) {
    ids.push(await send('scan', { scanId: newId(), libraryId: library }))
    ids.push(await send('purge', { libraryId: library }))
    ids.push(await send('dedupe', { libraryId: library }))
  }
  return ids.flat()
}

async function openStreams(t: Test, { base }: Fixture, { key }: Viewer) {
  const headers = { 'x-api-key': key }
  const open = (path: string) => openSseClient(t, base, { path, headers })
  return await Promise.all(['/events/stream', '/tasks/stream', '/scans/stream'].map(open))
}

/** Streams have the scans of visible libraries only, and these without counts. */
async function checkStreams(
  t: Test,
  streams: Awaited<ReturnType<typeof openStreams>>,
  { hidden, jobs, limited }: { hidden: Hidden[]; jobs: string[]; limited: boolean },
) {
  for (const stream of streams) {
    await stream.waitForQuiet(100)
    t.same(
      [...jobs, ...hidden.map(book => book.id)].filter(id => stream.text.includes(id)),
      [],
      'no hidden ids',
    )
    const counts = stream
      .events()
      .flatMap(({ data }) =>
        [...flatten(data)].filter(([, value]) => typeof value === 'number' && value > 0),
      )
    if (limited) t.same(counts, [], 'no counts')
  }
}
