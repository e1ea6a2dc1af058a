// "Continue reading" lists against an evaluation over all rows, after many random writes.
import { type Test, test } from 'tap'
import { unrestrictedViewer, type Viewer, visibleBook } from '../../../lib/accounts/viewer.ts'
import { newId } from '../../../lib/base/id.ts'
import { refreshSeriesReading } from '../../../lib/catalog/derived/series-reading.ts'
import { type MarkSelection, markBooks } from '../../../lib/reading/mark.ts'
import {
  booksInProgress,
  booksOnDeck,
  seriesInProgress,
} from '../../../lib/reading/progress/continue-reading.ts'
import { type ReadingWrite, recordReading } from '../../../lib/reading/record.ts'
import { findProgress, listProgress } from '../../../lib/reading/routes/progress.ts'
import type { Sql } from '../../../lib/store/postgres/db.ts'
import { createServices } from '../../../lib/store/services.ts'
import { createDatabase } from '../../kit/db.ts'
import { createRandom } from '../../kit/random.ts'
import { testOrigin } from '../../kit/reading.ts'

type Row = {
  id: string
  seriesId: string
  libraryId: string
  title: string
  number: number | null
  name: string
  missing: boolean
  page: number | null
  isCompleted: boolean
  updatedAt: number
  completedAt: number | null
}

for (const seed of [1, 2])
  test(`continue-reading lists agree with the rows, for viewers with different limits, seed ${seed}`, t =>
    compareLists(t, seed))

async function compareLists(t: Test, seed: number) {
  const { sql } = await createDatabase(t)
  const db = { sql, services: createServices(sql) }
  const { libraries, books, series, accounts, tag } = await insertCatalog(sql)
  const { next, pick } = createRandom(seed)
  const reader = unrestrictedViewer(accounts[0]!)
  const viewers: Record<string, Viewer> = {
    unrestricted: reader,
    'age limit': { ...reader, ageLimit: 12 },
    'age limit, only rated': { ...reader, ageLimit: 12, showsUnrated: false },
    'one library': { ...reader, libraries: [libraries[0]!] },
    'denied tag': { ...reader, deniedTags: [tag] },
    'allowed tag': { ...reader, allowedTags: [tag], ageLimit: 16 },
  }
  const write = (request: ReadingWrite) => recordReading(sql, reader, testOrigin, request)
  const mark = (name: 'read' | 'unread', selection: MarkSelection) =>
    markBooks(sql, reader, { ...selection, mark: name, origin: testOrigin })
  for (let round = 0; round < 20; round++) {
    const bookId = pick(books)
    const action = next()
    if (action < 0.5) await write({ bookId, currentPage: pick([0, 1, 5, 9, 10]) })
    else if (action < 0.75) await write({ bookId, completed: true })
    else if (action < 0.85) await mark('unread', { books: [bookId] })
    else if (action < 0.9) await mark('read', { series: [pick(series)] })
    else if (action < 0.95) await mark('unread', { series: [pick(series)] })
    else {
      await sql`
        update book set missing_at = case when missing_at is null then now() end where id = ${bookId}`
      await refreshCounters(sql)
    }
    if (round % 5 > 0) continue
    for (const [name, viewer] of Object.entries(viewers)) {
      const rows = await visibleRows(sql, viewer)
      for (const libraryId of [undefined, libraries[1]!]) {
        const present = rows.filter(b => !b.missing && (!libraryId || b.libraryId === libraryId))
        const request = { libraryId, page: 1, pageSize: 500 }
        const label = `${name}, round ${round}`
        const deck = await booksOnDeck(sql, viewer, request)
        const expectedDeck = deckOf(present)
        t.same(deck, { ids: expectedDeck, total: expectedDeck.length }, `on deck, ${label}`)
        const page2 = await booksOnDeck(sql, viewer, { ...request, page: 2, pageSize: 2 })
        t.same(page2, { ids: deck.ids.slice(2, 4), total: deck.total })
        const inProgress = byTime(present.filter(b => b.page !== null && !b.isCompleted))
        t.same(
          await booksInProgress(db, viewer, request),
          idPage(inProgress),
          `in progress, ${label}`,
        )
        const second = await booksInProgress(db, viewer, { ...request, page: 2, pageSize: 2 })
        const { ids: all, total: count } = idPage(inProgress)
        t.same(second, { ids: all.slice(2, 4), total: count }, `in progress, page 2, ${label}`)
        const read = byTime(present.filter(b => b.page !== null))
        const withCompleted = { ...request, includeCompleted: true }
        t.same(await booksInProgress(db, viewer, withCompleted), idPage(read), `read, ${label}`)
        const last = { ...withCompleted, page: Math.ceil(read.length / 3) || 1, pageSize: 3 }
        t.same(
          (await booksInProgress(db, viewer, last)).ids,
          idPage(read).ids.slice((last.page - 1) * 3),
        )
        const seriesIds = [...new Set(inProgress.map(b => b.seriesId))].sort()
        const { ids, total } = await seriesInProgress(sql, viewer, request)
        t.same([ids, total], [seriesIds, seriesIds.length], `series, ${label}`)
      }
      const withProgress = byTime(rows.filter(b => b.page !== null))
      const { rows: listed } = await listProgress(db, viewer, { offset: 0, limit: 500 })
      t.same(
        listed.map(row => row.bookId),
        idPage(withProgress).ids,
      )
    }
  }
  t.equal(await findProgress(sql, { ...reader, accountId: accounts[1]! }, books[0]!), null)
  const before = await readCounters(sql)
  await refreshCounters(sql)
  t.equal(await readCounters(sql), before, 'a refresh of all counters changes nothing')
}

async function readCounters(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ counters: string | null }[]>`
    select string_agg(r::text, ',' order by r.series_id) as counters from series_reading r`
  return row!.counters
}

function deckOf(books: Row[]): string[] {
  const decks = Object.values(Object.groupBy(books, b => b.seriesId)).flatMap(own => {
    const inOrder = own!.toSorted(
      (a, b) =>
        (a.number ?? Infinity) - (b.number ?? Infinity) ||
        (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1),
    )
    const next = inOrder.find(b => b.page === null)
    const completed = own!.filter(b => b.isCompleted)
    if (!next || completed.length === 0) return []
    if (own!.some(b => b.page !== null && !b.isCompleted)) return []
    const at = Math.max(...completed.map(b => b.completedAt!))
    return [{ id: next.id, series: next.seriesId, at }]
  })
  return decks.sort((a, b) => b.at - a.at || (a.series < b.series ? 1 : -1)).map(b => b.id)
}

const byTime = (books: Row[]) =>
  books.toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
const idPage = (books: Row[]) => ({ ids: books.map(b => b.id), total: books.length })

async function visibleRows(sql: Sql, viewer: Viewer): Promise<Row[]> {
  return await sql<Row[]>`
    select b.id, b.series_id as "seriesId", b.library_id as "libraryId", b.title,
      b.number_sort as number, b.name_key as name, b.missing_at is not null as missing,
      p.current_page as page, coalesce(p.is_completed, false) as "isCompleted",
      extract(epoch from p.updated_at)::float8 as "updatedAt",
      extract(epoch from p.completed_at)::float8 as "completedAt"
    from book b
    join series s on s.id = b.series_id
    left join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
    where ${visibleBook(sql, viewer)}`
}

/** As the end of a scan does. */
async function refreshCounters(sql: Sql) {
  await sql`
    update series s set book_count = (
      select count(*) from book b where b.series_id = s.id and b.missing_at is null)`
  const all = await sql<{ id: string }[]>`select id from series`
  await refreshSeriesReading(
    sql,
    all.map(s => s.id),
  )
}

/** Two libraries, eight series, some with ratings and a tag, up to six books of ten pages each. */
async function insertCatalog(sql: Sql) {
  const libraries = [newId(), newId()]
  const accounts = [newId(), newId()]
  for (const id of accounts)
    await sql`insert into account (id, username, password_hash) values (${id}, ${id}, '-')`
  const folders = libraries.map(() => newId())
  for (const [i, id] of libraries.entries()) {
    await sql`insert into library (id, name, root) values (${id}, 'Shelf', ${Buffer.from(`/${id}`)})`
    await sql`
      insert into directory (id, library_id, path) values (${folders[i]!}, ${id}, '')`
  }
  const series = Array.from({ length: 8 }, newId)
  const books: string[] = []
  const tag = newId()
  await sql`insert into sharing_tag (id, name) values (${tag}, 'tag')`
  for (const [i, id] of series.entries()) {
    const home = i % 2
    await sql`
      insert into series (id, library_id, key, name, name_key, title, sort_key, search_key, age_rating)
      values (${id}, ${libraries[home]!}, ${id}, 's', 's', 's', 's', 's', ${[null, 6, 18, null][i % 4]!})`
    if (i % 3 === 0)
      await sql`insert into series_sharing_tag (series_id, tag_id) values (${id}, ${tag})`
    for (let j = 0; j <= i % 6; j++) {
      const book = newId()
      books.push(book)
      const number = j % 3 === 2 ? null : 5 - j
      await sql`
        insert into book (id, library_id, series_id, directory_id, name, size, modified_ms, page_count,
          title, sort_key, search_key, name_key, number_sort, age_rating)
        values (${book}, ${libraries[home]!}, ${id}, ${folders[home]!}, ${Buffer.from(book)}, 1, 1, 10,
          'b', 'b', 'b', ${j % 2 === 0 ? 'a' : 'b'}, ${number}, ${[null, 18, 6][(i + j) % 3]!})`
    }
  }
  await refreshCounters(sql)
  return { libraries, books, series, accounts, tag }
}
