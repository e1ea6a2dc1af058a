// Deletion of libraries, interrupted and resumed.
import t from 'tap'
import { newId } from '../../../lib/base/id.ts'
import {
  deleteLibrary,
  eraseLibrary,
  resumeErase,
} from '../../../lib/catalog/library/library-erase.ts'
import { openQueue } from '../../../lib/store/queue/queue.ts'
import { checkCatalog } from '../../../pipeline/doctor/doctor.ts'
import { createDatabase } from '../../kit/db.ts'
import { untilBlocked } from '../../kit/row-locks.ts'

const { sql } = await createDatabase(t)
const queue = await openQueue(sql, error => t.fail(error.message))
t.teardown(() => queue.close())
const viewer = {
  accountId: newId(),
  libraries: null,
  allowedTags: [],
  deniedTags: [],
  ageLimit: null,
  showsUnrated: true,
}

/** Inserts a library of 2,500 books in 100 series and 100 folders, two levels deep. */
async function insertLibrary() {
  const id = newId()
  await sql`
    insert into library (id, name, root, book_count, series_count, size, page_count)
    values (${id}, 'Large', ${Buffer.from(`/${id}`)}, 2500, 100, 2500, 25000)`
  await sql`
    insert into directory (id, library_id, path)
    select gen_random_uuid(), ${id}, ('S' || n)::bytea from generate_series(1, 100) n`
  await sql`
    update directory d set parent_id = p.id
    from directory p
    where d.library_id = ${id} and p.library_id = ${id} and length(d.path) = 3
      and p.path = substring(d.path for 2)`
  await sql`
    insert into series (id, library_id, key, name, title, sort_key, search_key, name_key, book_count,
      size, page_count)
    select gen_random_uuid(), ${id}, 'd:S' || n, 'S' || n, 'S' || n, 's' || n, 's' || n, 's' || n, 25,
      25, 250
    from generate_series(1, 100) n`
  await sql`
    insert into book (id, library_id, series_id, directory_id, name, size, modified_ms, title, sort_key,
      search_key, name_key, page_count, fingerprint)
    select gen_random_uuid(), ${id}, s.id, d.id, n::text::bytea, 1, 1, n::text, s.name || n, n::text,
      n::text, 10, '\\x00'
    from series s
    join directory d on d.library_id = s.library_id and d.path = s.name::bytea,
      generate_series(1, 25) n
    where s.library_id = ${id}`
  return id
}

const countRows = async (id: string) => {
  const [row] = await sql`
    select (select count(*)::integer from book where library_id = ${id}) as books,
      (select count(*)::integer from series where library_id = ${id}) as series,
      (select count(*)::integer from directory where library_id = ${id}) as folders,
      (select count(*)::integer from library where id = ${id}) as libraries`
  return { ...row }
}

t.test(
  'an interrupted deletion is completed by the next run, with correct counters in between',
  async t => {
    const [id, other] = [await insertLibrary(), await insertLibrary()]
    await deleteLibrary(sql, queue, { viewer, libraryId: id })
    await t.rejects(deleteLibrary(sql, queue, { viewer, libraryId: id }), { name: 'NotFound' })
    let checks = 0
    await eraseLibrary({ sql, queue, isStopped: () => ++checks > 3 }, id)
    const half = await countRows(id)
    t.match(half, { libraries: 1, series: 100 })
    t.ok(half.books > 0 && half.books < 2500, `${half.books} books remain`)
    const [counters] = await sql`select book_count as books, size from library where id = ${id}`
    t.same({ ...counters }, { books: half.books, size: half.books })

    await resumeErase(sql, queue)
    await resumeErase(sql, queue)
    const jobs = await sql`select 1 from pgboss.job where name = 'erase' and state < 'completed'`
    t.equal(jobs.length, 1, 'one job, however often it is requested')
    const { findings } = await checkCatalog({ sql, queue: null, thumbnails: '/nowhere' })
    const wrong = findings.filter(f => f.count > 0 && f.samples.some(s => s.includes(id)))
    t.same(wrong, [], 'the doctor ignores a library that is being deleted')
    await eraseLibrary({ sql, queue, isStopped: () => false }, id)
    t.same(await countRows(id), { books: 0, series: 0, folders: 0, libraries: 0 })
    t.same(await countRows(other), { books: 2500, series: 100, folders: 100, libraries: 1 })
    await eraseLibrary({ sql, queue, isStopped: () => false }, id)
    await eraseLibrary({ sql, queue, isStopped: () => false }, other)
    t.match(
      await countRows(other),
      { books: 2500, libraries: 1 },
      'a library that was not deleted is left unchanged',
    )
  },
)

t.test('a batch that a cancelled job is still storing is deleted with its library', async t => {
  const id = await insertLibrary()
  const [file] = await sql<{ id: string }[]>`
    insert into pending_file (library_id, directory_id, name, size, modified_ms)
    select library_id, id, 'new', 1, 1 from directory where library_id = ${id} limit 1
    returning id::text`
  await deleteLibrary(sql, queue, { viewer, libraryId: id })
  // As pipeline/index/store.ts does it: claims the file and adds its book to a series.
  const batch = await sql.reserve()
  await batch`begin`
  await batch`delete from pending_file where id = ${file!.id}`
  await batch`
    insert into book (id, library_id, series_id, directory_id, name, size, modified_ms, title, sort_key,
      search_key, name_key)
    select ${newId()}, ${id}, s.id, d.id, 'new', 1, 1, 'n', 'n', 'n', 'n'
    from series s, directory d where s.library_id = ${id} and d.library_id = ${id} limit 1`
  const erased = eraseLibrary({ sql, queue, isStopped: () => false }, id)
  await untilBlocked(sql)
  t.match(await countRows(id), { books: 2500 }, 'nothing is deleted before it ends')
  await batch`commit`
  batch.release()
  await erased
  t.same(await countRows(id), { books: 0, series: 0, folders: 0, libraries: 0 })
})

t.test('nothing is deleted while a process scans the library', async t => {
  const id = await insertLibrary()
  await deleteLibrary(sql, queue, { viewer, libraryId: id })
  const scan = await sql.reserve()
  await scan`select pg_advisory_lock(hashtext('stackroom.scan'), hashtext(${id}))`
  let checks = 0
  const erased = eraseLibrary({ sql, queue, isStopped: () => ++checks > 2 }, id)
  await erased
  t.match(await countRows(id), { books: 2500, series: 100, folders: 100 })
  await scan`select pg_advisory_unlock(hashtext('stackroom.scan'), hashtext(${id}))`
  scan.release()
  await eraseLibrary({ sql, queue, isStopped: () => false }, id)
  t.match(await countRows(id), { libraries: 0 })
})
