// A library that is removed: what a crash leaves behind goes with the next start.
import t from 'tap'
import {
  eraseLibrary,
  removeLibrary,
  resumeErasing,
} from '../../../lib/catalog/library/library-erase.ts'
import { newId } from '../../../lib/id.ts'
import { openQueue } from '../../../lib/queue/queue.ts'
import { examine } from '../../../pipeline/doctor/doctor.ts'
import { database } from '../../kit/db.ts'

const { sql } = await database(t)
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

/** 2,500 books in 100 series and as many folders, one below the other by tens. */
async function seeded() {
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
      search_key, name_key, page_count, sha256, fingerprint, cover)
    select gen_random_uuid(), ${id}, s.id, d.id, n::text::bytea, 1, 1, n::text, s.name || n, n::text,
      n::text, 10, sha256(convert_to(s.name || n, 'utf8')), '\\x00', '\\x00'
    from series s
    join directory d on d.library_id = s.library_id and d.path = s.name::bytea,
      generate_series(1, 25) n
    where s.library_id = ${id}`
  return id
}

const left = async (id: string) => {
  const [row] = await sql`
    select (select count(*)::integer from book where library_id = ${id}) as books,
      (select count(*)::integer from series where library_id = ${id}) as series,
      (select count(*)::integer from directory where library_id = ${id}) as folders,
      (select count(*)::integer from library where id = ${id}) as libraries`
  return { ...row }
}

t.test('what was begun is ended by whoever comes next, with counters right in between', async t => {
  const [id, other] = [await seeded(), await seeded()]
  await removeLibrary(sql, queue, { viewer, libraryId: id })
  await t.rejects(removeLibrary(sql, queue, { viewer, libraryId: id }), { name: 'NotFound' })
  let looks = 0
  await eraseLibrary({ sql, queue, stop: () => ++looks > 2 }, id)
  const half = await left(id)
  t.match(half, { libraries: 1, series: 100 })
  t.ok(half.books > 0 && half.books < 2500, `${half.books} books are left`)
  const [counters] = await sql`select book_count as books, size from library where id = ${id}`
  t.same({ ...counters }, { books: half.books, size: half.books })

  await resumeErasing(sql, queue)
  await resumeErasing(sql, queue)
  const jobs = await sql`select 1 from pgboss.job where name = 'erase' and state < 'completed'`
  t.equal(jobs.length, 1, 'one job, however often it is asked for')
  const { findings } = await examine({ sql, queue: null, thumbnails: '/nowhere' })
  const wrong = findings.filter(f => f.count > 0 && f.samples.some(s => s.includes(id)))
  t.same(wrong, [], 'a library that goes is no concern of the doctor')
  await eraseLibrary({ sql, queue, stop: () => false }, id)
  t.same(await left(id), { books: 0, series: 0, folders: 0, libraries: 0 })
  t.same(await left(other), { books: 2500, series: 100, folders: 100, libraries: 1 })
  await eraseLibrary({ sql, queue, stop: () => false }, id)
  await eraseLibrary({ sql, queue, stop: () => false }, other)
  t.match(await left(other), { books: 2500, libraries: 1 }, 'only what was removed is erased')
})
