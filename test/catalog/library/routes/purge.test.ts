// Purge of missing books over HTTP.
import t from 'tap'
import { createReader } from '../../../kit/accounts.ts'
import { doctorFindings } from '../../../kit/catalog.ts'
import { comic, createTestLibrary } from '../../../kit/library.ts'
import { startApi } from '../../../kit/server.ts'

const all = await startApi(t)
const admin = await all.createUser('admin')
const maintainer = await all.createUser('maintainer')

async function withGone(t: Parameters<typeof createTestLibrary>[0]) {
  const shelf = await createTestLibrary(t, all, {
    'A/1.cbz': comic(),
    'A/2.cbz': comic(),
    'B/1.cbz': comic(),
    'B/2.cbz': comic(),
    'C/1.cbz': comic(),
  })
  await shelf.scan()
  for (const path of ['A/1.cbz', 'B/1.cbz', 'B/2.cbz']) shelf.remove(path)
  await shelf.scan({ options: { confirmMissing: true } })
  return shelf
}
const put = (value: boolean) => admin.put('/admin/settings/purge.purge_empty_series', { value })

t.test('missing books and empty series of a library are deleted', async t => {
  const shelf = await withGone(t)
  const gone = (await shelf.books()).filter(b => b.missingAt)
  const there = (await shelf.books()).filter(b => !b.missingAt)
  const ana = await createReader(all.sql)
  for (const book of [...gone, ...there]) await ana.read(book.id, 1)
  const { status, body, headers } = await maintainer.delete(`/libraries/${shelf.id}/purge-deleted`)
  t.equal(status, 200)
  t.equal(body, 3, 'a plain number')
  t.match(headers.get('content-type'), /json/)
  t.same((await shelf.books()).map(b => b.id).sort(), there.map(b => b.id).sort())
  t.equal(Object.keys(await ana.pages()).length, 2)
  t.match(await shelf.counters(), { books: 2, missing: 0, series: 2 })
  const [series] = await all.sql`
    select count(*)::integer as count from series where library_id = ${shelf.id}`
  t.equal(series!.count, 2)
  t.equal((await maintainer.delete(`/libraries/${shelf.id}/purge-deleted`)).body, 0)
  t.same(await doctorFindings(all), [], 'the doctor has no findings')
  t.match(await shelf.scan(), { state: 'completed', missing: 0, added: 0 })
})

t.test('empty series are retained if configured', async t => {
  const shelf = await withGone(t)
  await put(false)
  const { seriesId } = (await shelf.books()).find(b => b.folder === 'B')!
  t.equal((await maintainer.delete(`/series/${seriesId}/purge-deleted`)).body, 2)
  t.equal((await all.sql`select 1 from series where id = ${seriesId}`).length, 1)
  t.match(await shelf.counters(), { books: 2, missing: 1, series: 2 })
  await put(true)
  const other = (await shelf.books()).find(b => b.missingAt)!
  t.equal((await maintainer.delete(`/series/${other.seriesId}/purge-deleted`)).body, 1)
  t.equal(
    (await all.sql`select 1 from series where id = ${other.seriesId}`).length,
    1,
    'it has books',
  )
  t.same(await doctorFindings(all), [])
})

t.test('hidden books are not deleted', async t => {
  const shelf = await withGone(t)
  const child = await all.createUser('maintainer')
  await all.sql`update account set age_limit = 12 where id = ${child.id}`
  const hidden = (await shelf.books()).find(b => b.missingAt && b.folder === 'A')!
  await all.sql`update series set age_rating = 18 where id = ${hidden.seriesId}`
  t.equal((await child.delete(`/series/${hidden.seriesId}/purge-deleted`)).status, 404)
  t.equal((await child.delete(`/libraries/${shelf.id}/purge-deleted`)).body, 2)
  t.same(
    (await shelf.books()).filter(b => b.missingAt).map(b => b.id),
    [hidden.id],
  )
})

t.test('many books are deleted in batches', async t => {
  const shelf = await createTestLibrary(t, all, { 'A/1.cbz': comic() })
  await shelf.scan()
  await all.sql`
    with folder as (select id from directory where library_id = ${shelf.id} and path = 'A'),
    created as (
      insert into book (id, library_id, series_id, directory_id, name, size, modified_ms, title,
        sort_key, search_key, name_key, missing_at)
      select gen_random_uuid(), ${shelf.id}, b.series_id, b.directory_id, n::text::bytea, 1, 1, n::text,
        n::text, n::text, n::text, now()
      from book b, generate_series(1, 2500) n
      where b.library_id = ${shelf.id}
      returning id
    )
    update library set missing_count = missing_count + 2500 where id = ${shelf.id}`
  await all.sql`update series set missing_count = 2500 where library_id = ${shelf.id}`
  t.equal((await maintainer.delete(`/libraries/${shelf.id}/purge-deleted`)).body, 2500)
  t.match(await shelf.counters(), { books: 1, missing: 0 })
  t.same(await doctorFindings(all), [])
})

t.test('requires write permissions', async t => {
  const shelf = await createTestLibrary(t, all)
  const someone = await all.createUser('reader')
  t.equal((await someone.delete(`/libraries/${shelf.id}/purge-deleted`)).status, 403)
  t.equal((await someone.delete(`/series/${shelf.id}/purge-deleted`)).status, 403)
  t.equal((await maintainer.delete(`/series/${shelf.id}/purge-deleted`)).status, 404)
})
