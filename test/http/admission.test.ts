// Admission of routes: reads of more than a few rows of the catalog wait for the account's turn and are
// cancelled with the client; all routes, by the rows that their statements read.
import { test } from 'tap'
import { openApi } from '../../lib/api/open.ts'
import { resources } from '../../lib/api/resources.ts'
import { newId } from '../../lib/base/id.ts'
import { openLog } from '../../lib/base/log.ts'
import { costOf, endpoints, type Route } from '../../lib/http/route.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import { comicFiles, createTestLibrary } from '../kit/library.ts'
import { waitUntil } from '../kit/processes.ts'
import { startApi, startApiWithoutPipeline, type TestApi } from '../kit/server.ts'

const seriesCount = 40
/** Limit per table; a record may have a few rows of labels, authors and covers. */
const maxRows = 20

// Background statements of the server, on events and types, are counted by no route.
const catalogTables = /^(?:book|series|label|library|directory|progress|duplicate|external)/

/** Routes that read more rows outside the gate, by name. */
const exceptions: Record<string, string> = {
  getLibraryThumbnail: 'tries the covers of a limited number of series',
}

const isGet = ({ method }: Route) => method === 'GET'
const isStream = ({ path }: Route) => path.endsWith('/stream')
const unadmitted = resources.filter(
  route => costOf(route) === 'record' && isGet(route) && route.permission !== 'public',
)

test('routes outside the gate read a bounded number of rows', async t => {
  const { base, sql, statements, key, ids } = await openCatalog(t)
  const rowsOf = async (routes: readonly Route[]) => {
    const most: Record<string, number> = {}
    for (const route of routes) {
      statements.length = 0
      const { method, path } = endpoints(route)[0]!
      const response = await fetch(base + filled(path, ids), {
        method,
        headers: { 'x-api-key': key, 'content-type': 'application/json' },
        ...(method === 'POST' ? { body: '{}' } : {}),
      })
      await response.body?.cancel()
      const counts = await Promise.all(
        statements.splice(0).map(statement => rowsRead(sql, statement)),
      )
      most[route.operationId] = Math.max(0, ...counts)
    }
    return most
  }
  const found = await rowsOf(unadmitted.filter(route => !isStream(route)))
  const many = Object.entries(found).filter(([, rows]) => rows > maxRows)
  t.same(
    many.filter(([name]) => !(name in exceptions)),
    [],
  )
  t.same(
    Object.keys(exceptions).filter(name => !many.some(([other]) => other === name)),
    [],
    'no exception is superfluous',
  )
  const names = ['listSeriesAlphabeticalGroups', 'getOpds1SeriesFeed', 'filterBooks']
  const lists = resources.filter(({ operationId }) => names.includes(operationId))
  for (const [name, rows] of Object.entries(await rowsOf(lists)))
    t.ok(rows > maxRows, `${name} reads ${rows} rows`)
})

test('a read is admitted by default', t => {
  const route = (more: object) =>
    ({ operationId: 'x', method: 'GET', path: '/x', permission: 'SeriesRead', ...more }) as Route
  t.equal(costOf(route({})), 'list')
  t.equal(costOf(route({ path: '/x/{id}/parts' })), 'list')
  t.equal(costOf(route({ method: 'POST' })), 'list')
  t.equal(costOf(route({ method: 'POST', permission: { any: ['BooksRead'] } })), 'list')
  t.equal(costOf(route({ path: '/x/{id}' })), 'record')
  t.equal(costOf(route({ method: 'POST', permission: 'SeriesWrite' })), 'record')
  t.equal(costOf(route({ permission: 'auth' })), 'record')
  // Each has a reason beside it.
  t.same(
    resources.filter(({ cost }) => cost === 'record').map(({ operationId }) => operationId),
    [
      ...['getPageText', 'searchBookText', 'getBookContents'],
      'downloadBook',
      'listPreferences',
      'getBookReadHistory',
      'exportReading',
      'listAlternateTitles',
      'getAverageSeriesRating',
      'listFilterPresets',
      'getSeriesSearchTitle',
      'listSeriesMatches',
      'listBookMatches',
      'getMatchingSettings',
      'browseFilesystem',
      'listDrives',
      'listSourceTypes',
      'streamEvents',
      'streamTasks',
      'streamScans',
      'downloadOpds1Book',
      'downloadOpds2Book',
    ],
  )
  t.end()
})

test('every list is cancelled with its client, and the cached settings stay', async t => {
  // A pipeline would wait for the locks, too.
  const all = await startApiWithoutPipeline(t)
  const reader = await all.createUser('reader')
  // Their cache listens on a connection of its own, once for a pool.
  t.equal((await reader.get('/series')).status, 200)
  const feed = () => fetch(`${all.base}/opds/v2/series`, { headers: { 'x-api-key': reader.key } })
  for (let i = 0; i < 3; i++) t.equal((await feed()).status, 200)
  const [listening] = await all.sql<{ count: number }[]>`
    select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and query = 'listen "setting"'`
  t.ok(listening!.count <= 2, `${listening!.count} connections listen`)
  const lock = await all.sql.reserve()
  t.teardown(() => lock.release())
  await lock`begin`
  await lock`lock table series, book, label in access exclusive mode`
  const parts = Array.from({ length: 40 }, (_, i) => ({
    name: { operator: 'contains', value: `${i}` },
  }))
  const lists = [
    { path: '/api/v1/series/list/alphabetical-groups', body: { condition: { anyOf: parts } } },
    { path: '/api/v1/series/list/alphabetical-groups', body: {} },
    ...['/opds/v1/publishers', '/opds/v2/series?search=lo', '/opds/v2/search?query=lo'],
    ...['/api/v1/genres', '/api/v1/duplicates/series', '/api/v1/books/errors'],
  ].map(list => (typeof list === 'string' ? { path: list, body: undefined } : list))
  for (const { path, body } of lists) {
    const client = new AbortController()
    const requests = Array.from({ length: 8 }, () =>
      fetch(all.base + path, {
        signal: client.signal,
        headers: { 'x-api-key': reader.key, 'content-type': 'application/json' },
        ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
      }).catch(() => null),
    )
    const isExpensive = body?.condition !== undefined
    t.ok(await until(all.sql, count => count > 0), `${path} waits for a lock`)
    // Eight requests with at most three statements at once each.
    t.ok((await blocked(all.sql)) <= (isExpensive ? 1 : 4) * 3, `${path} is admitted`)
    client.abort()
    await Promise.all(requests)
    t.ok(await until(all.sql, count => count === 0), `${path} ends while the tables are locked`)
  }
  await lock`rollback`
})

type Statement = { text: string; parameters: unknown[] }

/** A series of many books, and many series; the statements that requests send. */
async function openCatalog(t: Parameters<typeof startApi>[0]) {
  const all = await startApi(t)
  const many = Object.fromEntries(
    Object.values(comicFiles(seriesCount)).map((bytes, i) => [`Series ${i}/1.cbz`, bytes]),
  )
  const library = await createTestLibrary(t, all, { ...many, ...comicFiles(seriesCount) })
  await library.scan()
  // Plans must not depend on when the database does it.
  await all.sql`analyze`
  const statements: Statement[] = []
  const debug = (_connection: number, text: string, parameters: unknown[]) =>
    void statements.push({ text, parameters: [...parameters] })
  const { sql, queue, config } = { ...all, queue: all.pipeline.queue }
  Object.assign(sql.options, { debug })
  const api = await openApi({ sql, queue, config, log: openLog({ level: 'error' }) })
  t.teardown(api.close)
  Object.assign(sql.options, { debug: undefined })
  const base = await api.server.listen({ host: '127.0.0.1', port: 0 })
  const { key } = await all.createUser('admin')
  return { base, sql, statements, key, ids: await idsOf(all, library.id) }
}

async function idsOf({ sql }: Pick<TestApi, 'sql'>, libraryId: string) {
  const [row] = await sql<{ id: string; seriesId: string }[]>`
    select b.id, b.series_id as "seriesId" from book b join series s on s.id = b.series_id
    where s.name = 'Row' limit 1`
  return { books: row!.id, series: row!.seriesId, libraries: libraryId }
}

const filled = (path: string, ids: Record<string, string>) =>
  path
    .replace(/\b(books|series|libraries)\/\{(?:id|book_id)\}/, (_, kind) => `${kind}/${ids[kind]}`)
    .replace(/\{page\w*\}/, '1')
    .replace(/\{[\w*]+\}/g, () => newId())

type Plan = {
  Plans?: Plan[]
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
}

/** Rows of one table of the catalog that a statement reads. Small tables would be read whole otherwise. */
async function rowsRead(sql: Sql, { text, parameters }: Statement): Promise<number> {
  if (!/^\s*(?:select|with)\b/i.test(text)) return 0
  return await sql.begin(async tx => {
    for (const name of ['seqscan', 'hashjoin', 'mergejoin'])
      await tx.unsafe(`set local enable_${name} = off`)
    // Reading 40 rows costs less than ten look-ups by index, of which the versions of PostgreSQL choose one or the other.
    await tx`set local cpu_tuple_cost = 1`
    const [row] = await tx.unsafe(`explain (analyze, format json) ${text}`, parameters as never[])
    const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)]
    const counts = nodes(row!['QUERY PLAN'][0].Plan)
      .filter(node => catalogTables.test(node['Relation Name'] ?? ''))
      .map(
        node =>
          (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
      )
    return Math.max(0, ...counts)
  })
}

async function until(sql: Sql, isReached: (count: number) => boolean) {
  await waitUntil(async () => isReached(await blocked(sql)))
  return true
}

async function blocked(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::integer as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  return row!.count
}
