// The doctor: every invariant is broken once, found, and mended.
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { thumbnailPath } from '../../../lib/image/thumbnail-path.ts'
import { examine, invariants } from '../../../pipeline/doctor/doctor.ts'
import { dedupe } from '../../../pipeline/index/dedupe.ts'
import { catalogue, comic, ended, reader, shelve } from '../../kit/library.ts'

const all = await catalogue(t)
const { sql, pipeline } = all
const thumbnails = join(all.data, 'thumbnails')
const twin = comic()
const lib = await shelve(t, all, {
  'A/1.cbz': comic(),
  'A/2.cbz': twin,
  'B/1.cbz': comic({ pages: 3 }),
  'B/2.cbz': twin,
})
const coverPath = (cover: string | null) =>
  thumbnailPath(thumbnails, cover!, all.config.thumbnail.format)
const look = async () => {
  const { findings } = await examine({ sql, queue: null, thumbnails })
  return Object.fromEntries(findings.filter(f => f.count > 0).map(f => [f.name, f.count]))
}
const mend = () => examine({ sql, queue: pipeline.queue, thumbnails, repair: true })

/** What a repair enqueued is done by the lanes. */
async function workDone() {
  const scans = await sql<{ id: string }[]>`select id from scan order by created_at desc limit 2`
  for (const { id } of scans) await ended(all, id)
}

await lib.scan()
await dedupe(sql)
const books = await lib.books()
const first = books[0]!

t.test('a catalogue that was just made is well', async t => {
  t.same(await look(), {})
})

const breaches: Record<string, { does: () => Promise<unknown>; count?: number }> = {
  'series counters': {
    does: () => sql`update series set book_count = 9, page_count = 1 where id = ${first.seriesId}`,
  },
  'library counters': { does: () => sql`update library set series_count = 9 where id = ${lib.id}` },
  'search rows of books': {
    does: async () => {
      await sql`update book_search set is_present = false where book_id = ${first.id}`
      await sql`
        update book_search set text = replace(text, chr(10) || ' ' || 'b' || chr(10), chr(10) || ' renamed' || chr(10))
        where series_id = ${books.at(-1)!.seriesId} and book_id <> ${first.id}`
    },
    count: 3,
  },
  'search rows of series': {
    does: () => sql`delete from series_search where series_id = ${first.seriesId}`,
  },
  'labels of series': {
    does: () => sql`update series set genres = '{Ghost}' where id = ${first.seriesId}`,
  },
  'lowest ages': {
    does: () => sql`update series set lowest_age = 18 where id = ${first.seriesId}`,
  },
  'places of readers': {
    does: async () => {
      const who = await reader(sql)
      await sql`
        insert into series_reading (account_id, series_id, read_count, started_count, opened_count,
          last_read_at)
        values (${who.id}, ${first.seriesId}, 1, 0, 0, now())`
    },
  },
  'folder tree': {
    does: () => sql`
      update directory set parent_id = null where library_id = ${lib.id} and path <> ''`,
    count: 2,
  },
  'page lists': { does: () => sql`delete from page_list where book_id = ${first.id}` },
  'undecided books': {
    does: () => sql`
      insert into vanished (library_id, scan_id, book_id, directory_id)
      select library_id, gen_random_uuid(), id, directory_id from book where id = ${first.id}`,
  },
  'undecided folders': {
    does: () =>
      sql`update directory set pending_digest = 'x' where library_id = ${lib.id} and path = 'A'`,
  },
  'unsettled series': {
    does: () =>
      sql`insert into touched_series (library_id, series_id) values (${lib.id}, ${first.seriesId})`,
  },
  'duplicate groups': {
    does: () => sql`
      insert into duplicate_book (group_id, book_id) select id, ${first.id} from duplicate_group
      where kind = 'book'`,
  },
  'duplicates found': {
    does: () => sql`delete from duplicate_group where kind = 'book'`,
    count: 2,
  },
  'group sizes': {
    does: () => sql`insert into duplicate_group (kind, key) values ('title', 'nobody')`,
  },
  'cover files': { does: async () => rmSync(coverPath(first.cover)), count: 4 },
  'orphan covers': {
    does: async () => {
      const path = coverPath('ab'.repeat(20))
      mkdirSync(dirname(path), { recursive: true })
      for (const file of [path, `${path}.0123abcd`]) {
        writeFileSync(file, 'no book names it')
        utimesSync(file, 1, 1)
      }
    },
    count: 2,
  },
  'chosen covers': {
    does: async () => {
      await sql`update book set custom_cover = '\\x00' where id = ${first.id}`
      await sql`update series set custom_cover = '\\x00' where id = ${first.seriesId}`
    },
    count: 2,
  },
  'orphan originals': {
    does: async () => {
      const folder = join(all.data, 'covers', 'ab', 'cd')
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
  'files to read': {
    does: () => sql`
      insert into found (library_id, scan_id, directory_id, name, size, modified_ms, forced)
      select library_id, gen_random_uuid(), directory_id, name, size, modified_ms, true
      from book where id = ${first.id}`,
  },
  covers: { does: () => sql`update book set cover = null where id = ${first.id}` },
  hashes: { does: () => sql`update book set sha256 = null where id = ${first.id}` },
  scans: {
    does: () => sql`
      insert into scan (id, library_id, mode) values (gen_random_uuid(), ${lib.id}, 'normal')`,
  },
}

for (const [name, { does, count = 1 }] of Object.entries(breaches)) {
  t.test(`${name}: found and mended`, async t => {
    // Groups that were asked for a moment ago are no fault yet: they were made above.
    await sql`delete from pgboss.job where name = 'dedupe'`
    await does()
    t.equal((await look())[name], count)
    const diagnosis = await mend()
    t.match(
      diagnosis.findings.find(f => f.name === name),
      { count, mended: true },
    )
    t.ok(diagnosis.isWell)
    await workDone()
    await dedupe(sql)
    t.same(await look(), {})
    const facts = ({ modified, ...book }: (typeof books)[number]) => book
    t.same((await lib.books()).map(facts), books.map(facts), 'the books are what they were')
  })
}

t.test('a book in a series of another library is read again', async t => {
  const other = await shelve(t, all, { 'C/1.cbz': comic() })
  await other.scan()
  const stranger = (await other.books())[0]!
  await sql`update book set series_id = ${stranger.seriesId} where id = ${first.id}`
  t.equal((await look())['one home'], 1)
  t.ok((await mend()).isWell)
  await workDone()
  t.same(await look(), {})
  t.equal((await lib.books())[0]!.seriesId, first.seriesId)
})

t.test('every invariant is broken by a test', async t => {
  const tested = [...Object.keys(breaches), 'one home']
  t.same(
    invariants.map(i => i.name).filter(name => !tested.includes(name)),
    [],
  )
})

t.test('the queue was lost: what was due is due again', async t => {
  const covers = (await lib.books()).map(book => book.cover)
  await sql`update book set cover = null, sha256 = null where library_id = ${lib.id}`
  await sql`delete from pgboss.job`
  t.match(await look(), { covers: 4, hashes: 4 })
  t.ok((await mend()).isWell)
  await workDone()
  await dedupe(sql)
  t.same(await look(), {})
  t.same(
    (await lib.books()).map(book => book.cover),
    covers,
  )
})

t.test('a library that is being scanned is left out', async t => {
  const held = await sql.reserve()
  await held`select pg_advisory_lock(hashtext('stackroom.scan'), hashtext(${lib.id}))`
  await sql`update series set book_count = 9 where id = ${first.seriesId}`
  const { busy, findings } = await mend()
  t.match(busy, [lib.root])
  t.equal(findings.find(f => f.name === 'series counters')!.count, 0)
  await held`select pg_advisory_unlock_all()`
  held.release()
  t.ok((await mend()).isWell)
})
