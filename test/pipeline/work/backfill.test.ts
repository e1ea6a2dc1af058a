// A catalogue that an older release filled: what the migrations since then and the backfill make of it.
import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseSeriesFilter } from '../../../lib/catalog/list/filter.ts'
import { listBooks } from '../../../lib/catalog/list/list-books.ts'
import { listSeries } from '../../../lib/catalog/list/list-series.ts'
import { newId } from '../../../lib/id.ts'
import { migrate, migrationFolder } from '../../../lib/postgres/migrate.ts'
import { examine } from '../../../pipeline/doctor/doctor.ts'
import { backfill } from '../../../pipeline/work/backfill.ts'
import { emptyDatabase } from '../../kit/db.ts'
import { temporary } from '../../kit/library.ts'

const { sql } = await emptyDatabase(t)
const perSeries = 3
const many = 400

/** The migrations up to a number, in a folder of their own. */
function oldMigrations(last: number) {
  const folder = temporary(t)
  for (const name of readdirSync(migrationFolder))
    if (Number(name.slice(0, 4)) <= last)
      copyFileSync(join(migrationFolder, name), join(folder, name))
  return folder
}

/** Rows as the first release wrote them: 400 series of three books, one missing, two readers. */
async function fill() {
  const [library, directory] = [newId(), newId()]
  await sql`
    insert into library (id, name, root, series_count, book_count, missing_count)
    values (${library}, 'Old', '\\x2f6f6c64', ${many}, ${many * perSeries - 1}, 1)`
  await sql`insert into directory (id, library_id, path) values (${directory}, ${library}, '')`
  await sql`
    insert into series (id, library_id, key, name, title, sort_key, search_key, book_count)
    select gen_random_uuid(), ${library}, 'd:' || n, 'Émile ' || n, 'Émile ' || n, 'emile ' || n,
      'emile ' || n, ${perSeries}
    from generate_series(1, ${many}) n`
  await sql`
    insert into book (id, library_id, series_id, directory_id, name, size, modified_ms, title, sort_key,
      search_key, name_key, number_sort, year, genres, tags)
    select gen_random_uuid(), ${library}, s.id, ${directory}, convert_to(s.name || '-' || n, 'utf8'), 1, 1,
      'Tome ' || n, 'tome ' || n, 'tome ' || n, 'tome ' || n, n, 1999,
      case when n = 2 then '{SCI-FI}' else '{Sci-Fi}' end::text[], '{old}'
    from series s, generate_series(1, ${perSeries}) n`
  await sql`
    update book set missing_at = now()
    where name = convert_to('Émile 7-3', 'utf8')`
  await sql`
    update series set book_count = ${perSeries - 1}, missing_count = 1 where name = 'Émile 7'`
  const readers = [newId(), newId()]
  for (const id of readers)
    await sql`
      insert into account (id, username, password_hash) values (${id}, ${id}, '-')`
  await sql`
    insert into progress (account_id, book_id, current_page, is_completed, completed_at)
    select ${readers[0]!}, b.id, 5, true, now()
    from book b join series s on s.id = b.series_id where s.name = 'Émile 7'`
  await sql`
    insert into series_external_id (series_id, source, external_id)
    select id, 'anilist', name from series`
  return readers
}

const viewer = (accountId: string) => ({
  accountId,
  libraries: null,
  allowedTags: [],
  deniedTags: [],
  ageLimit: null,
  showsUnrated: true,
})

t.test('an old catalogue is migrated, filled in and listed', async t => {
  await migrate(sql, oldMigrations(3))
  const [reader, other] = await fill()
  t.ok((await migrate(sql)).length >= 3)
  const all = many * perSeries
  t.equal(await backfill(sql, () => true), 0, 'one that is stopped does nothing')
  t.equal(await backfill(sql), all + many)
  t.equal(await backfill(sql), 0, 'and then there is nothing to do')

  const books = async (text: string) =>
    (await listBooks(sql, viewer(reader!), { filter: null, text, page: 1, pageSize: 500 })).total
  t.equal(await books('emile tome'), all - 1, 'all that are present are found')
  const series = async (condition: object, accountId: string) => {
    const filter = parseSeriesFilter(condition)
    const page = { page: 1, pageSize: 10 }
    return (await listSeries(sql, viewer(accountId), { filter, ...page })).total
  }
  const is = (field: string, value: string) => ({ [field]: { operator: 'is', value } })
  t.equal(await series(is('genre', 'sci-fi'), reader!), many)
  t.equal(await series(is('tag', 'OLD'), reader!), many)
  t.equal(
    await series(is('readStatus', 'read'), reader!),
    1,
    'a missing book does not keep it open',
  )
  t.equal(await series(is('readStatus', 'read'), other!), 0)
  const [ids] = await sql`select count(distinct id)::integer as ids from series_external_id`
  t.equal(ids!.ids, many)

  const { findings } = await examine({ sql, queue: null, thumbnails: '/nowhere' })
  const ours = [
    'search rows of books',
    'search rows of series',
    'labels of series',
    'places of readers',
  ]
  t.same(
    findings.filter(f => f.count > 0 && ours.includes(f.name)),
    [],
  )
})
