// Property tests of series lists and groups made from bitmaps: against lists by a plan and the oracle, while the
// catalog and what accounts read and rate change.
import { deepEqual, equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { unrestrictedViewer, type Viewer } from '../../lib/accounts/viewer.ts'
import { newId } from '../../lib/base/id.ts'
import { refreshSeriesReading } from '../../lib/catalog/derived/series-reading.ts'
import { type Condition, parseSeriesFilter } from '../../lib/list/condition.ts'
import { createListIndex } from '../../lib/list/index/list-index.ts'
import {
  createSeriesIndex,
  createSeriesSchema,
  type SeriesRequest,
} from '../../lib/list/index/series/series-index.ts'
import { countInitials } from '../../lib/list/index/series/series-segment.ts'
import { alphabeticalGroups, listSeries } from '../../lib/list/list-series.ts'
import { combineListChanges } from '../../lib/list/list-version.ts'
import { lists as listServices } from '../../lib/list/lists.ts'
import { type SeriesColumnSort, seriesSortColumns } from '../../lib/list/sort.ts'
import { connectionsLike, forRequests } from '../../lib/store/postgres/db.ts'
import { createServices } from '../../lib/store/services.ts'
import { createDatabase } from '../kit/db.ts'
import { makeFacts, storeFacts } from './catalog-facts.ts'
import { environmentOf } from './environment.ts'
import { createOracle, holds } from './oracle.ts'
import { seriesConditions, viewers } from './random-conditions.ts'

const { sql } = await createDatabase(t)
const facts = makeFacts(17, 70)
await storeFacts(sql, facts)
const [account] = facts.accounts as [string]
const everyone = unrestrictedViewer(account)
const { listed, testSeries, isVisibleSeries } = createOracle(facts, account)
const collectionId = newId()
await sql`insert into collection (id, name, name_key) values (${collectionId}, 'some', 'some')`
await sql`
  insert into collection_series (collection_id, series_id, position)
  select ${collectionId}, id, (row_number() over (order by id desc)) / 2 from series where id::text > '8'`
await sql`
  insert into external_reference (kind, series_id, source, rating)
  select 'rating', id, 'somewhere', position from collection_series join series on id = series_id`
// Series all of whose books are missing, or hidden from viewers with an age limit.
await sql`
  update book set missing_at = now() where series_id in (select id from series order by id limit 5)`
await sql`
  update series set missing_count = book_count, book_count = 0
  where id in (select id from series order by id limit 5)`
await sql`update series set lowest_age = 9 where id in (select id from series order by id desc limit 9)`
const pageSize = 17
const db = { sql, services: createServices(sql) }
// As the server has it.
const requests = forRequests(sql, { timeoutMs: 300_000 })
const environment = environmentOf(requests)
const seriesIndex = createSeriesIndex(environment, { pause: 0 })
// Its orders are read in the background, as in a large catalog.
const largeIndex = createListIndex(
  createSeriesSchema(environment, { maxRowsAtOnce: 1 }),
  environment,
  { pause: 0 },
)
t.teardown(() => requests.end())

type List = Omit<SeriesRequest, 'offset' | 'limit'>

/** By a plan: nothing is in memory of this pool. */
async function plainList(viewer: Viewer, list: List) {
  return await listSeries(db, viewer, { ...list, page: 1, pageSize: 10_000 })
}

async function plainGroups(viewer: Viewer, list: List) {
  return [...(await alphabeticalGroups(db, viewer, list))]
}

async function indexedGroups(viewer: Viewer, list: List, index = seriesIndex) {
  const found = await index.matching(requests, viewer, { ...list, offset: 0, limit: 0 })
  return found && countInitials(found.segment, found.docs)
}

/** Compares every page of an index. */
async function checkPages(viewer: Viewer, list: List, index = seriesIndex) {
  const expected = await plainList(viewer, list)
  for (let offset = 0; offset <= expected.total; offset += pageSize) {
    const request = { ...list, offset, limit: pageSize }
    let page = await index.page(requests, viewer, request)
    if (!page) {
      index.refresh(viewer, request)
      await index.idle()
      page = await seriesIndex.page(requests, viewer, request)
    }
    deepEqual(page?.ids, expected.ids.slice(offset, offset + pageSize))
    equal(page?.total, expected.total)
  }
  deepEqual(await indexedGroups(viewer, list, index), await plainGroups(viewer, list))
}

const columns = Object.keys(seriesSortColumns) as SeriesColumnSort[]
const others = [
  'position',
  'read',
  'rating',
  'communityRating',
  'externalRating',
  'random',
] as const
const directions = fc.constantFrom('asc' as const, 'desc' as const)
const inner = fc.constantFrom<Condition>(
  { field: 'isMissing', test: { kind: 'boolean', value: true }, negated: false },
  { field: 'collectionId', test: { kind: 'ids', ids: [collectionId] }, negated: true },
  { field: 'bookCount', test: { kind: 'compare', operator: '>', value: 2 }, negated: false },
  { field: 'text', test: { kind: 'text', operator: 'contains', value: 'o' }, negated: false },
  { field: 'inCollection', test: { kind: 'boolean', value: true }, negated: true },
)
const lists = fc
  .record({
    sort: fc.constantFrom<SeriesColumnSort>(...columns, ...others),
    direction: directions,
    further: fc.array(fc.record({ sort: fc.constantFrom(...columns), direction: directions }), {
      maxLength: 2,
    }),
    collectionId: fc.constant(collectionId),
    seed: fc.integer({ min: 0, max: 3 }),
    includeDeleted: fc.boolean(),
    onlyWithVisibleBooks: fc.boolean(),
    libraryId: fc.option(fc.constantFrom(...facts.libraries), { freq: 1, nil: undefined }),
    filter: fc
      .tuple(seriesConditions(facts), fc.option(inner, { freq: 2 }))
      .map(([condition, part]) => {
        const filter = parseSeriesFilter(condition, { isAdmin: true })!
        return part ? { ...filter, condition: { any: [part, filter.condition] } } : filter
      }),
  })
  .map(({ further: then, ...list }) => ({ ...list, then }))

t.test('every page has the series of the oracle, and the groups all of them', async () => {
  await fc.assert(
    fc.asyncProperty(lists, viewers(facts, account), async (list, viewer) => {
      await checkPages(viewer, list)
      await checkPages(viewer, list, largeIndex)
    }),
    { numRuns: 30, seed: 31 },
  )
  const present = await sql<{ id: string }[]>`select id from series where book_count > 0`
  const ids = new Set(present.map(row => row.id))
  await fc.assert(
    fc.asyncProperty(
      seriesConditions(facts),
      viewers(facts, account),
      async (condition, viewer) => {
        const filter = parseSeriesFilter(condition, { isAdmin: true })!
        const list = { filter, sort: 'title', direction: 'asc', offset: 0, limit: 1_000 } as const
        const page = await seriesIndex.page(requests, viewer, list)
        const expected = listed.filter(
          s =>
            ids.has(s.id) &&
            isVisibleSeries(viewer)(s) &&
            holds(filter.condition, testSeries(s, viewer)),
        )
        deepEqual([...page!.ids].sort(), expected.map(s => s.id).sort())
      },
    ),
    { numRuns: 25, seed: 32 },
  )
})

const changes = {
  rename: (id: string) => sql`update series set sort_key = 'm', year = 1993 where id = ${id}`,
  empty: (id: string) => sql`
    update series set missing_count = book_count, book_count = 0 where id = ${id} and book_count > 0`,
  hide: (id: string) => sql`update series set age_rating = 10, lowest_age = 11 where id = ${id}`,
  label: (id: string) => sql`
    insert into series_label as y (label_id, series_id, is_own)
    select id, ${id}, true from label where key = 'action'
    on conflict (label_id, series_id) do update set is_own = true`,
  rate: (id: string) => sql`
    insert into user_rating (id, account_id, series_id, rating)
    values (${newId()}, ${account}, ${id}, 77)
    on conflict (account_id, series_id) do update set rating = 100 - user_rating.rating % 50`,
  read: (id: string) => sql`
    insert into progress (account_id, book_id, current_page, is_completed)
    select ${account}, id, 3, true from book where series_id = ${id} order by id limit 1
    on conflict (account_id, book_id) do update set is_completed = not progress.is_completed`,
  collect: (id: string) => sql`
    insert into collection_series (collection_id, series_id, position)
    values (${collectionId}, ${id}, 3) on conflict do nothing`,
  combine: () => combineListChanges(sql, { olderThanMs: 0 }),
}

t.test('no page is of an earlier state after any change', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(lists, { minLength: 1, maxLength: 3 }),
      viewers(facts, account),
      fc.array(
        fc.tuple(
          fc.constantFrom(...(Object.keys(changes) as (keyof typeof changes)[])),
          fc.constantFrom(...facts.series.map(series => series.id)),
        ),
        { minLength: 1, maxLength: 3 },
      ),
      async (some, viewer, changed) => {
        const firstPage = { offset: 0, limit: 500 }
        for (const list of some) await checkPages(viewer, list)
        for (const [change, id] of changed) {
          await changes[change](id)
          await sql.begin(tx => refreshSeriesReading(tx, [id]))
          for (const list of some) {
            const page = await seriesIndex.page(requests, viewer, { ...list, ...firstPage })
            if (page) deepEqual(page, await plainList(viewer, list))
            const groups = await indexedGroups(viewer, list)
            if (groups) deepEqual(groups, await plainGroups(viewer, list))
          }
        }
        for (const list of some) await checkPages(viewer, list)
      },
    ),
    { numRuns: 15, seed: 33 },
  )
})

t.test('statements that change what a list depends on invalidate it', async t => {
  const pool = connectionsLike(sql, { max: 1, connection: {} })
  t.teardown(() => pool.end())
  const statements: string[] = []
  Object.assign(pool.options, { debug: (_: number, text: string) => statements.push(text) })
  const requestOf = (condition: object, sort: SeriesColumnSort): SeriesRequest => ({
    ...{ sort, direction: 'asc', offset: 0, limit: 10 },
    filter: parseSeriesFilter(condition)!,
  })
  const ofRows = requestOf({ year: { operator: 'gte', value: 0 } }, 'title')
  const ofAccount = requestOf({ readStatus: { operator: 'isNot', value: 'read' } }, 'read')
  const ofRatings = requestOf({ communityRating: { operator: 'gte', value: 1 } }, 'communityRating')
  /** How the list is made: of what is in memory, of ids that are read, or not by the index. */
  async function wayOf(request: SeriesRequest) {
    statements.length = 0
    const page = await seriesIndex.page(pool, everyone, request)
    if (!page) return 'none'
    return statements.some(text => text.includes('uuid_send')) ? 'read' : 'known'
  }
  async function read(request: SeriesRequest) {
    seriesIndex.refresh(everyone, request)
    await seriesIndex.idle()
    await seriesIndex.page(pool, everyone, request)
    t.equal(await wayOf(request), 'known')
  }
  const [series] = facts.series
  const id = series!.id
  const [book] = await sql<{ id: string }[]>`select id from book where series_id = ${id}`
  const own = sql`${newId()}, ${account}, ${id}`
  const tag = sql`(select id from sharing_tag order by id limit 1)`
  for (const change of [
    sql`update series set cover_book_id = null where id = ${id}`,
    sql`update series set book_count = book_count where id = ${id}`,
    sql`update label set name = name || '!'`,
    sql`delete from series_label where series_id = ${id}`,
    sql`
      insert into series_sharing_tag (series_id, tag_id) values (${id}, ${tag})
      on conflict (series_id, tag_id) do update set created_at = now()`,
    sql`delete from series_sharing_tag where series_id = ${id}`,
    sql`update sharing_tag set name = name || '!' where id = ${tag}`,
    sql`
      insert into external_reference (kind, series_id, source, external_id)
      values ('id', ${id}, 'elsewhere', '1')`,
    sql`update external_reference set external_id = '2' where source = 'elsewhere'`,
    sql`delete from external_reference where source = 'elsewhere'`,
  ]) {
    await read(ofRows)
    await change
    t.equal(await wayOf(ofRows), 'none')
  }
  await read(ofRows)
  await sql`delete from progress`
  for (const change of [
    sql`insert into progress (account_id, book_id, current_page) values (${account}, ${book!.id}, 1)`,
    sql`delete from series_reading where account_id = ${account}`,
    sql`
      insert into series_reading (account_id, series_id, read_count, started_count, opened_count, last_read_at)
      values (${account}, ${id}, 0, 1, 1, now())`,
    sql`update series_reading set read_count = 0 where account_id = ${account}`,
    sql`insert into want_to_read (id, account_id, series_id, position) values (${own}, 1)`,
    sql`delete from want_to_read`,
  ]) {
    await read(ofAccount)
    await change
    t.equal(await wayOf(ofAccount), 'read')
    t.equal(await wayOf(ofRows), 'known')
  }
  await sql`delete from user_rating`
  for (const change of [
    sql`insert into user_rating (id, account_id, series_id, rating) values (${own}, 50)`,
    sql`update user_rating set rating = 51`,
    sql`delete from user_rating`,
  ]) {
    await read(ofRatings)
    await change
    t.equal(await wayOf(ofRatings), 'read')
    t.equal(await wayOf(ofRows), 'known')
  }
  await read(ofRows)
  await sql`update book set page_count = page_count where id = ${book!.id}`
  t.equal(await wayOf(ofRows), 'known', 'changes of books alone do not')
})

t.test(
  'lists, searches and groups are made from a valid index, and by a statement once series have changed',
  async t => {
    const pool = connectionsLike(sql, { max: 1, connection: {} })
    t.teardown(() => pool.end())
    const statements: string[] = []
    Object.assign(pool.options, { debug: (_: number, text: string) => statements.push(text) })
    const filter = parseSeriesFilter({ year: { operator: 'gte', value: 0 } })!
    const list = { filter, sort: 'updated', direction: 'desc' } as const
    const pooled = { sql: pool, services: createServices(pool) }
    const { series: shared } = pooled.services(listServices)
    shared.refresh(everyone, { ...list, offset: 0, limit: 5 })
    await shared.idle()
    for (const isIndexed of [true, false]) {
      for (const request of [list, { ...list, text: 'o' }]) {
        const expected = await listSeries(db, everyone, { ...request, page: 1, pageSize: 1_000 })
        statements.length = 0
        const page = await listSeries(pooled, everyone, { ...request, page: 2, pageSize: 5 })
        t.same(page, { ...expected, ids: expected.ids.slice(5, 10) })
        const groups = await alphabeticalGroups(pooled, everyone, request)
        t.equal(!statements.some(text => text.includes('count(*)')), isIndexed)
        t.same([...groups], await plainGroups(everyone, request))
      }
      await sql`update series set year = year where id = ${facts.series[0]!.id}`
    }
  },
)
