// Property tests of filtered book lists located by rank marks: against the oracle, and against a plain query
// while the catalogue and what accounts read change.
import { deepEqual, equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { presentBook, type Viewer, visibleBook } from '../../../lib/auth/viewer.ts'
import { refreshSeriesReading } from '../../../lib/catalog/derived/series-reading.ts'
import { type BookFilter, parseBookFilter } from '../../../lib/catalog/list/condition.ts'
import { combineListChanges, hasVersion } from '../../../lib/catalog/list/marks/list-version.ts'
import type { MarkedRequest } from '../../../lib/catalog/list/marks/page-by-marks.ts'
import { createRankMarks, type RankMarks } from '../../../lib/catalog/list/marks/rank-marks.ts'
import { testOfBook } from '../../../lib/catalog/list/plan/book-plan.ts'
import {
  type BookColumnSort,
  bookOrderBy,
  bookSortColumns,
} from '../../../lib/catalog/list/sort.ts'
import { createDatabase } from '../../kit/db.ts'
import { makeFacts, storeFacts } from './catalog-facts.ts'
import { createOracle, holds } from './oracle.ts'
import { bookConditions, viewers } from './random-conditions.ts'

const { sql } = await createDatabase(t)
const facts = makeFacts(13, 40)
await storeFacts(sql, facts)
const [account] = facts.accounts as [string]
const { testBook, isVisibleBook } = createOracle(facts, account)
const pageSize = 7

type List = Omit<MarkedRequest, 'offset' | 'limit' | 'filter'> & { filter: BookFilter }

/** In order, each book tested alone. */
async function plainList(viewer: Viewer, list: List): Promise<string[]> {
  const { exact } = await testOfBook(sql, viewer, list)
  const rows = await sql<{ id: string }[]>`
    select b.id from book b join series s on s.id = b.series_id
    where ${list.includeDeleted ? sql`true` : presentBook(sql)} and ${visibleBook(sql, viewer)}
      and ${list.libraryId === undefined ? sql`true` : sql`b.library_id = ${list.libraryId}`}
      and ${exact}
    order by ${bookOrderBy(sql, 'b', { ...list, reversed: false })}`
  return rows.map(row => row.id)
}

/** Buckets of 5 books are walked; those of 64 with one or two have their ids. */
const marksOf: Record<number, RankMarks> = Object.fromEntries(
  [5, 64].map(minBucketRows => [minBucketRows, createRankMarks({ minBucketRows, pause: 0 })]),
)

/** Compares every page by marks; an empty list has none. */
async function checkPages(marks: RankMarks, viewer: Viewer, list: List, expected: string[]) {
  for (let offset = 0; offset < expected.length; offset += pageSize) {
    const request = { ...list, offset, limit: pageSize }
    let page = await marks.page(sql, viewer, request)
    if (!page) {
      marks.refresh(sql, viewer, request)
      await marks.idle()
      page = await marks.page(sql, viewer, request)
    }
    deepEqual(page?.ids, expected.slice(offset, offset + pageSize))
    equal(page?.total, expected.length)
  }
}

const lists = fc.record({
  sort: fc.constantFrom(...(Object.keys(bookSortColumns) as BookColumnSort[])),
  direction: fc.constantFrom('asc', 'desc'),
  includeDeleted: fc.boolean(),
  libraryId: fc.option(fc.constantFrom(...facts.libraries), { freq: 1, nil: undefined }),
  filter: bookConditions(facts)
    .map(condition => parseBookFilter(condition)!)
    .filter(({ condition }) => hasVersion(condition)),
})

t.test('every page has the books of the oracle', async () => {
  await fc.assert(
    fc.asyncProperty(
      lists,
      viewers(facts, account),
      fc.constantFrom(5, 64),
      async (list, viewer, bucketRows) => {
        const expected = await plainList(viewer, list)
        const listed = facts.books
          .filter(b => list.includeDeleted || !b.missing)
          .filter(b => list.libraryId === undefined || b.series.library === list.libraryId)
          .filter(isVisibleBook(viewer))
          .filter(b => holds(list.filter.condition, testBook(b)))
        deepEqual([...expected].sort(), listed.map(b => b.id).sort())
        await checkPages(marksOf[bucketRows]!, viewer, list, expected)
      },
    ),
    { numRuns: 60, seed: 21 },
  )
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
  combine: () => combineListChanges(sql),
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
        const marks = marksOf[5]!
        const firstPage = { offset: 0, limit: 500 }
        for (const list of some)
          await checkPages(marks, viewer, list, await plainList(viewer, list))
        for (const [change, id] of changed) {
          await changes[change](id)
          for (const list of some) {
            const page = await marks.page(sql, viewer, { ...list, ...firstPage })
            if (page) deepEqual(page.ids, await plainList(viewer, list))
            // Read from the counters of before: not to be used when these are derived.
            marks.refresh(sql, viewer, { ...list, ...firstPage })
          }
          await marks.idle()
          await derive(id)
        }
        for (const list of some)
          await checkPages(marks, viewer, list, await plainList(viewer, list))
      },
    ),
    { numRuns: 50, seed: 22 },
  )
})
