// Property tests of book lists from memory while books and series are added, changed, moved and deleted: every list is
// that of a plain query, without reading the books again.
import { deepEqual, equal } from 'node:assert/strict'
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { presentBook, unrestrictedViewer, type Viewer } from '../../lib/accounts/viewer.ts'
import { newId } from '../../lib/base/id.ts'
import { refreshAuthorKeys } from '../../lib/catalog/derived/author-key.ts'
import { refreshLabels } from '../../lib/catalog/derived/labels.ts'
import { refreshBookSearch } from '../../lib/catalog/derived/search-rows.ts'
import { refreshSeriesReading } from '../../lib/catalog/derived/series-reading.ts'
import { deleteLabel } from '../../lib/catalog/label/label-delete.ts'
import { parseBookFilter } from '../../lib/list/condition.ts'
import {
  type BookRequest,
  createBookIndex,
  createBookSchema,
} from '../../lib/list/index/books/book-index.ts'
import { loadBookSegment } from '../../lib/list/index/books/book-segment.ts'
import { createTextReader } from '../../lib/list/index/books/book-texts.ts'
import { addedCount, refreshBookSegment } from '../../lib/list/index/books/refresh-segment.ts'
import { createListIndex } from '../../lib/list/index/list-index.ts'
import type { Folder } from '../../lib/list/index/temporary-file.ts'
import { combineListChanges } from '../../lib/list/list-version.ts'
import { matchesQuery, matchRank, searchCondition } from '../../lib/list/sql/search.ts'
import { parseSearchQuery } from '../../lib/media/name/search-text.ts'
import { forRequests, type Queryable } from '../../lib/store/postgres/db.ts'
import { createDatabase } from '../kit/db.ts'
import { makeFacts, storeFacts } from './catalog-facts.ts'
import { environmentOf } from './environment.ts'
import { openListFiles } from './open-list-files.ts'
import { plainList, sorts } from './plain-list.ts'
import { bookConditions, viewers } from './random-conditions.ts'

const { sql } = await createDatabase(t)
const facts = makeFacts(29, 40)
await storeFacts(sql, facts)
const [account] = facts.accounts as [string]
const everyone = unrestrictedViewer(account)
const requests = forRequests(sql, { timeoutMs: 300_000 })
t.teardown(() => requests.end())
const folder: Folder = { path: join(t.testdir(), 'lists'), hasSpace: () => true }
const environment = environmentOf(requests)
const textReader = createTextReader(environment)

const lists = fc.record({
  sort: fc.constantFrom(...sorts),
  direction: fc.constantFrom('asc' as const, 'desc' as const),
  includeDeleted: fc.boolean(),
  libraryId: fc.option(fc.constantFrom(...facts.libraries), { freq: 1, nil: undefined }),
  filter: bookConditions(facts).map(condition => parseBookFilter(condition)!),
})

type Picked = { book: number; other: number; value: number }
const words = ['m', 'Naruto', 'z', 'a_b', '進撃']
const someBook = ({ book }: Picked) => sql`(
  select id from book order by id limit 1 offset (select ${book} % count(*) from book))`
const otherBook = ({ other }: Picked) => someBook({ book: other, other, value: 0 })
const seriesOf = (picked: Picked) =>
  sql`(select series_id from book where id = ${someBook(picked)})`
const copied = sql`
  library_id, directory_id, title, sort_key, search_key, number_sort, year, size, page_count,
  genres, tags, authors, age_rating, format, error_code, modified_ms, fingerprint, summary`

/** Statements as a scan, a user or an administrator runs them; `unknown`: any book may have changed. */
const changes = {
  hide: (p: Picked) => sql`update book set missing_at = now() where id = ${someBook(p)}`,
  show: () => sql`update book set missing_at = null where missing_at is not null`,
  hideSeries: (p: Picked) =>
    sql`update book set missing_at = now() where series_id = ${seriesOf(p)}`,
  columns: (p: Picked) => sql`
    update book set sort_key = ${words[p.value % 5]!}, search_key = ${words[p.value % 5]!},
      title = ${words[p.value % 5]!}, size = ${p.value}, page_count = ${p.value % 9},
      modified_ms = ${1_600_000_000_000 + p.value}, name_key = ${words[p.value % 4]!},
      updated_at = now(), age_rating = ${p.value % 2 ? null : p.value},
      summary = ${p.value % 3 ? null : `A summary ${p.value}`}, error_code = ${p.value % 5 ? null : 'io'}
    where id = ${someBook(p)}`,
  nulls: (p: Picked) => sql`
    update book set number_sort = ${p.value % 2 ? null : p.value}, year = ${p.value % 3 ? null : 1991}
    where id in (${someBook(p)}, ${otherBook(p)})`,
  labels: (p: Picked) => sql`
    update book set genres = ${p.value % 2 ? ['Action'] : []}, tags = ${p.value % 3 ? [] : ['Classic', 'new']}
    where id = ${someBook(p)}`,
  // Spellings that no label has yet.
  spelling: (p: Picked) => sql`
    update book set genres = ${[p.value % 2 ? 'ACTION' : 'dRama']}, tags = ${[`LONG${p.value % 3}`]}
    where id in (${someBook(p)}, ${otherBook(p)})`,
  authors: (p: Picked) => sql`
    update book set authors = ${sql.json([{ name: p.value % 2 ? 'Émile Zola' : 'New Person', role: 'writer' }])}
    where id = ${someBook(p)}`,
  deleteLabel: async ({ value }: Picked) => {
    const [label] = await sql<{ id: string; kind: 'genre' | 'tag' }[]>`
      select id, kind from label order by id limit 1 offset (select ${value} % count(*) from label)`
    await deleteLabel(sql, label!.kind, label!.id)
  },
  add: (p: Picked) => sql`
    insert into book (id, series_id, name, name_key, ${copied})
    select ${newId()}, series_id, convert_to(${newId()}, 'UTF8'), name_key, ${copied} from book
    where id = ${someBook(p)}`,
  addSeries: (p: Picked) => sql`
    with added as (
      insert into series (id, library_id, key, name, title, sort_key, search_key, name_key, age_rating)
      select ${newId()}, library_id, ${newId()}, 'New', 'New', ${words[p.value % 5]!}, 'new', 'new',
        ${p.value % 3 ? null : p.value}
      from series where id = ${seriesOf(p)}
      returning id, library_id)
    select id from added`,
  move: (p: Picked) => sql`
    update book b set series_id = s.id
    from (
      select s.id from series s
      where s.library_id = (select library_id from book where id = ${someBook(p)})
      order by s.created_at desc, s.id desc limit 1 offset ${p.other % 3}) s
    where b.id = ${someBook(p)}`,
  remove: (p: Picked) => sql`delete from book where id = ${someBook(p)}`,
  retitle: (p: Picked) => sql`
    update series set sort_key = ${words[p.value % 5]!} where id in (${seriesOf(p)}, ${seriesOf({ ...p, book: p.other })})`,
  rate: (p: Picked) => sql`
    update series set age_rating = ${p.value % 2 ? 18 : null} where id = ${seriesOf(p)}`,
  oneShot: (p: Picked) => sql`update series set one_shot = not one_shot where id = ${seriesOf(p)}`,
  share: (p: Picked) => sql`
    insert into series_sharing_tag (series_id, tag_id)
    select ${seriesOf(p)}, id from sharing_tag order by id limit 1 on conflict do nothing`,
  unshare: (p: Picked) => sql`delete from series_sharing_tag where series_id = ${seriesOf(p)}`,
  read: (p: Picked) => sql`
    insert into progress (account_id, book_id, current_page, is_completed)
    values (${account}, ${someBook(p)}, 3, true)
    on conflict (account_id, book_id) do update set is_completed = not progress.is_completed`,
  combine: async () => {
    await sql`update list_change set changed_at = changed_at - interval '25 hours'`
    await combineListChanges(sql)
  },
} satisfies Record<string, (picked: Picked) => PromiseLike<unknown>>
type Change = keyof typeof changes

/** What the writers of books and progress derive. */
async function derive() {
  await sql.begin(async tx => {
    // Added ones, too.
    const series = await tx<{ id: string }[]>`select id from series order by id`
    const ids = series.map(({ id }) => id)
    await refreshLabels(tx, ids)
    await refreshAuthorKeys(tx, ids)
    const books = await tx<{ id: string }[]>`select id from book order by id`
    await refreshBookSearch(
      tx,
      books.map(({ id }) => id),
    )
    await tx`
      update series s set book_count = n.count
      from (
        select s.id, (select count(*) from book b where b.series_id = s.id and ${presentBook(tx)}) as count
        from series s) n
      where s.id = n.id and s.book_count <> n.count`
    await refreshSeriesReading(tx, ids)
  })
}

const steps = fc.array(
  fc.record({
    change: fc.constantFrom(...(Object.keys(changes) as Change[])),
    picked: fc.record({ book: fc.nat(1_000), other: fc.nat(1_000), value: fc.nat(30) }),
  }),
  { minLength: 1, maxLength: 4 },
)

async function followChanges({
  isWorn = false,
  rests = false,
  runs,
  seed,
}: {
  isWorn?: boolean
  /** Whenever no list is made. */
  rests?: boolean
  runs: number
  seed: number
}) {
  const environment = environmentOf(requests, { folder: rests ? folder : null })
  const isWornNow = (segment: Parameters<typeof addedCount>[0]) => addedCount(segment) > 60
  const kind = { ...createBookSchema(environment), ...(isWorn && { isWorn: isWornNow }) }
  const index = createListIndex(kind, environment, { pause: 0, ...(rests && { maxUnusedMs: 0 }) })
  let combined = false
  let rested = 0
  const pageOf = async (viewer: Viewer, list: Omit<BookRequest, 'offset' | 'limit'>) => {
    if (rests) await sleep(2)
    await index.idle()
    const files = namesOfFiles()
    const page = await index.page(requests, viewer, { ...list, ...first })
    // Its file is given back when it is read.
    if (rests) await sleep(2)
    const left = new Set(namesOfFiles())
    if (page && !files.every(name => left.has(name))) rested++
    return page
  }
  const first = { offset: 0, limit: 1_000 }
  const warm = async () => {
    for (const sort of sorts) {
      index.refresh(everyone, { filter: null, sort, direction: 'asc', ...first })
      await index.idle()
    }
  }
  await warm()
  const used = fc.sample(fc.tuple(lists, viewers(facts, account)), { numRuns: 12, seed })
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.array(fc.nat(used.length - 1), { minLength: 2, maxLength: 5 }),
      async (some, chosen) => {
        for (const { change, picked } of some) {
          await changes[change](picked)
          combined ||= change === 'combine'
          // Read from the counters of before.
          const [list, viewer] = used[chosen[0]!]!
          await pageOf(viewer, list)
        }
        await derive()
        for (const i of chosen) {
          const [list, viewer] = used[i]!
          let page = await pageOf(viewer, list)
          if (!page && combined) {
            await warm()
            combined = false
            page = await pageOf(viewer, list)
          }
          const expected = await plainList(sql, viewer, list)
          deepEqual(page, { ids: expected, total: expected.length })
        }
        await index.idle()
      },
    ),
    { numRuns: runs, seed },
  )
  return rested
}

const namesOfFiles = () => openListFiles().flatMap(({ name, size }) => (size > 0 ? [name] : []))

t.test('lists follow any changes', async () => {
  await followChanges({ runs: 20, seed: 43 })
})

t.test('lists follow any changes that came while the index was at rest', async t => {
  const rested = await followChanges({ rests: true, runs: 12, seed: 45 })
  t.ok(rested > 15, `${rested} lists were made from an index at rest`)
})

t.test('few changes are followed hours later, many only for minutes', async t => {
  const change = async (times: number) => {
    const segment = (await loadBookSegment(sql, { maxBytes: 10 ** 9, textReader }))!
    for (let i = 0; i < times; i++)
      await sql`update book set size = size + 1 where id = (select id from book order by id limit 1)`
    await sql`update list_change set changed_at = changed_at - interval '3 hours'`
    await combineListChanges(sql)
    return await refreshBookSegment(sql, segment)
  }
  await combineListChanges(sql, { olderThanMs: 0 })
  t.ok(await change(20))
  t.equal(await change(520), null)
})

t.test('without space for it, or with a damaged file, an index at rest is read again', async t => {
  let hasSpace = true
  const environment = environmentOf(requests, { folder: { ...folder, hasSpace: () => hasSpace } })
  const index = createBookIndex(environment, { pause: 0, maxUnusedMs: 0 })
  const filter = parseBookFilter({ pageCount: { operator: 'gte', value: 0 } })!
  const list = { filter, sort: 'title', direction: 'asc' } as const
  const request: BookRequest = { ...list, offset: 0, limit: 1_000 }
  const rest = async () => {
    for (let i = 0; i < 3; i++) {
      await sleep(20)
      await index.idle()
    }
  }
  const damaged = 10
  const stored = () => openListFiles().filter(({ size }) => size > damaged)
  const damage = () => stored().map(({ path }) => truncateSync(path, damaged))
  const fillDisk = async () => {
    hasSpace = false
    await sleep(1_100)
    t.same(stored(), [])
    hasSpace = true
  }
  for (const fail of [damage, fillDisk]) {
    index.refresh(everyone, request)
    await rest()
    t.ok(stored().length > 0)
    await fail()
    t.equal(await index.page(requests, everyone, request), null, fail.name)
    index.refresh(everyone, request)
    await rest()
    const { ids } = (await index.page(requests, everyone, request))!
    t.same(ids, await plainList(sql, everyone, list))
  }
  await rest()
  hasSpace = false
  t.ok(await index.page(requests, everyone, request))
  await rest()
  t.notOk(index.isRead(), 'not stored')
})

t.test(
  'an index that is prepared rests in a file until the first list, and follows what changed meanwhile',
  async t => {
    const index = createBookIndex(environmentOf(requests, { folder }), { pause: 0 })
    const filter = parseBookFilter({ pageCount: { operator: 'gte', value: 0 } })!
    const list = { filter, sort: 'created', direction: 'desc' } as const
    const request: BookRequest = { ...list, offset: 0, limit: 1_000 }
    await index.prepare(everyone, { ...request, filter: null, sort: 'title' })
    t.ok(index.isRead() && index.isUnused())
    const atRest = namesOfFiles().length
    t.ok(atRest > 0)
    await changes.columns({ book: 3, other: 4, value: 5 })
    const page = await index.page(requests, everyone, request)
    t.same(page?.ids, await plainList(sql, everyone, list), 'an order that no list has used')
    await index.prepare(everyone, request)
    t.ok(namesOfFiles().length < atRest, 'lists use it: it stays in memory')
  },
)

t.test('lists are right while what is in memory is read again', async () => {
  await followChanges({ isWorn: true, runs: 12, seed: 44 })
})

t.test('a list is of one version of the catalog while others change it', async () => {
  const index = createBookIndex(environment, { pause: 0 })
  const [a, b] = await sql<{ id: string }[]>`
    select id from book where missing_at is null order by id limit 2`
  await sql`update book set page_count = 777 where id = ${a!.id}`
  await sql`update book set page_count = 778 where id = ${b!.id}`
  const filter = parseBookFilter({ pageCount: { operator: 'eq', value: 777 } })!
  const request: BookRequest = { filter, sort: 'title', direction: 'asc', offset: 0, limit: 5 }
  index.refresh(everyone, request)
  await index.idle()
  let isDone = false
  const write = async () => {
    while (!isDone) {
      // Exactly one of them has this many pages, in every version.
      await sql`
        update book set page_count = 1555 - page_count where id in (${a!.id}, ${b!.id})`
      await sleep(10)
    }
  }
  const writing = write()
  let found = 0
  // On a busy machine most lists take longer than the time between two changes, and are not made from memory.
  for (let i = 0; i < 3_000 && found < 30; i++) {
    const page = await index.page(requests, everyone, request)
    if (!page) continue
    equal(page.total, 1)
    equal(page.ids.length, 1)
    found++
  }
  isDone = true
  await writing
  equal(found, 30, 'lists were made')
})

t.test('texts and formats in memory follow changes', async () => {
  const index = createBookIndex(environment, { pause: 0 })
  const conditions = [
    { path: { operator: 'contains', value: 'n/' } },
    { title: { operator: 'contains', value: 'a' } },
    { format: { operator: 'is', value: 'epub' } },
  ]
  const request = (condition: object, viewer: Viewer = everyone) =>
    ({ filter: parseBookFilter(condition)!, sort: 'title', direction: 'asc', viewer }) as const
  index.refresh(everyone, { ...request(conditions[0]!), offset: 0, limit: 500 })
  await index.idle()
  for (const change of ['add', 'columns', 'remove', 'hide', 'show', 'add'] as const) {
    for (const condition of conditions) {
      const list = request(condition)
      const page = await index.page(requests, everyone, { ...list, offset: 0, limit: 500 })
      const expected = await plainList(sql, everyone, list)
      deepEqual(page, { ids: expected, total: expected.length }, JSON.stringify(condition))
    }
    await index.idle()
    await changes[change]({ book: 7, other: 11, value: 4 })
    await derive()
  }
})

t.test('searches by relevance follow changes', async () => {
  const index = createBookIndex(environment, { pause: 0 })
  const texts = ['naruto', 'a', 'one piece', 'onepiece']
  const request = (text: string): BookRequest => ({
    ...{ sort: 'relevance', direction: 'asc', includeDeleted: true, offset: 0, limit: 1_000 },
    search: parseSearchQuery(text),
    filter: { of: 'book', condition: searchCondition(text) },
  })
  index.refresh(everyone, request('a'))
  await index.idle()
  await fc.assert(
    fc.asyncProperty(steps, async some => {
      for (const { change, picked } of some) {
        await changes[change](picked)
        if (change !== 'combine') continue
        await index.page(requests, everyone, request('a'))
        index.refresh(everyone, request('a'))
        await index.idle()
      }
      await derive()
      for (const text of texts) {
        const search = parseSearchQuery(text)!
        const rows = await sql<{ id: string }[]>`
          select b.id from book_search t join book b on b.id = t.book_id
          where ${matchesQuery(sql, search)} order by ${matchRank(sql, search)}, b.sort_key, b.id`
        const page = await index.page(requests, everyone, request(text))
        deepEqual(page, { ids: rows.map(row => row.id), total: rows.length })
      }
    }),
    { numRuns: 12, seed: 6 },
  )
})

t.test('a transaction that is committed after later ones is followed', async t => {
  const index = createBookIndex(environment, { pause: 0 })
  const filter = parseBookFilter({ pageCount: { operator: 'eq', value: 4_711 } })!
  const request: BookRequest = { filter, sort: 'title', direction: 'asc', offset: 0, limit: 9 }
  const total = async () => (await index.page(requests, everyone, request))?.total
  const [a, b, c] = await sql`select id from book where missing_at is null order by id limit 3`
  index.refresh(everyone, request)
  await index.idle()
  const resize = (tx: Queryable, id: string) =>
    tx`update book set page_count = 4711 where id = ${id}`
  await sql.begin(async tx => {
    await resize(tx, a!.id)
    const rolledBack = tx.savepoint(async nested => {
      await resize(nested, c!.id)
      throw new Error('rolled back')
    })
    await rolledBack.catch(() => {})
    await resize(sql, b!.id)
    t.equal(await total(), 1)
  })
  t.equal(await total(), 2)
})

t.test('nothing is followed across a start of PostgreSQL, or after too many changes', async t => {
  const segment = (await loadBookSegment(sql, { maxBytes: 10 ** 9, textReader }))!
  t.ok(await refreshBookSegment(sql, segment))
  const restarted = { ...segment, version: segment.version.replace(/ .*/, ' 2000') }
  t.equal(await refreshBookSegment(sql, restarted), null)
  t.equal(await loadBookSegment(sql, { maxBytes: 130, textReader }), null)
  await sql`insert into list_change (subject, count) values ('book', 1)`
  t.equal(await refreshBookSegment(sql, segment), null)
})
