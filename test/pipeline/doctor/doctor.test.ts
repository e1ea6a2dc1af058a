// The doctor: every invariant is violated once, detected and repaired.
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { unrestrictedViewer } from '../../../lib/accounts/viewer.ts'
import { booksByIds } from '../../../lib/catalog/book/book-record.ts'
import { thumbnailPath } from '../../../lib/media/image/thumbnail-path.ts'
import { recordReading } from '../../../lib/reading/record.ts'
import { checkCatalog, invariants } from '../../../pipeline/doctor/doctor.ts'
import { dedupe } from '../../../pipeline/finalize/dedupe.ts'
import { createReader } from '../../kit/accounts.ts'
import { openCatalog } from '../../kit/catalog.ts'
import { comic, createTestLibrary, waitForScan } from '../../kit/library.ts'
import { testOrigin } from '../../kit/reading.ts'
import { insertReleaseSource } from '../../kit/releases/polls.ts'

const all = await openCatalog(t)
const { sql, pipeline } = all
const thumbnails = join(all.data, 'thumbnails')
const twin = comic()
const lib = await createTestLibrary(t, all, {
  'A/1.cbz': comic(),
  'A/2.cbz': twin,
  'B/1.cbz': comic({ pages: 3 }),
  'B/2.cbz': twin,
})
const coverPath = (cover: string | null) =>
  thumbnailPath(thumbnails, cover!, all.config.thumbnail.format)
const violations = async () => {
  const { findings } = await checkCatalog({ sql, queue: null, thumbnails })
  return Object.fromEntries(findings.filter(f => f.count > 0).map(f => [f.name, f.count]))
}
const repairAll = () => checkCatalog({ sql, queue: pipeline.queue, thumbnails, repair: true })

/** Waits for the jobs that a repair enqueued. */
async function jobsDone() {
  const scans = await sql<{ id: string }[]>`select id from scan order by created_at desc limit 2`
  for (const { id } of scans) await waitForScan(all, id)
}

await lib.scan()
await dedupe(sql)
const books = await lib.books()
const first = books[0]!

t.test('a new catalog is healthy', async t => {
  t.same(await violations(), {})
})

const cases: Record<string, { violate: () => Promise<unknown>; count?: number }> = {
  'series counters': {
    violate: () =>
      sql`update series set book_count = 9, page_count = 1 where id = ${first.seriesId}`,
  },
  'library counters': {
    violate: () => sql`update library set series_count = 9 where id = ${lib.id}`,
  },
  'search rows of books': {
    violate: async () => {
      await sql`update book_search set is_present = false where book_id = ${first.id}`
      await sql`
        update book_search set text = replace(text, chr(10) || ' ' || 'b' || chr(10), chr(10) || ' renamed' || chr(10))
        where series_id = ${books.at(-1)!.seriesId} and book_id <> ${first.id}`
    },
    count: 3,
  },
  'search rows of series': {
    violate: () => sql`delete from series_search where series_id = ${first.seriesId}`,
  },
  'order of collections': {
    violate: () => sql`
      with made as (
        insert into collection (id, name, name_key)
        values (gen_random_uuid(), 'Twice', 'twice') returning id)
      insert into collection_series (collection_id, series_id, position)
      select made.id, series.id, 1 from made cross join series where library_id = ${lib.id}`,
  },
  'order of read lists': {
    violate: () => sql`
      with made as (
        insert into read_list (id, name, name_key)
        values (gen_random_uuid(), 'Twice', 'twice') returning id)
      insert into read_list_book (read_list_id, book_id, position)
      select made.id, book.id, 1 from made cross join book where library_id = ${lib.id}`,
  },
  'books of read lists': {
    violate: () =>
      sql`
      with made as (
        insert into read_list (id, name, name_key)
        values (gen_random_uuid(), 'Copied', 'copied') returning id)
      insert into read_list_book (read_list_id, book_id, position)
      select made.id, ${first.id}, 1 from made`.then(
        () => sql`update read_list_book set age_rating = 99 where book_id = ${first.id} and position = 1
        and read_list_id = (select id from read_list where name = 'Copied')`,
      ),
  },
  'labels of series': {
    violate: () => sql`update series set genres = '{Ghost}' where id = ${first.seriesId}`,
  },
  'authors of series': {
    violate: () => sql`update series set author_key = 'ghost' where id = ${first.seriesId}`,
  },
  'lowest ages': {
    violate: () => sql`update series set lowest_age = 18 where id = ${first.seriesId}`,
  },
  'first releases': {
    violate: () => sql`update series set released = 20240000 where id = ${first.seriesId}`,
  },
  'reading order': {
    violate: () => sql`update book set volume_sort = 2 where id = ${first.id}`,
  },
  'metadata of books': {
    violate: () => sql`
      with changed as (
        update series_books_metadata set metadata = '{}' where series_id = ${first.seriesId})
      insert into series_books_metadata values (${books.at(-1)!.seriesId}, 44, '{}')`,
    count: 2,
  },
  'reading counters': {
    violate: async () => {
      const reader = await createReader(sql)
      await sql`
        insert into series_reading (account_id, series_id, read_count, started_count, opened_count,
          last_read_at)
        values (${reader.id}, ${first.seriesId}, 1, 0, 0, now())`
    },
  },
  'reading ledger': {
    violate: async () => {
      const viewer = unrestrictedViewer((await createReader(sql)).id)
      const write = (bookId: string, minutesAgo: number, currentPage: number) =>
        recordReading(sql, viewer, testOrigin, {
          ...{ bookId, currentPage, at: new Date(Date.now() - minutesAgo * 60_000) },
        })
      for (const { id } of books) await write(id, 9, 1)
      for (const { id } of books) await write(id, 8, 3)
      const [moved, forgotten, split, unread] = books.map(({ id }) => id)
      await sql`update progress set current_page = 9 where book_id = ${moved!}`
      await sql`delete from reading_pass where book_id = ${forgotten!}`
      await sql`update reading_session set inferred_ms = 1 where book_id = ${split!}`
      await sql`delete from progress where book_id = ${unread!}`
    },
    count: 4,
  },
  'read history without records': {
    violate: async () => {
      const { id } = await createReader(sql)
      const other = { bookId: books[1]!.id, currentPage: 1 }
      await recordReading(sql, unrestrictedViewer(id), testOrigin, other)
      await sql`
        insert into reading_pass (account_id, book_id, started_at, completed_at)
        values (${id}, ${first.id}, now(), now())`
    },
  },
  'folder tree': {
    violate: () => sql`
      update directory set parent_id = null where library_id = ${lib.id} and path <> ''`,
    count: 2,
  },
  'page lists': { violate: () => sql`delete from book_pages where book_id = ${first.id}` },
  'rows of covers and hashes': {
    violate: async () => {
      await sql`delete from book_artifact where book_id = ${first.id}`
      const ids = books.map(book => book.id)
      const records = await booksByIds(sql, unrestrictedViewer(first.id), ids)
      t.equal(records.length, ids.length, 'no book is left out of a list')
    },
  },
  'rows of deleted books': {
    violate: async () => {
      const [{ id }] = await sql<[{ id: string }]>`select gen_random_uuid() as id`
      await sql`insert into book_pages (book_id, pages) values (${id}, '')`
      await sql`insert into book_artifact (book_id) values (${id})`
    },
  },
  'missing candidates': {
    violate: () => sql`
      insert into missing_candidate (library_id, book_id, directory_id)
      select library_id, id, directory_id from book where id = ${first.id}`,
  },
  'pending digests': {
    violate: () =>
      sql`update directory set pending_digest = 'x' where library_id = ${lib.id} and path = 'A'`,
  },
  'series to refresh': {
    violate: () =>
      sql`insert into series_refresh (library_id, series_id) values (${lib.id}, ${first.seriesId})`,
  },
  'duplicate groups': {
    violate: () => sql`
      insert into duplicate_book (group_id, book_id) select id, ${first.id} from duplicate_group
      where kind = 'book'`,
  },
  'ungrouped duplicates': {
    violate: () => sql`delete from duplicate_group where kind = 'book'`,
    count: 2,
  },
  'history of releases': {
    async violate() {
      await sql`
        insert into series_tracking (series_id) values (${first.seriesId}) on conflict do nothing`
      const { id } = await insertReleaseSource(sql)
      await sql`
        insert into release (id, source_id, series_id, external_release_id, state, payload_url, confidence)
        values (${id}, ${id}, ${first.seriesId}, 'r', 'announced', 'https://example.org', 1)`
    },
  },
  'keys of aliases': {
    violate: () => sql`
      insert into series_alias (id, series_id, alias, alias_key)
      values (gen_random_uuid(), ${first.seriesId}, 'Alias', 'old key')`,
  },
  'group sizes': {
    violate: () => sql`insert into duplicate_group (kind, key) values ('title', 'empty')`,
  },
  'cover files': { violate: async () => rmSync(coverPath(first.cover)), count: 4 },
  'orphan covers': {
    violate: async () => {
      const path = coverPath('ab'.repeat(20))
      mkdirSync(dirname(path), { recursive: true })
      for (const file of [path, `${path}.0123abcd`]) {
        writeFileSync(file, 'no book names it')
        utimesSync(file, 1, 1)
      }
    },
    count: 2,
  },
  'selected covers': {
    violate: async () => {
      await sql`update book set custom_cover = '\\x00' where id = ${first.id}`
      await sql`update series set custom_cover = '\\x00' where id = ${first.seriesId}`
    },
    count: 2,
  },
  'orphan originals': {
    violate: async () => {
      const folder = join(all.data, 'covers', 'abc')
      mkdirSync(folder, { recursive: true })
      for (const [file, time] of [
        [`${'ab'.repeat(20)}.png`, 1],
        [`${'ab'.repeat(20)}.png.0123abcd`, 1],
        ['young.png', Date.now() / 1000],
      ] as const) {
        writeFileSync(join(folder, file), 'no row names it')
        utimesSync(join(folder, file), time, time)
      }
    },
    count: 2,
  },
  'pending files': {
    violate: () => sql`
      insert into pending_file (library_id, directory_id, name, size, modified_ms, forced)
      select library_id, directory_id, name, size, modified_ms, true
      from book where id = ${first.id}`,
  },
  covers: { violate: () => sql`update book_artifact set cover = null where book_id = ${first.id}` },
  hashes: {
    violate: () => sql`update book_artifact set sha256 = null where book_id = ${first.id}`,
  },
  scans: {
    violate: () => sql`
      insert into scan (id, library_id, mode) values (gen_random_uuid(), ${lib.id}, 'normal')`,
  },
  'times of jobs': {
    violate: () => sql`
      insert into pgboss.job (name, data, policy, start_after)
      values ('purge', jsonb_build_object('libraryId', ${lib.id}::text), 'short',
        now() + interval '1 day')`,
  },
}

for (const [name, { violate, count = 1 }] of Object.entries(cases)) {
  t.test(`${name}: detected and repaired`, async t => {
    // While a dedupe job waits, differences of groups are not violations.
    await sql`delete from pgboss.job where name = 'dedupe'`
    await violate()
    const report = await repairAll()
    t.match(
      report.findings.find(f => f.name === name),
      { count, isRepaired: true },
    )
    t.ok(report.isHealthy)
    await jobsDone()
    await dedupe(sql)
    t.same(await violations(), {})
    const facts = ({ modified, ...book }: (typeof books)[number]) => book
    t.same((await lib.books()).map(facts), books.map(facts), 'the books are as before')
  })
}

t.test('every invariant is violated by a test', async t => {
  const tested = Object.keys(cases)
  t.same(
    invariants.map(i => i.name).filter(name => !tested.includes(name)),
    [],
  )
})

t.test('everything due is enqueued again after the queue was lost', async t => {
  const covers = (await lib.books()).map(book => book.cover)
  await sql`
    update book_artifact set cover = null, sha256 = null
    where book_id in (select id from book where library_id = ${lib.id})`
  await sql`delete from pgboss.job`
  t.match(await violations(), { covers: 4, hashes: 4 })
  t.ok((await repairAll()).isHealthy)
  await jobsDone()
  await dedupe(sql)
  t.same(await violations(), {})
  t.same(
    (await lib.books()).map(book => book.cover),
    covers,
  )
})

t.test('a library that is being scanned is skipped', async t => {
  const connection = await sql.reserve()
  await connection`select pg_advisory_lock(hashtext('stackroom.scan'), hashtext(${lib.id}))`
  await sql`update series set book_count = 9 where id = ${first.seriesId}`
  const { busy, findings } = await repairAll()
  t.match(busy, [lib.root])
  t.equal(findings.find(f => f.name === 'series counters')!.count, 0)
  await connection`select pg_advisory_unlock_all()`
  connection.release()
  t.ok((await repairAll()).isHealthy)
})

t.test('what a cancelled scan left is no fault, and done by the next scan', async t => {
  await sql`
    insert into scan (id, library_id, mode, state, finished_at)
    values (gen_random_uuid(), ${lib.id}, 'normal', 'cancelled', now())`
  await cases['pending files']!.violate()
  await cases.covers!.violate()
  t.same(await violations(), {})
  await lib.scan()
  await dedupe(sql)
  t.same(await violations(), {})
  t.same((await sql`select from pending_file where library_id = ${lib.id}`).length, 0)
  t.ok((await lib.books()).every(book => book.cover !== null))
})
