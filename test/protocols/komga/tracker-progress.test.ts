// Read progress for trackers: counts of a series and a read list, in the order of each.
import t from 'tap'
import { unrestrictedViewer } from '../../../lib/accounts/viewer.ts'
import { NotFound } from '../../../lib/base/errors.ts'
import { newId } from '../../../lib/base/id.ts'
import {
  booksUpTo,
  readListBooks,
  readListProgress,
  seriesProgress,
} from '../../../lib/protocols/komga/tracker-progress.ts'
import { createServices } from '../../../lib/store/services.ts'
import { insertAccount } from '../../kit/accounts.ts'
import { createDatabase } from '../../kit/db.ts'
import { insertBooks } from '../../kit/reading.ts'

const { sql } = await createDatabase(t)
const db = { sql, services: createServices(sql) }
const { id: account } = await insertAccount(sql, 'reader')
const viewer = unrestrictedViewer(account)
const { series, books } = await insertBooks(sql, [5, 5, 5, 5, 5])
const [first, second, third, fourth, gone] = books as [string, string, string, string, string]
for (const [id, number, month] of [
  [first, 1, 4],
  [second, 2.5, 3],
  [third, 3, null],
  [fourth, 4, 1],
  [gone, 5, 2],
] as const)
  await sql`
    update book set number_sort = ${number}, year = ${month && 2020}, month = ${month}
    where id = ${id}`
await sql`update book set missing_at = now() where id = ${gone}`
const progress = (id: string, page: number, isCompleted: boolean) => sql`
  insert into progress (account_id, book_id, current_page, is_completed)
  values (${account}, ${id}, ${page}, ${isCompleted})
  on conflict (account_id, book_id) do update
    set current_page = excluded.current_page, is_completed = excluded.is_completed`

t.test('a series counts what is read, and how far without a gap', async t => {
  const counts = { booksCount: 4, booksReadCount: 0, booksUnreadCount: 4, booksInProgressCount: 0 }
  t.same(await seriesProgress(sql, viewer, series), {
    ...counts,
    ...{ lastReadContinuousNumberSort: 0, maxNumberSort: 4 },
  })
  await progress(first, 5, true)
  await progress(second, 0, false)
  await progress(third, 2, false)
  await progress(fourth, 5, true)
  t.same(await seriesProgress(sql, viewer, series), {
    ...{ booksCount: 4, booksReadCount: 2, booksUnreadCount: 1, booksInProgressCount: 1 },
    ...{ lastReadContinuousNumberSort: 1, maxNumberSort: 4 },
  })
  await progress(second, 5, true)
  await progress(third, 5, true)
  t.match(await seriesProgress(sql, viewer, series), {
    ...{ booksReadCount: 4, booksUnreadCount: 0, lastReadContinuousNumberSort: 4 },
  })
  await t.rejects(seriesProgress(sql, viewer, newId()), NotFound)
  await t.rejects(booksUpTo(sql, viewer, newId(), 1), NotFound)
})

t.test('a number selects the books up to it, as a 32-bit float too', async t => {
  const upTo = async (number: number) => (await booksUpTo(sql, viewer, series, number)).toSorted()
  t.same(await upTo(0), [])
  t.same(await upTo(1), [first])
  t.same(await upTo(Math.fround(2.5) - 1e-6), [first, second].toSorted())
  t.same(await upTo(9), [first, second, third, fourth].toSorted())
})

t.test('a read list is in its order, or in that of the release dates', async t => {
  const id = newId()
  await sql`insert into read_list (id, name, name_key) values (${id}, 'List', 'list')`
  for (const [i, book] of [second, third, first, fourth, gone].entries())
    await sql`
      insert into read_list_book (read_list_id, book_id, position) values (${id}, ${book}, ${i + 1})`
  const reader = { viewer, isAdmin: false }
  const listed = async () => (await readListBooks(db, reader, id)).books
  t.same(
    (await listed()).map(book => book.id),
    [fourth, second, first, third],
  )
  await sql`update read_list set is_ordered = true where id = ${id}`
  t.same(
    (await listed()).map(book => book.id),
    [second, third, first, fourth],
  )
  await progress(third, 0, false)
  await progress(first, 2, false)
  t.same(readListProgress(await listed()), {
    ...{ booksCount: 4, booksReadCount: 2, booksUnreadCount: 1, booksInProgressCount: 1 },
    lastReadContinuousIndex: 1,
  })
})
