// What readers go on with, beside a plain evaluation of all rows, under many random writes.
import { test } from 'tap'
import { seesBook, type Viewer } from '../../../lib/auth/viewer.ts'
import { booksBegun, onDeck, seriesBegun } from '../../../lib/catalog/progress/on-deck.ts'
import {
  allProgress,
  completeSeries,
  forgetPlace,
  forgetSeries,
  moveTo,
  progressOf,
} from '../../../lib/catalog/progress/progress.ts'
import { recountReading } from '../../../lib/catalog/progress/series-reading.ts'
import { newId } from '../../../lib/id.ts'
import type { Sql } from '../../../lib/postgres/db.ts'
import { database } from '../../kit/db.ts'

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

const open = {
  libraries: null,
  allowedTags: [],
  deniedTags: [],
  ageLimit: null,
  showsUnrated: true,
}

test('lists of what to go on with are what the rows say', async t => {
  const { sql } = await database(t)
  const { libraries, books, series, accounts, tag } = await fill(sql)
  const random = dice(7)
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]!
  const me: Viewer = { ...open, accountId: accounts[0]! }
  const viewers: Record<string, Viewer> = {
    open: me,
    aged: { ...me, ageLimit: 12 },
    'aged and rated': { ...me, ageLimit: 12, showsUnrated: false },
    'of one library': { ...me, libraries: [libraries[0]!] },
    'without a tag': { ...me, deniedTags: [tag] },
    'of a tag': { ...me, allowedTags: [tag], ageLimit: 16 },
  }
  for (let round = 0; round < 60; round++) {
    const bookId = pick(books)
    const one = random()
    if (one < 0.5)
      await moveTo(sql, me, { bookId, position: { currentPage: pick([0, 1, 5, 9, 10]) } })
    else if (one < 0.75) await moveTo(sql, me, { bookId, position: { completed: true } })
    else if (one < 0.85) await forgetPlace(sql, me, bookId)
    else if (one < 0.9) await completeSeries(sql, me, pick(series))
    else if (one < 0.95) await forgetSeries(sql, me, pick(series))
    else {
      await sql`
        update book set missing_at = case when missing_at is null then now() end where id = ${bookId}`
      await settle(sql)
    }
    if (round % 5 > 0) continue
    for (const [name, viewer] of Object.entries(viewers)) {
      const rows = await rowsFor(sql, viewer)
      for (const libraryId of [undefined, libraries[1]!]) {
        const present = rows.filter(b => !b.missing && (!libraryId || b.libraryId === libraryId))
        const asked = { libraryId, page: 1, pageSize: 500 }
        const label = `${name}, round ${round}`
        const whole = await onDeck(sql, viewer, asked)
        t.same(whole, { ids: deckOf(present), total: deckOf(present).length }, `deck, ${label}`)
        const second = await onDeck(sql, viewer, { ...asked, page: 2, pageSize: 2 })
        t.same(second, { ids: whole.ids.slice(2, 4), total: whole.total })
        const begun = byTime(present.filter(b => b.page !== null && !b.isCompleted))
        t.same(await booksBegun(sql, viewer, asked), listed(begun), `begun, ${label}`)
        const read = byTime(present.filter(b => b.page !== null))
        const withCompleted = { ...asked, withCompleted: true }
        t.same(await booksBegun(sql, viewer, withCompleted), listed(read), `read, ${label}`)
        const last = { ...withCompleted, page: Math.ceil(read.length / 3) || 1, pageSize: 3 }
        t.same(
          (await booksBegun(sql, viewer, last)).ids,
          listed(read).ids.slice((last.page - 1) * 3),
        )
        const inSeries = [...new Set(begun.map(b => b.seriesId))].sort()
        const found = await seriesBegun(sql, viewer, asked)
        t.same([found.ids, found.total], [inSeries, inSeries.length], `series, ${label}`)
      }
      const mine = byTime(rows.filter(b => b.page !== null))
      const all = await allProgress(sql, viewer, { offset: 0, limit: 500 })
      t.same(
        all.rows.map(row => row.bookId),
        listed(mine).ids,
      )
    }
  }
  t.equal(await progressOf(sql, { ...me, accountId: accounts[1]! }, books[0]!), null)
  const [drift] = await sql<{ before: string; after: string }[]>`
    select string_agg(r::text, ',' order by r.series_id) as before from series_reading r`
  await settle(sql)
  const [again] = await sql<{ before: string }[]>`
    select string_agg(r::text, ',' order by r.series_id) as before from series_reading r`
  t.equal(drift!.before, again!.before, 'counting anew changes nothing')
})

function deckOf(books: Row[]): string[] {
  const decks = Object.values(Object.groupBy(books, b => b.seriesId)).flatMap(own => {
    const ways = own!.toSorted(
      (a, b) =>
        (a.number ?? Infinity) - (b.number ?? Infinity) ||
        (a.name < b.name ? -1 : a.name > b.name ? 1 : a.id < b.id ? -1 : 1),
    )
    const next = ways.find(b => b.page === null)
    const done = own!.filter(b => b.isCompleted)
    if (!next || done.length === 0 || own!.some(b => b.page !== null && !b.isCompleted)) return []
    return [{ id: next.id, series: next.seriesId, at: Math.max(...done.map(b => b.completedAt!)) }]
  })
  return decks.sort((a, b) => b.at - a.at || (a.series < b.series ? 1 : -1)).map(b => b.id)
}

const byTime = (books: Row[]) =>
  books.toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
const listed = (books: Row[]) => ({ ids: books.map(b => b.id), total: books.length })

async function rowsFor(sql: Sql, viewer: Viewer): Promise<Row[]> {
  return await sql<Row[]>`
    select b.id, b.series_id as "seriesId", b.library_id as "libraryId", b.title,
      b.number_sort as number, b.name_key as name, b.missing_at is not null as missing,
      p.current_page as page, coalesce(p.is_completed, false) as "isCompleted",
      extract(epoch from p.updated_at)::float8 as "updatedAt",
      extract(epoch from p.completed_at)::float8 as "completedAt"
    from book b
    join series s on s.id = b.series_id
    left join progress p on p.account_id = ${viewer.accountId} and p.book_id = b.id
    where ${seesBook(sql, viewer)}`
}

/** As the end of a scan does. */
async function settle(sql: Sql) {
  await sql`
    update series s set book_count = (
      select count(*) from book b where b.series_id = s.id and b.missing_at is null)`
  const all = await sql<{ id: string }[]>`select id from series`
  await recountReading(
    sql,
    all.map(s => s.id),
  )
}

/** Two libraries, eight series, some with ratings and a tag, up to six books of ten pages each. */
async function fill(sql: Sql) {
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
  await settle(sql)
  return { libraries, books, series, accounts, tag }
}

function dice(seed: number) {
  return () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed / 2_147_483_648
  }
}
