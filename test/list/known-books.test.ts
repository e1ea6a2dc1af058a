// Property tests of filtered book lists from what an index of bitmaps has in memory or reads in parts: sort orders, ranges of them, texts,
// and the order of series.
import { deepEqual, equal } from 'node:assert/strict'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { unrestrictedViewer, visibleBook } from '../../lib/accounts/viewer.ts'
import { readingOrder } from '../../lib/catalog/derived/reading-order.ts'
import { type Condition, type Predicate, parseBookFilter } from '../../lib/list/condition.ts'
import { membersOf } from '../../lib/list/index/bitmap.ts'
import {
  type BookRequest,
  createBookIndex,
  createBookSchema,
} from '../../lib/list/index/books/book-index.ts'
import { loadColumnOrder, orderChunks } from '../../lib/list/index/books/book-order.ts'
import { booksInMemory } from '../../lib/list/index/books/book-postings.ts'
import { loadBookSegment } from '../../lib/list/index/books/book-segment.ts'
import {
  booksOfText,
  createTextReader,
  textSearchOf,
} from '../../lib/list/index/books/book-texts.ts'
import type { TextOperator } from '../../lib/list/index/books/text-column.ts'
import { textFields } from '../../lib/list/index/books/text-column.ts'
import { idAt } from '../../lib/list/index/id-table.ts'
import { createListIndex } from '../../lib/list/index/list-index.ts'
import type { SortOrder } from '../../lib/list/index/sort-order.ts'
import { type BookListRequest, listBooks } from '../../lib/list/list-books.ts'
import { lists as listServices } from '../../lib/list/lists.ts'
import { bookOrderBy, bookSortColumns, type IdPage } from '../../lib/list/sort.ts'
import { booksWhere } from '../../lib/list/sql/book-fields.ts'
import { type BookList, readBooks } from '../../lib/list/sql/book-statement.ts'
import { searchCondition } from '../../lib/list/sql/search.ts'
import { parseSearchQuery } from '../../lib/media/name/search-text.ts'
import { connectionsLike } from '../../lib/store/postgres/db.ts'
import { createServices } from '../../lib/store/services.ts'
import { createDatabase } from '../kit/db.ts'
import { makeFacts, storeFacts } from './catalog-facts.ts'
import { environmentOf } from './environment.ts'
import { createOracle, holds as holdsFor } from './oracle.ts'
import { bookConditions, viewers } from './random-conditions.ts'

const { sql } = await createDatabase(t)
const facts = makeFacts(17, 40)
await storeFacts(sql, facts)
const environment = environmentOf(sql, {
  folder: { path: join(t.testdir(), 'lists'), hasSpace: () => true },
})
const textReader = createTextReader(environment)
const [account] = facts.accounts as [string]
const viewer = unrestrictedViewer(account)
const { testBook, isVisibleBook } = createOracle(facts, account)
const sorts = Object.keys(bookSortColumns) as (keyof typeof bookSortColumns)[]
const directions = ['asc', 'desc'] as const
const predicateOf = (
  field: 'title' | 'path' | 'summary',
  operator: TextOperator = 'contains',
  value = 'a',
) => ({
  ...{ field, negated: false },
  test: { kind: 'text', operator, value } as const,
})

t.test('chunks make up every order, from both ends', async t => {
  const segment = (await loadBookSegment(sql, { maxBytes: 10 ** 9, textReader }))!
  for (const sort of sorts)
    for (const direction of directions)
      for (const reversed of [false, true]) {
        const found: string[] = []
        for await (const chunk of orderChunks(sql, segment, {
          sort,
          direction,
          reversed,
          rows: 3,
        })) {
          equal(chunk.version, segment.version)
          found.push(...chunk.books.map(book => idAt(segment.ids, book)))
        }
        const rows = await sql<{ id: string }[]>`
          select b.id from book b order by ${bookOrderBy(sql, 'b', { sort, direction, reversed })}`
        t.same(
          found,
          rows.map(row => row.id),
          `${sort} ${direction} ${reversed}`,
        )
      }
  const walk = orderChunks(sql, segment, {
    sort: 'size',
    direction: 'asc',
    reversed: false,
    rows: 3,
  })
  await walk.next()
  await sql`update book set size = size where id = ${facts.books[0]!.id}`
  const { value } = await walk.next()
  t.not(value!.version, segment.version, 'a chunk of another version of the catalog')
})

const lists = fc.record({
  sort: fc.constantFrom(...sorts, 'series' as const),
  direction: fc.constantFrom(...directions),
  includeDeleted: fc.boolean(),
  libraryId: fc.option(fc.constantFrom(...facts.libraries), { freq: 1, nil: undefined }),
  filter: bookConditions(facts).map(condition => parseBookFilter(condition)!),
})

function orderBy({ sort, direction }: Pick<BookRequest, 'sort' | 'direction'>) {
  const way = direction === 'desc' ? sql`desc` : sql`asc`
  if (sort === 'series')
    return sql`s.sort_key ${way}, s.id ${way}, ${readingOrder(sql, 'b', direction)}`
  return bookOrderBy(sql, 'b', { sort: sort as 'title', direction, reversed: false })
}

t.test(
  'pages have the books of the oracle, with orders and texts in memory and without',
  async t => {
    const index = createListIndex({ ...createBookSchema(environment), warmUp: [] }, environment, {
      pause: 0,
    })
    const all = { filter: null, sort: 'title', direction: 'asc', offset: 0, limit: 1 } as const
    index.refresh(viewer, all)
    await index.idle()
    const isInMemory = fc.boolean()
    await fc.assert(
      fc.asyncProperty(lists, viewers(facts, account), isInMemory, async (list, one, inMemory) => {
        const { segment } = (await index.matching(sql, viewer, all))!
        if (inMemory) {
          const { textReader } = segment.origin
          for (const field of ['title', 'path', 'summary'] as const)
            textReader.readLater(segment, field)
          index.refresh(one, { ...list, offset: 0, limit: 1 })
          await Promise.all([textReader.idle(), index.idle()])
        }
        const rows = await sql<{ id: string }[]>`
        select b.id from book b join series s on s.id = b.series_id
        where ${visibleBook(sql, one)} order by ${orderBy(list)}`
        const listed = new Set(
          facts.books
            .filter(b => list.includeDeleted || !b.missing)
            .filter(b => list.libraryId === undefined || b.series.library === list.libraryId)
            .filter(isVisibleBook(one))
            .filter(b => holdsFor(list.filter.condition, testBook(b)))
            .map(b => b.id),
        )
        const expected = rows.map(row => row.id).filter(id => listed.has(id))
        for (let offset = 0; offset <= expected.length; offset += 31) {
          const page = await index.page(sql, one, { ...list, offset, limit: 31 })
          deepEqual(page, { total: expected.length, ids: expected.slice(offset, offset + 31) })
        }
      }),
      { numRuns: 20, seed: 31 },
    )
    t.end()
  },
)

const searches = fc.record({
  sort: fc.constantFrom(...sorts, 'series' as const, 'read' as const, 'relevance' as const),
  direction: fc.constantFrom(...directions),
  includeDeleted: fc.boolean(),
  libraryId: fc.option(fc.constantFrom(...facts.libraries), { freq: 1, nil: undefined }),
  filter: fc.option(bookConditions(facts).map(condition => parseBookFilter(condition)!)),
  text: fc.constantFrom(
    'one',
    'naruto',
    '巨',
    'emile',
    'piece 3',
    'x',
    'onepiece',
    'the one',
    'zzz',
  ),
})

/** With the search as a part of the condition. */
function searched({ text, filter, ...list }: Searched): Omit<BookList, 'offset' | 'limit'> {
  const all = [searchCondition(text), ...(filter ? [filter.condition] : [])]
  return { ...list, search: parseSearchQuery(text), filter: { of: 'book', condition: { all } } }
}
type Searched = typeof searches extends fc.Arbitrary<infer List> ? List : never

t.test('searches find the same as without an index, in the same order', async t => {
  const index = createBookIndex(environment, { pause: 0 })
  const all = { filter: null, sort: 'title', direction: 'asc', offset: 0, limit: 1 } as const
  index.refresh(viewer, all)
  await index.idle()
  let found = 0
  await fc.assert(
    fc.asyncProperty(searches, viewers(facts, account), async (list, one) => {
      for (const offset of [0, 20]) {
        const window = { ...searched(list), offset, limit: 20 }
        const page = await index.page(sql, one, window)
        deepEqual(page, await readBooks(sql, one, window))
        found += page!.ids.length
      }
    }),
    { numRuns: 25, seed: 41 },
  )
  t.ok(found > 0, `${found} books`)
})

/** Books in folders within each other, by names that have nothing to do with their ids. */
async function scatterBooks() {
  await sql`
    insert into directory (id, library_id, path)
    select gen_random_uuid(), l.id, convert_to(p, 'UTF8')
    from library l, unnest(array['', 'Köln/Ab', 'Köln b', 'zz/KÖLN']) p`
  await sql`
    update book b
    set name = convert_to(substr(md5(b.id::text), 1, 6) || ' É -1.CBZ', 'UTF8'), directory_id = (
      select d.id from directory d where d.library_id = b.library_id
      order by md5(d.path || uuid_send(b.id)) limit 1)`
}

t.test('by path books are listed as without an index', async t => {
  await scatterBooks()
  const index = createBookIndex(environment, { pause: 0 })
  const all = { filter: null, sort: 'path', direction: 'asc', offset: 0, limit: 500 } as const
  t.equal(await index.page(sql, viewer, all), null)
  index.refresh(viewer, all)
  await index.idle()
  await fc.assert(
    fc.asyncProperty(searches, viewers(facts, account), async (search, one) => {
      const { sort: _, text, ...scope } = search
      for (const list of [{ ...scope, search: null }, searched(search)]) {
        const keys = [{ sort: 'path', direction: scope.direction }] as const
        const window = { ...list, sort: 'title', offset: 7, limit: 30 } as const
        const expected = await readBooks(sql, one, { ...window, keys })
        deepEqual(await index.page(sql, one, { ...window, sort: 'path' }), expected)
      }
    }),
    { numRuns: 20, seed: 43 },
  )
})

t.test('few books are sorted by any keys as without an index', async t => {
  const statements: string[] = []
  const pool = connectionsLike(sql, { max: 2, connection: {} })
  t.teardown(() => pool.end())
  Object.assign(pool.options, { debug: (_: number, text: string) => statements.push(text) })
  const pooled = { sql: pool, services: createServices(pool) }
  const list = (i: number) => {
    const [search] = fc.sample(searches, { numRuns: 1, seed: i })
    const { sort: _, direction, text, ...scope } = search!
    const keys = [
      { sort: 'format', direction },
      { sort: 'size', direction: 'asc' },
    ] as const
    const [one] = fc.sample(viewers(facts, account), { numRuns: 1, seed: i })
    const words = i % 2 === 0 ? text : ''
    const request: BookListRequest = { ...scope, keys, text: words, page: 2, pageSize: 5 }
    return listBooks(pooled, one!, request)
  }
  const lists = Array.from({ length: 16 }, (_, i) => i)
  const expected: IdPage[] = []
  for (const i of lists) expected.push(await list(i))
  const { books: index } = pooled.services(listServices)
  index.refresh(viewer, {
    filter: null,
    sort: 'title',
    direction: 'asc',
    offset: 0,
    limit: 1,
  })
  await index.idle()
  statements.length = 0
  for (const i of lists) deepEqual(await list(i), expected[i])
  t.notOk(
    statements.some(text => text.includes('select count(*)::float8 from book')),
    'no list is counted by the database',
  )
})

t.test('texts need no pass of the books once they are in memory', async t => {
  const segment = (await loadBookSegment(sql, { maxBytes: 10 ** 9, textReader }))!
  t.equal(await booksOfText(segment, textSearchOf(predicateOf('path'))!), null)
  textReader.readLater(segment, 'path')
  await textReader.idle()
  t.ok(await booksOfText(segment, textSearchOf(predicateOf('path'))!))
})

t.test('a new condition finds what it needs in memory', async t => {
  const index = createBookIndex(environment, { pause: 0 })
  const all = { filter: null, sort: 'title', direction: 'asc', offset: 0, limit: 5 } as const
  index.refresh(viewer, all)
  await index.idle()
  const pool = connectionsLike(sql, { max: 1, connection: {} })
  t.teardown(() => pool.end())
  const statements: string[] = []
  Object.assign(pool.options, { debug: (_: number, text: string) => statements.push(text) })
  const conditions = {
    title: { operator: 'contains', value: 'a' },
    path: { operator: 'contains', value: 'a' },
    pageCount: { operator: 'gt', value: 1 },
    releaseDate: { operator: 'isNull' },
    summary: { operator: 'isNull' },
  }
  for (const [field, condition] of Object.entries(conditions)) {
    statements.length = 0
    const filter = parseBookFilter({ [field]: condition })!
    t.ok(await index.page(pool, viewer, { ...all, filter }), field)
    t.ok(statements.length > 0)
    t.notOk(
      statements.some(text => text.includes('string_agg')),
      `no ids are read for ${field}`,
    )
  }
  const readsIds = async (condition: object) => {
    statements.length = 0
    t.ok(await index.page(pool, viewer, { ...all, filter: parseBookFilter(condition) }))
    return statements.some(text => text.includes('string_agg'))
  }
  t.ok(await readsIds({ format: { operator: 'is', value: 'cbz' } }))
  t.notOk(await readsIds({ format: { operator: 'isNot', value: 'CBZ' } }), 'formats are shared')
})

t.test('ranges and texts in memory have the books that conditions select', async t => {
  const segment = (await loadBookSegment(sql, { maxBytes: 10 ** 9, textReader }))!
  const orders = new Map<string, SortOrder>()
  for (const sort of sorts) orders.set(sort, (await loadColumnOrder(sql, segment, sort))!)
  for (const field of textFields) textReader.readLater(segment, field)
  await textReader.idle()
  const leaves = (condition: Condition): Predicate[] => {
    if ('all' in condition) return condition.all.flatMap(leaves)
    return 'any' in condition ? condition.any.flatMap(leaves) : [condition]
  }
  const filters = fc.sample(bookConditions(facts), { numRuns: 150, seed: 51 }).map(parseBookFilter)
  const paths = [
    'köln/',
    'köln/a',
    'ab/',
    'Köln',
    'ln b',
    'zz/kÖln',
    '-1.cbz',
    'É',
    'a',
    '/',
    'köln/ab',
  ]
  const predicates = [
    ...filters.flatMap(filter => leaves(filter!.condition)),
    ...paths.flatMap(value =>
      (['equals', 'contains', 'beginsWith', 'endsWith'] as const).map(operator =>
        predicateOf('path', operator, value),
      ),
    ),
  ]
  const checked = new Map<string, number>()
  for (const predicate of predicates) {
    const request = { segment, predicate, withMissing: false, present: null }
    const found = await booksInMemory(sql, { ...request, known: async name => orders.get(name) })
    if (!found) continue
    const ids = [...membersOf(found.bitmap)].map(book => idAt(segment.ids, book))
    const holds = booksWhere({ sql, viewer, isOfFew: true }, { ...predicate, negated: false })
    const rows = await sql<{ id: string }[]>`
      select b.id from book b where b.missing_at is null and ${holds}`
    deepEqual(ids.sort(), rows.map(row => row.id).sort(), JSON.stringify(predicate))
    checked.set(predicate.field, (checked.get(predicate.field) ?? 0) + 1)
  }
  for (const field of ['title', 'path', 'summary', 'pageCount', 'releaseDate'])
    t.ok(checked.get(field)! > 5, `${checked.get(field)} predicates on ${field}`)
})
