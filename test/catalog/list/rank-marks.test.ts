// Property tests of pages located by rank marks: against a plain query, while the catalogue changes.
import { deepEqual, equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { presentBook, type Viewer, visibleBook } from '../../../lib/auth/viewer.ts'
import { combineListChanges } from '../../../lib/catalog/list/marks/list-version.ts'
import type { MarkedRequest } from '../../../lib/catalog/list/marks/page-by-marks.ts'
import { createRankMarks } from '../../../lib/catalog/list/marks/rank-marks.ts'
import {
  type BookColumnSort,
  bookOrderBy,
  bookSortColumns,
} from '../../../lib/catalog/list/sort.ts'
import { createDatabase } from '../../kit/db.ts'
import { makeFacts, storeFacts } from './catalog-facts.ts'
import { viewers } from './random-conditions.ts'

const { sql } = await createDatabase(t)
const facts = makeFacts(11, 40)
await storeFacts(sql, facts)
const [account] = facts.accounts as [string]
const pageSize = 7

async function plainList(viewer: Viewer, request: MarkedRequest) {
  const { libraryId, includeDeleted } = request
  const rows = await sql<{ id: string }[]>`
    select b.id from book b join series s on s.id = b.series_id
    where ${includeDeleted ? sql`true` : presentBook(sql)} and ${visibleBook(sql, viewer)}
      and ${libraryId === undefined ? sql`true` : sql`b.library_id = ${libraryId}`}
    order by ${bookOrderBy(sql, 'b', { ...request, reversed: false })}`
  return rows.map(row => row.id)
}

const marks = createRankMarks({ minBucketRows: 5, pause: 0 })

async function pageByMarks(viewer: Viewer, request: MarkedRequest) {
  for (;;) {
    const page = await marks.page(sql, viewer, request)
    if (page) return page
    marks.refresh(sql, request)
    await marks.idle()
  }
}

const ids = (rows: { id: string }[]) => fc.constantFrom(...rows.map(row => row.id))
const changes = fc.oneof(
  fc.record({ change: fc.constant('hide' as const), id: ids(facts.books) }),
  fc.record({ change: fc.constant('show' as const), id: ids(facts.books) }),
  fc.record({ change: fc.constant('move' as const), id: ids(facts.books) }),
  fc.record({ change: fc.constant('delete' as const), id: ids(facts.books) }),
  fc.record({ change: fc.constant('rate' as const), id: ids(facts.series) }),
  fc.record({ change: fc.constant('untag' as const), id: ids(facts.series) }),
)
type Change = typeof changes extends fc.Arbitrary<infer C> ? C : never

async function apply({ change, id }: Change) {
  const statements = {
    hide: () => sql`update book set missing_at = now() where id = ${id}`,
    show: () => sql`update book set missing_at = null where id = ${id}`,
    move: () => sql`
      update book set sort_key = 'm', number_sort = null, size = size + 7, year = 1991,
        age_rating = 12 where id = ${id}`,
    delete: () => sql`delete from book where id = ${id}`,
    rate: () => sql`
      update series set age_rating = case when age_rating is null then 12 end where id = ${id}`,
    untag: () => sql`delete from series_sharing_tag where series_id = ${id}`,
  }
  await statements[change]()
}

t.test('every page is that of the plain list, after any change', async () => {
  const sorts = fc.constantFrom(...(Object.keys(bookSortColumns) as BookColumnSort[]))
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        sort: sorts,
        direction: fc.constantFrom('asc', 'desc'),
        includeDeleted: fc.boolean(),
        libraryId: fc.option(fc.constantFrom(...facts.libraries), { freq: 2, nil: undefined }),
      }),
      viewers(facts, account),
      fc.array(changes, { maxLength: 2 }),
      async (order, viewer, changed) => {
        for (const change of changed) await apply(change)
        const expected = await plainList(viewer, { ...order, offset: 0, limit: 0 })
        for (let offset = 0; offset <= expected.length; offset += pageSize) {
          const page = await pageByMarks(viewer, { ...order, offset, limit: pageSize })
          deepEqual(page.ids, expected.slice(offset, offset + pageSize))
          equal(page.total, expected.length)
        }
      },
    ),
    { numRuns: 60, seed: 5 },
  )
})

t.test('a change that is not committed leaves the marks of others valid', async t => {
  const viewer = await fc.sample(viewers(facts, account), { numRuns: 1, seed: 1 })[0]!
  const request = { sort: 'size', direction: 'asc', offset: 10, limit: pageSize } as const
  const before = await pageByMarks(viewer, request)
  await sql.begin(async tx => {
    await tx`update book set size = 1 - size`
    t.same(await marks.page(sql, viewer, request), before)
  })
  t.equal(await marks.page(sql, viewer, request), null)
})

t.test('combining the rows of changes leaves marks valid', async t => {
  const viewer = { ...fc.sample(viewers(facts, account), { numRuns: 1, seed: 1 })[0]! }
  const request = { sort: 'title', direction: 'desc', offset: 0, limit: pageSize } as const
  await pageByMarks(viewer, request)
  const all = { olderThanMs: 0 }
  await Promise.all([combineListChanges(sql, all), combineListChanges(sql, all)])
  t.not(await marks.page(sql, viewer, request), null)
  const [row] = await sql<{ rows: number }[]>`
    select count(*)::integer as rows from list_change where subject = 'book'`
  t.equal(row!.rows, 1)
})

t.test('a catalogue without books has no marks', async t => {
  await sql`delete from book`
  const request = { sort: 'title', direction: 'asc', offset: 0, limit: pageSize } as const
  const viewer = fc.sample(viewers(facts, account), 1)[0]!
  marks.refresh(sql, request)
  await marks.idle()
  t.equal(await marks.page(sql, viewer, request), null)
})
