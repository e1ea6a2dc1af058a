import { deepEqual, equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import type { Viewer } from '../../../lib/auth/viewer.ts'
import { parseBookFilter } from '../../../lib/catalog/list/filter.ts'
import { listBooks } from '../../../lib/catalog/list/list-books.ts'
import { latestBooks } from '../../../lib/catalog/list/list-books-latest.ts'
import type { BookSort } from '../../../lib/catalog/list/sort.ts'
import { sortKey } from '../../../lib/name/natural.ts'
import { database } from '../../kit/db.ts'
import { type BookFacts, makeFacts, storeFacts } from './books.ts'
import { bookConditions, viewers } from './conditions.ts'
import { holds, truth } from './truth.ts'

const { sql } = await database(t)
const facts = makeFacts(7, 60)
await storeFacts(sql, facts)
const [account] = facts.accounts as [string]
const { present, progress, ofBook, seesBook, findsBook } = truth(facts, account)
const all: Viewer = {
  accountId: account,
  libraries: null,
  allowedTags: [],
  deniedTags: [],
  ageLimit: null,
  showsUnrated: true,
}

const bytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
const idOrder = (a: BookFacts, b: BookFacts) => bytes(a.id, b.id)
type Key = (b: BookFacts) => string | number | null
const keys: Record<Exclude<BookSort, 'read' | 'series' | 'relevance'>, Key> = {
  title: b => sortKey(b.title),
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
async function pages(asked: Omit<Parameters<typeof listBooks>[2], 'page'>, viewer = all) {
  const ids: string[] = []
  for (let page = 1; ; page++) {
    const found = await listBooks(sql, viewer, { ...asked, page })
    ids.push(...found.ids)
    if (found.ids.length < asked.pageSize) return { ids, total: found.total }
  }
}

t.test(
  'every order lists every present book once, whichever end its pages are read from',
  async t => {
    for (const [sort, key] of Object.entries(keys)) {
      for (const direction of ['asc', 'desc'] as const) {
        const { ids, total } = await pages({
          filter: null,
          sort: sort as BookSort,
          direction,
          pageSize: 37,
        })
        t.equal(total, present.length)
        const wanted = sort === 'updated' ? null : inOrder(present, key, direction)
        t.same(
          wanted ? ids : [...ids].sort(),
          wanted ?? present.map(b => b.id).sort(),
          `${sort} ${direction}`,
        )
      }
    }
  },
)

t.test(
  'reading order goes by series, then number; last read begins with what was read',
  async t => {
    for (const direction of ['asc', 'desc'] as const) {
      const sign = direction === 'asc' ? 1 : -1
      const bySeries = [...present].sort((a, b) => {
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
          sign * (number || bytes(sortKey(a.title), sortKey(b.title)) || idOrder(a, b))
        )
      })
      t.same(
        (await pages({ filter: null, sort: 'series', direction, pageSize: 23 })).ids,
        bySeries.map(b => b.id),
      )
      const read = present.filter(b => progress.has(b.id))
      const wanted = [
        ...inOrder(read, b => progress.get(b.id)!.at.getTime(), direction),
        ...inOrder(
          present.filter(b => !progress.has(b.id)),
          keys.title,
          'asc',
        ),
      ]
      t.same((await pages({ filter: null, sort: 'read', direction, pageSize: 23 })).ids, wanted)
    }
  },
)

t.test('random conditions select what they mean, for everybody, in every order', async () => {
  const sorts = fc.constantFrom(...(['title', 'number', 'series', 'read', 'pages'] as BookSort[]))
  await fc.assert(
    fc.asyncProperty(
      bookConditions(facts),
      viewers(facts, account),
      sorts,
      async (condition, viewer, sort) => {
        const filter = parseBookFilter(condition)!
        const listed = (b: BookFacts) => seesBook(viewer)(b) && holds(filter.condition, ofBook(b))
        const sorted = (books: BookFacts[]) => books.map(b => b.id).sort()
        const found = await pages({ filter, sort, pageSize: 100 }, viewer)
        const wanted = present.filter(listed)
        deepEqual([...found.ids].sort(), sorted(wanted))
        equal(found.total, wanted.length)
        const deleted = await pages({ filter, includeDeleted: true, pageSize: 100 }, viewer)
        deepEqual([...deleted.ids].sort(), sorted(facts.books.filter(listed)))
        equal(deleted.total, deleted.ids.length)
      },
    ),
    { numRuns: 120, seed: 11 },
  )
})

t.test('without a condition everybody lists what they see, in order, of any library', async () => {
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
      async (viewer, { text, ...asked }) => {
        const listed = present
          .filter(seesBook(viewer))
          .filter(b => !asked.libraryId || b.series.library === asked.libraryId)
        const found = await pages({ ...asked, filter: null, pageSize: 37 }, viewer)
        deepEqual(found.ids, inOrder(listed, keys[asked.sort], asked.direction))
        equal(found.total, listed.length)
        const { libraryId } = asked
        const searched = await pages({ libraryId, text, filter: null, pageSize: 50 }, viewer)
        equal(searched.total, listed.filter(text ? findsBook(text) : () => true).length)
      },
    ),
    { numRuns: 60, seed: 12 },
  )
})

t.test(
  'words are found in titles, names of series, authors and numbers, alone and with conditions',
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
      'zzz',
    ]) {
      const wanted = present.filter(findsBook(query))
      const { ids, total } = await pages({ filter: null, text: query, pageSize: 50 })
      t.equal(total, wanted.length, query)
      t.same([...ids].sort(), wanted.map(b => b.id).sort(), query)
      const filter = parseBookFilter({ readStatus: { operator: 'isNot', value: 'unread' } })!
      const both = wanted.filter(b => holds(filter.condition, ofBook(b)))
      const narrowed = await pages({ filter, text: query, sort: 'title', pageSize: 50 })
      t.equal(narrowed.total, both.length)
      t.same(narrowed.ids, inOrder(both, keys.title, 'asc'), query)
    }
    t.same(await listBooks(sql, all, { filter: null, text: '!?', page: 1, pageSize: 5 }), {
      ids: [],
      total: 0,
    })
    t.equal(
      (await listBooks(sql, all, { filter: null, text: ' ', page: 1, pageSize: 5 })).total,
      present.length,
    )
  },
)

t.test('the best titles come first', async t => {
  const { ids } = await pages({ filter: null, text: 'one', pageSize: 100 })
  const rank = (id: string) => {
    const title = present.find(b => b.id === id)!.title.toLowerCase()
    return title === 'one' ? 0 : title.startsWith('one') ? 1 : title.includes(' one') ? 2 : 4
  }
  const ranks = ids.map(rank)
  t.same(ranks, [...ranks].sort())
})

t.test('a library, a series and pages past the end', async t => {
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
  const past = await listBooks(sql, all, { filter: null, page: 2 ** 40, pageSize: 500 })
  t.same(past, { ids: [], total: present.length })
})

t.test(
  'of too many finds as many as are wanted are listed, those that begin so first',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        viewers(facts, account),
        fc.record({
          text: fc.constantFrom('one', 'naruto', '巨', 'x', '1', 'a_b', 'One Piece'),
          most: fc.integer({ min: 1, max: 80 }),
          libraryId: fc.option(fc.constantFrom(...facts.libraries), { nil: undefined }),
        }),
        async (viewer, { most, ...asked }) => {
          const wanted = { ...asked, filter: null, pageSize: 7 }
          const exact = await pages(wanted, viewer)
          const found = await pages({ ...wanted, most }, viewer)
          equal(found.total, Math.min(exact.total, most))
          if (exact.total <= most) return deepEqual(found.ids, exact.ids)
          equal(new Set(found.ids).size, most)
          equal(found.ids.filter(id => !exact.ids.includes(id)).length, 0)
          const key = sortKey(asked.text)
          const titled = present.filter(b => sortKey(b.title).startsWith(key)).map(b => b.id)
          if (titled.length <= most)
            equal(titled.filter(id => exact.ids.includes(id) && !found.ids.includes(id)).length, 0)
          deepEqual(
            found.ids,
            exact.ids.filter(id => found.ids.includes(id)),
            'in the same order',
          )
        },
      ),
      { numRuns: 80, seed: 14 },
    )
  },
)

t.test('the latest books are the first of the whole list, for everybody', async () => {
  await fc.assert(
    fc.asyncProperty(
      viewers(facts, account),
      fc.record({
        by: fc.constantFrom('created', 'released'),
        libraryId: fc.option(fc.constantFrom(...facts.libraries), { nil: undefined }),
        most: fc.integer({ min: 1, max: 90 }),
      }),
      async (viewer, { by, libraryId, most }) => {
        const listed = present
          .filter(seesBook(viewer))
          .filter(b => !libraryId || b.series.library === libraryId)
          .filter(b => by === 'created' || b.released !== null)
        const wanted = inOrder(listed, keys[by], 'desc').slice(0, most)
        const ids: string[] = []
        for (let page = 1; ; page++) {
          const found = await latestBooks(sql, viewer, { by, libraryId, most, page, pageSize: 11 })
          equal(found.total, wanted.length)
          if (found.ids.length === 0) break
          ids.push(...found.ids)
        }
        deepEqual(ids, wanted)
      },
    ),
    { numRuns: 80, seed: 15 },
  )
})
