// Property tests of book lists against the oracle.
import { deepEqual, equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { unrestrictedViewer } from '../../lib/accounts/viewer.ts'
import { parseBookFilter } from '../../lib/list/condition.ts'
import { type BookListRequest, listBooks } from '../../lib/list/list-books.ts'
import type { BookSort } from '../../lib/list/sort.ts'
import { sortKey } from '../../lib/media/name/natural.ts'
import { createServices } from '../../lib/store/services.ts'
import { createDatabase } from '../kit/db.ts'
import { type BookFacts, makeFacts, storeFacts } from './catalog-facts.ts'
import { createOracle, holds } from './oracle.ts'
import { bookConditions, viewers } from './random-conditions.ts'

const { sql } = await createDatabase(t)
const db = { sql, services: createServices(sql) }
const facts = makeFacts(7, 60)
await storeFacts(sql, facts)
const [account] = facts.accounts as [string]
const { present, progress, testBook, isVisibleBook, matchesBook } = createOracle(facts, account)
const everyone = unrestrictedViewer(account)

const bytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
const idOrder = (a: BookFacts, b: BookFacts) => bytes(a.id, b.id)
type Key = (b: BookFacts) => string | number | null
const keys: Record<Exclude<BookSort, 'read' | 'series' | 'relevance'>, Key> = {
  title: b => sortKey(b.titleSort ?? b.title),
  number: b => b.number,
  created: b => b.createdAt.getTime(),
  updated: () => 0,
  modified: b => b.modifiedMs,
  released: b => b.released,
  size: b => b.size,
  pages: b => b.pages,
  filename: b => sortKey(b.name),
}

/** By a key, nulls last both ways, ties by id. */
function inOrder(books: BookFacts[], key: Key, direction: 'asc' | 'desc'): string[] {
  const sign = direction === 'asc' ? 1 : -1
  const compare = (a: BookFacts, b: BookFacts) => {
    const [x, y] = [key(a), key(b)]
    if (x === null || y === null)
      return Number(x === null) - Number(y === null) || sign * idOrder(a, b)
    const order = typeof x === 'string' ? bytes(x, String(y)) : x - Number(y)
    return sign * (order || idOrder(a, b))
  }
  return [...books].sort(compare).map(b => b.id)
}

/** All pages of a list. */
async function pages(request: Omit<BookListRequest, 'page'>, viewer = everyone) {
  const ids: string[] = []
  for (let page = 1; ; page++) {
    const result = await listBooks(db, viewer, { ...request, page })
    ids.push(...result.ids)
    if (result.ids.length < request.pageSize) return { ids, total: result.total }
  }
}

t.test('every sort order lists every present book once, from both ends', async t => {
  for (const [sort, key] of Object.entries(keys)) {
    for (const direction of ['asc', 'desc'] as const) {
      const { ids, total } = await pages({
        filter: null,
        sort: sort as BookSort,
        direction,
        pageSize: 37,
      })
      t.equal(total, present.length)
      const expected = sort === 'updated' ? null : inOrder(present, key, direction)
      t.same(
        expected ? ids : [...ids].sort(),
        expected ?? present.map(b => b.id).sort(),
        `${sort} ${direction}`,
      )
    }
  }
})

t.test('by series: series title, then number; by reading: books with progress first', async t => {
  const lists = (['asc', 'desc'] as const).flatMap(direction =>
    [false, true].map(includeDeleted => ({ direction, includeDeleted })),
  )
  for (const { direction, includeDeleted } of lists) {
    const listed = includeDeleted ? facts.books : present
    const all = { filter: null, direction, includeDeleted, pageSize: 23 }
    const sign = direction === 'asc' ? 1 : -1
    const bySeries = [...listed].sort((a, b) => {
      const series =
        bytes(
          sortKey(a.series.titleSort ?? a.series.title),
          sortKey(b.series.titleSort ?? b.series.title),
        ) || bytes(a.series.id, b.series.id)
      const nulls = Number(a.number === null) - Number(b.number === null)
      const number = (a.number ?? 0) - (b.number ?? 0)
      return (
        sign * series ||
        nulls ||
        sign *
          (number || bytes(String(keys.filename(a)), String(keys.filename(b))) || idOrder(a, b))
      )
    })
    t.same(
      (await pages({ ...all, sort: 'series' })).ids,
      bySeries.map(b => b.id),
    )
    const read = listed.filter(b => progress.has(b.id))
    const expected = [
      ...inOrder(read, b => progress.get(b.id)!.at.getTime(), direction),
      ...inOrder(
        listed.filter(b => !progress.has(b.id)),
        keys.title,
        'asc',
      ),
    ]
    t.same((await pages({ ...all, sort: 'read' })).ids, expected)
  }
})

t.test(
  'random conditions select the books of the oracle, for random viewers and sort orders',
  async () => {
    const sorts = fc.constantFrom(...(['title', 'number', 'series', 'read', 'pages'] as BookSort[]))
    await fc.assert(
      fc.asyncProperty(
        bookConditions(facts),
        viewers(facts, account),
        sorts,
        async (condition, viewer, sort) => {
          const filter = parseBookFilter(condition)!
          const isListed = (b: BookFacts) =>
            isVisibleBook(viewer)(b) && holds(filter.condition, testBook(b))
          const sorted = (books: BookFacts[]) => books.map(b => b.id).sort()
          const actual = await pages({ filter, sort, pageSize: 100 }, viewer)
          const expected = present.filter(isListed)
          deepEqual([...actual.ids].sort(), sorted(expected))
          equal(actual.total, expected.length)
          const deleted = await pages({ filter, sort, includeDeleted: true, pageSize: 100 }, viewer)
          deepEqual([...deleted.ids].sort(), sorted(facts.books.filter(isListed)))
          equal(deleted.total, deleted.ids.length)
        },
      ),
      { numRuns: 40, seed: 11 },
    )
  },
)

t.test(
  'without a condition random viewers list the visible books in order, of one or all libraries',
  async () => {
    const sorts = Object.keys(keys).filter(sort => sort !== 'updated') as (keyof typeof keys)[]
    await fc.assert(
      fc.asyncProperty(
        viewers(facts, account),
        fc.record({
          sort: fc.constantFrom(...sorts),
          direction: fc.constantFrom('asc', 'desc'),
          libraryId: fc.option(fc.constantFrom(...facts.libraries), { nil: undefined }),
          text: fc.constantFrom(undefined, 'one'),
        }),
        async (viewer, { text, ...request }) => {
          const { libraryId, sort, direction } = request
          const listed = present
            .filter(isVisibleBook(viewer))
            .filter(b => !libraryId || b.series.library === libraryId)
          const actual = await pages({ ...request, filter: null, pageSize: 37 }, viewer)
          deepEqual(actual.ids, inOrder(listed, keys[sort], direction))
          equal(actual.total, listed.length)
          const found = listed.filter(text ? matchesBook(text) : () => true)
          const search = await pages({ ...request, text, filter: null, pageSize: 37 }, viewer)
          deepEqual(search.ids, inOrder(found, keys[sort], direction))
          equal(search.total, found.length)
          const read = { libraryId, direction, sort: 'read', filter: null, pageSize: 37 } as const
          deepEqual((await pages(read, viewer)).ids, [
            ...inOrder(
              listed.filter(b => progress.has(b.id)),
              b => progress.get(b.id)!.at.getTime(),
              direction,
            ),
            ...inOrder(
              listed.filter(b => !progress.has(b.id)),
              keys.title,
              'asc',
            ),
          ])
        },
      ),
      { numRuns: 25, seed: 12 },
    )
  },
)

t.test(
  'searches match titles, series titles, authors, numbers and tags, with and without conditions',
  async t => {
    for (const query of [
      'naruto',
      '巨',
      '撃',
      'emile',
      'EMILE ola',
      'dont',
      '100',
      'piece 3',
      'one dr',
      'x',
      '尾田',
      'a_b',
      'classic one',
      'onepiece',
      'the one',
      'narutox',
      'drslump 1',
      'dr slump',
      'zzz',
    ]) {
      const expected = present.filter(matchesBook(query))
      const { ids, total } = await pages({ filter: null, text: query, pageSize: 50 })
      t.equal(total, expected.length, query)
      t.same([...ids].sort(), expected.map(b => b.id).sort(), query)
      const filter = parseBookFilter({ readStatus: { operator: 'isNot', value: 'unread' } })!
      const both = expected.filter(b => holds(filter.condition, testBook(b)))
      const narrowed = await pages({ filter, text: query, sort: 'title', pageSize: 50 })
      t.equal(narrowed.total, both.length)
      t.same(narrowed.ids, inOrder(both, keys.title, 'asc'), query)
    }
    t.same(await listBooks(db, everyone, { filter: null, text: '!?', page: 1, pageSize: 5 }), {
      ids: [],
      total: 0,
    })
    t.equal(
      (await listBooks(db, everyone, { filter: null, text: ' ', page: 1, pageSize: 5 })).total,
      present.length,
    )
  },
)

t.test('a title is found by half-width kana without the mark that follows them', async t => {
  const filter = parseBookFilter({ title: { operator: 'contains', value: 'ﾓﾝｶ' } })!
  const expected = present.filter(b => b.title.includes('ﾓﾝｶﾞ')).map(b => b.id)
  t.ok(expected.length > 0)
  t.same((await pages({ filter, pageSize: 50 })).ids.sort(), expected.sort())
})

t.test('the best title matches come first', async t => {
  const { ids } = await pages({ filter: null, text: 'one', pageSize: 100 })
  const rank = (id: string) => {
    const title = present.find(b => b.id === id)!.title.toLowerCase()
    return title === 'one' ? 0 : title.startsWith('one') ? 1 : title.includes(' one') ? 2 : 4
  }
  const ranks = ids.map(rank)
  t.same(ranks, [...ranks].sort())
})

t.test('conditions on summaries follow the books', async t => {
  const book = present[0]!
  const { id, library } = book.series
  const other = facts.series.find(s => s.library === library && s.id !== id)!
  const filter = parseBookFilter({ summary: { operator: 'contains', value: 'eclair' } })
  const found = async (more = {}) => (await pages({ filter, pageSize: 5, ...more })).ids
  const set = (columns: object) => sql`update book set ${sql(columns)} where id = ${book.id}`
  await set({ summary: 'Un Éclair' })
  t.same(await found(), [book.id])
  await set({ series_id: other.id })
  t.same(await found({ seriesId: other.id }), [book.id])
  await set({ missing_at: new Date() })
  t.same(await found(), [])
  t.same(await found({ includeDeleted: true }), [book.id])
  await set({ summary: null })
  t.same(await found({ includeDeleted: true }), [])
  await set({ summary: book.summary, missing_at: null, series_id: id })
})

t.test('one library, one series, and pages past the end', async t => {
  const [libraryId] = facts.libraries as [string]
  const inLibrary = present.filter(b => b.series.library === libraryId)
  t.same(
    (await pages({ filter: null, libraryId, pageSize: 20 })).ids,
    inOrder(inLibrary, keys.title, 'asc'),
  )
  const series = present[0]!.series
  const { ids } = await pages({ filter: null, seriesId: series.id, sort: 'number', pageSize: 3 })
  t.same(
    ids,
    inOrder(
      present.filter(b => b.series === series),
      keys.number,
      'asc',
    ),
  )
  const past = await listBooks(db, everyone, { filter: null, page: 2 ** 40, pageSize: 500 })
  t.same(past, { ids: [], total: present.length })
})

t.test('lists of at most so many books are the start of the whole list', async () => {
  await fc.assert(
    fc.asyncProperty(
      viewers(facts, account),
      fc.record({
        ...{ sort: fc.constantFrom('created', 'released', 'relevance') },
        text: fc.constantFrom(
          'one',
          'naruto',
          '巨',
          'x',
          '1',
          'a_b',
          'One Piece',
          'onepiece',
          undefined,
        ),
        maxBooks: fc.integer({ min: 1, max: 90 }),
        libraryId: fc.option(fc.constantFrom(...facts.libraries), { nil: undefined }),
      }),
      async (viewer, { maxBooks, ...list }) => {
        const request = { ...list, direction: 'desc', filter: null, pageSize: 11 } as const
        const all = await pages(request, viewer)
        const { ids, total } = await pages({ ...request, maxBooks }, viewer)
        equal(total, Math.min(all.total, maxBooks))
        deepEqual(ids, all.ids.slice(0, maxBooks))
      },
    ),
    { numRuns: 30, seed: 14 },
  )
})
