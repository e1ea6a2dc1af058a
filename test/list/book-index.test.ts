// Property tests of filtered book lists made from bitmaps: against the oracle, and against a plain query
// while the catalog and what accounts read change.
import { deepEqual, equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { presentBook, unrestrictedViewer, type Viewer } from '../../lib/accounts/viewer.ts'
import { newId } from '../../lib/base/id.ts'
import { refreshSeriesReading } from '../../lib/catalog/derived/series-reading.ts'
import { parseBookFilter } from '../../lib/list/condition.ts'
import { type BookRequest, createBookIndex } from '../../lib/list/index/books/book-index.ts'
import { bytesPerBook } from '../../lib/list/index/books/book-segment.ts'
import { createSeriesIndex } from '../../lib/list/index/series/series-index.ts'
import { bytesPerSeries } from '../../lib/list/index/series-classes.ts'
import { listBooks } from '../../lib/list/list-books.ts'
import { combineListChanges } from '../../lib/list/list-version.ts'
import { lists as listServices, openLists } from '../../lib/list/lists.ts'
import { prepareLists } from '../../lib/list/prepare-lists.ts'
import { connectionsLike, forRequests } from '../../lib/store/postgres/db.ts'
import { createServices } from '../../lib/store/services.ts'
import { createDatabase } from '../kit/db.ts'
import { makeFacts, storeFacts } from './catalog-facts.ts'
import { environmentOf } from './environment.ts'
import { createOracle, holds } from './oracle.ts'
import { type List, plainList, sorts } from './plain-list.ts'
import { bookConditions, viewers } from './random-conditions.ts'

const { sql } = await createDatabase(t)
const facts = makeFacts(13, 40)
await storeFacts(sql, facts)
const [account] = facts.accounts as [string]
const { testBook, isVisibleBook } = createOracle(facts, account)
const pageSize = 23
// As the server has it.
const requests = forRequests(sql, { timeoutMs: 300_000 })
const index = createBookIndex(environmentOf(requests), { pause: 0 })
t.teardown(() => requests.end())

/** Compares every page of the index. */
async function checkPages(viewer: Viewer, list: List, expected: string[]) {
  for (let offset = 0; offset <= expected.length; offset += pageSize) {
    const request = { ...list, offset, limit: pageSize }
    let page = await index.page(requests, viewer, request)
    if (!page) {
      index.refresh(viewer, request)
      await index.idle()
      page = await index.page(requests, viewer, request)
    }
    deepEqual(page?.ids, expected.slice(offset, offset + pageSize))
    equal(page?.total, expected.length)
  }
}

const lists = fc.record({
  sort: fc.constantFrom(...sorts),
  direction: fc.constantFrom('asc', 'desc'),
  includeDeleted: fc.boolean(),
  libraryId: fc.option(fc.constantFrom(...facts.libraries), { freq: 1, nil: undefined }),
  filter: bookConditions(facts).map(condition => parseBookFilter(condition)!),
})

t.test('every page has the books of the oracle', async () => {
  await fc.assert(
    fc.asyncProperty(lists, viewers(facts, account), async (list, viewer) => {
      const expected = await plainList(sql, viewer, list)
      const listed = facts.books
        .filter(b => list.includeDeleted || !b.missing)
        .filter(b => list.libraryId === undefined || b.series.library === list.libraryId)
        .filter(isVisibleBook(viewer))
        .filter(b => holds(list.filter.condition, testBook(b)))
      deepEqual([...expected].sort(), listed.map(b => b.id).sort())
      await checkPages(viewer, list, expected)
    }),
    { numRuns: 25, seed: 21 },
  )
})

t.test('an order of all books is read in the background, not by a list', async t => {
  const own = createBookIndex(environmentOf(requests), { pause: 0 })
  const everyone = unrestrictedViewer(account)
  const window = { direction: 'asc', includeDeleted: false, offset: 0, limit: 500 } as const
  const filter = parseBookFilter({ pageCount: { operator: 'gte', value: 0 } })!
  const expected = await plainList(sql, everyone, { ...window, filter, sort: 'title' })
  // Orders of columns are read ahead; that of paths is read for a list.
  for (const sort of ['title', 'path'] as const) {
    const list = { ...window, sort, filter }
    t.notOk(await own.page(requests, everyone, list), sort)
    own.refresh(everyone, list)
    await own.idle()
    const page = await own.page(requests, everyone, list)
    t.same(page?.ids.toSorted(), expected.toSorted(), sort)
  }
})

const changes = {
  hide: (id: string) => sql`update book set missing_at = now() where id = ${id}`,
  show: (id: string) => sql`update book set missing_at = null where id = ${id}`,
  move: (id: string) => sql`
    update book set sort_key = 'm', number_sort = null, size = size + 7, page_count = 12,
      age_rating = 12, format = 'epub' where id = ${id}`,
  rename: (id: string) => sql`
    update directory set path = path || '-1'::bytea
    where id = (select directory_id from book where id = ${id}) and path <> ''`,
  label: (id: string) => sql`
    insert into series_label as y (label_id, series_id, is_own)
    select l.id, b.series_id, true from label l, book b where l.key = 'action' and b.id = ${id}
    on conflict (label_id, series_id) do update set is_own = true`,
  read: (id: string) => sql`
    insert into progress (account_id, book_id, current_page, is_completed)
    values (${account}, ${id}, 3, true)
    on conflict (account_id, book_id) do update set is_completed = not progress.is_completed`,
  forget: (id: string) => sql`delete from progress where book_id = ${id}`,
  combine: () => combineListChanges(sql, { olderThanMs: 0 }),
}

/** What the writers of books and progress derive. */
async function derive(bookId: string) {
  const [row] = await sql<{ id: string }[]>`
    update series s set book_count = (
      select count(*) from book b where b.series_id = s.id and ${presentBook(sql)})
    where id = (select series_id from book where id = ${bookId})
    returning id`
  await sql.begin(tx => refreshSeriesReading(tx, [row!.id]))
}

t.test('no page is of an earlier state after any change', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(lists, { minLength: 1, maxLength: 3 }),
      viewers(facts, account),
      fc.array(
        fc.tuple(
          fc.constantFrom(...(Object.keys(changes) as (keyof typeof changes)[])),
          fc.constantFrom(...facts.books.map(book => book.id)),
        ),
        { minLength: 1, maxLength: 3 },
      ),
      async (some, viewer, changed) => {
        const firstPage = { offset: 0, limit: 500 }
        for (const list of some) await checkPages(viewer, list, await plainList(sql, viewer, list))
        for (const [change, id] of changed) {
          await changes[change](id)
          for (const list of some) {
            const page = await index.page(requests, viewer, { ...list, ...firstPage })
            const now = await plainList(sql, viewer, list)
            if (page) deepEqual(page, { ids: now, total: now.length })
            // Read from the counters of before: not to be used when these are derived.
            index.refresh(viewer, { ...list, ...firstPage })
          }
          await index.idle()
          await derive(id)
        }
        for (const list of some) await checkPages(viewer, list, await plainList(sql, viewer, list))
      },
    ),
    { numRuns: 15, seed: 22 },
  )
})

t.test('statements that change what a list depends on change what is in memory', async t => {
  const book = facts.books.find(({ series }) =>
    facts.ratings.every(rating => rating.account !== account || rating.series !== series),
  )
  const pool = connectionsLike(sql, { max: 1, connection: {} })
  t.teardown(() => pool.end())
  const statements: string[] = []
  Object.assign(pool.options, { debug: (_: number, text: string) => statements.push(text) })
  const index = createBookIndex(environmentOf(pool), { pause: 0 })
  const viewer = unrestrictedViewer(account)
  const requestOf = (condition: object): BookRequest => ({
    ...{ sort: 'title', direction: 'asc', offset: 0, limit: 10 },
    filter: parseBookFilter(condition)!,
  })
  const ofCatalog = requestOf({ pageCount: { operator: 'gte', value: 0 } })
  const ofAccount = requestOf({ readStatus: { operator: 'isNot', value: 'read' } })
  /** How the list is made: of what is in memory, of ids that are read, or not by the index. */
  async function wayOf(request: BookRequest) {
    statements.length = 0
    const page = await index.page(pool, viewer, request)
    if (!page) return 'none'
    return statements.some(text => text.includes('uuid_send')) ? 'read' : 'known'
  }
  async function read(request: BookRequest) {
    index.refresh(viewer, request)
    await index.idle()
    await index.page(pool, viewer, request)
    t.equal(await wayOf(request), 'known')
  }
  const series = sql`(select series_id from book where id = ${book!.id})`
  const own = sql`${newId()}, ${account}, ${series}`
  // Changed books are read, unless any may have changed.
  for (const [way, change] of [
    ['read', sql`update book set page_count = page_count where id = ${book!.id}`],
    ['known', sql`update book set page_count = 1 where false`],
    ['known', sql`update series set book_count = book_count + 1 where id = ${series}`],
    ['known', sql`update directory set path = path`],
    ['read', sql`update series set sort_key = sort_key || 'a' where id = ${series}`],
    ['none', sql`update directory set path = path || 'a'`],
    ['read', sql`update label set name = name || '!'`],
    ['read', sql`update book_search set text = text || 'a' where book_id = ${book!.id}`],
    ['read', sql`delete from series_label where series_id = ${series}`],
  ] as const) {
    await read(ofCatalog)
    await change
    t.equal(await wayOf(ofCatalog), way)
    if (way === 'read') t.equal(await wayOf(ofCatalog), 'known')
  }
  await read(ofCatalog)
  await sql`delete from progress`
  for (const change of [
    sql`insert into progress (account_id, book_id, current_page) values (${account}, ${book!.id}, 1)`,
    sql`update progress set current_page = 2`,
    sql`delete from progress`,
    sql`delete from series_reading where account_id = ${account}`,
    sql`
      insert into series_reading (account_id, series_id, read_count, started_count, opened_count, last_read_at)
      values (${account}, ${series}, 0, 1, 1, now())`,
    sql`update series_reading set read_count = 0 where account_id = ${account}`,
    sql`insert into want_to_read (id, account_id, series_id, position) values (${own}, 1)`,
    sql`update want_to_read set position = 2`,
    sql`delete from want_to_read`,
    sql`insert into user_rating (id, account_id, series_id, rating) values (${own}, 50)`,
    sql`update user_rating set rating = 51`,
    sql`delete from user_rating`,
  ]) {
    await read(ofAccount)
    await change
    t.equal(await wayOf(ofAccount), 'read')
    t.equal(await wayOf(ofCatalog), 'known')
  }
  const [, other] = facts.accounts
  await read(ofAccount)
  await sql`insert into progress (account_id, book_id, current_page) values (${other!}, ${book!.id}, 1)`
  t.equal(await wayOf(ofAccount), 'known')
})

t.test(
  'lists are made from the index, and by a statement once any book may have changed',
  async t => {
    const pool = connectionsLike(sql, { max: 1, connection: {} })
    t.teardown(() => pool.end())
    const statements: string[] = []
    Object.assign(pool.options, { debug: (_: number, text: string) => statements.push(text) })
    const filter = parseBookFilter({ pageCount: { operator: 'gte', value: 0 } })!
    const viewer = unrestrictedViewer(account)
    const pooled = { sql: pool, services: createServices(pool) }
    const { books: shared } = pooled.services(listServices)
    shared.refresh(viewer, { filter, sort: 'title', direction: 'desc', offset: 0, limit: 5 })
    await shared.idle()
    for (const [isIndexed, change] of [
      [true, sql`update book set page_count = page_count where id = ${facts.books[0]!.id}`],
      [true, sql`update directory set path = path || 'b'`],
      [false, sql`select`],
    ] as const) {
      statements.length = 0
      const list = { filter, sort: 'title', direction: 'desc' } as const
      const { ids, total } = await listBooks(pooled, viewer, { ...list, page: 2, pageSize: 5 })
      t.equal(!statements.some(text => text.includes('count(*)::float8')), isIndexed)
      const expected = await plainList(sql, viewer, list)
      t.same(ids, expected.slice(5, 10))
      t.equal(total, expected.length)
      statements.length = 0
      const all = { filter: null, sort: 'title', direction: 'desc', includeDeleted: true } as const
      const page = await listBooks(pooled, viewer, { ...all, page: 2, pageSize: 5 })
      t.equal(!statements.some(text => text.includes('order by')), isIndexed)
      const rows = await sql<{ id: string }[]>`select id from book order by sort_key desc, id desc`
      t.same(
        page.ids,
        rows.slice(5, 10).map(row => row.id),
      )
      await change
    }
  },
)

t.test('a catalog that needs more memory than the index may take has none', async t => {
  const request = { filter: null, sort: 'title', direction: 'asc', offset: 0, limit: 5 } as const
  const everyone = unrestrictedViewer(account)
  const [size] = await sql<{ books: number; series: number }[]>`
    select (select count(*)::float8 from book where missing_at is not null) + sum(book_count) as books,
      sum(series_count)::float8 as series
    from library`
  const { books, series } = size!
  const needed = books * bytesPerBook + series * bytesPerSeries
  for (const [maxBytes, isMade] of [
    [needed, true],
    [needed - 1, false],
    [0, false],
  ] as const) {
    const limited = createBookIndex(environmentOf(requests, { maxBytes }), { pause: 0 })
    limited.refresh(everyone, request)
    await limited.idle()
    t.equal((await limited.page(requests, everyone, request)) !== null, isMade)
    const seriesIndex = createSeriesIndex(environmentOf(requests, { maxBytes }), { pause: 0 })
    seriesIndex.refresh(everyone, request)
    await seriesIndex.idle()
    const page = await seriesIndex.page(requests, everyone, request)
    t.equal(page !== null, maxBytes >= series * bytesPerSeries)
  }
  const opened = [[listServices, openLists(sql, { indexMb: 0 })]] as const
  const noIndex = { sql, services: createServices(sql, opened) }
  await prepareLists(noIndex)
  const { ids } = await listBooks(noIndex, everyone, { filter: null, page: 1, pageSize: 5 })
  t.equal(ids.length, 5)
  t.notOk(noIndex.services(listServices).books.isRead(), 'lists are made by the statement')
})
