// Regrouping: when a library's strategies change, its books move to the series of the new strategy. A series
// that all books leave is renamed to the series most of them go to, so it retains its id and everything users
// set on it.
import { hash } from 'node:crypto'
import { newId } from '../../lib/base/id.ts'
import { applyCounterDeltas, createCounterDeltas } from '../../lib/catalog/derived/counters.ts'
import { placeStoredBooks } from '../../lib/catalog/library/placed-books.ts'
import { titleByRules } from '../../lib/catalog/metadata/series-title.ts'
import { sortKey } from '../../lib/media/name/natural.ts'
import { searchKey } from '../../lib/media/name/text.ts'
import type { Placement } from '../../lib/media/strategy/placement.ts'
import { compileRules } from '../../lib/media/strategy/title-rules.ts'
import { publish, seriesEvents } from '../../lib/store/event/publish.ts'
import type { Sql, Transaction } from '../../lib/store/postgres/db.ts'
import { retryOnDeadlock } from '../../lib/store/postgres/retry-on-deadlock.ts'
import { keepCovers, keepEdits, keepPlaces } from './regroup-edits.ts'
import type { LoadedScan } from './scan-context.ts'

type Library = Pick<LoadedScan, 'libraryId' | 'rules'>

/** Moves the books atomically: after a crash none or all have moved. Idempotent. */
export async function regroupBooks(sql: Sql, library: Library): Promise<void> {
  const { libraryId } = library
  await retryOnDeadlock(sql, async tx => {
    await placeBooks(sql, tx, library)
    await tx`
      select from series s where s.library_id = ${libraryId}
        and (s.id in (select series_id from placed_book) or md5(s.key) in (select digest from placed_series))
      order by s.id for update`
    await renameSeries(tx, libraryId)
    const created = await createSeries(tx, libraryId)
    await findMoves(tx, libraryId)
    await keepPlaces(tx)
    await keepEdits(tx)
    await moveBooks(tx, libraryId)
    await keepCovers(tx)
    await applyMoves(tx, libraryId)
    const changed = await markChanged(tx, libraryId)
    const inLibrary = (id: string) => ({ id, libraryId })
    await publish(tx, [
      ...seriesEvents('series_created', created.map(inLibrary)),
      ...seriesEvents('series_updated', changed.filter(id => !created.includes(id)).map(inLibrary)),
    ])
  })
}

/**
 * Temporary tables: for each book its series under the new strategy, and these series as they would be
 * created.
 */
async function placeBooks(sql: Sql, tx: Transaction, { libraryId, rules }: Library) {
  await tx`
    create temporary table placed_book (book_id uuid, series_id uuid, digest text) on commit drop`
  await tx`
    create temporary table placed_series (
      digest text primary key, key text, name text, name_key text, folder text, one_shot boolean,
      title text, sort_key text, search_key text, publisher text, year integer) on commit drop`
  const applyRules = compileRules(rules.titleRules)
  const { seriesStrategy: strategy, seriesConfig: config } = rules
  // On a separate connection, because a cursor occupies its connection.
  for await (const placed of placeStoredBooks(sql, { libraryId, strategy, config })) {
    const series = new Map(placed.map(({ placement }) => [digestOf(placement), placement]))
    const rows = [...series].map(([digest, p]) => ({ digest, ...draftOf(p, applyRules) }))
    const books = placed.map(({ book, placement }) => ({
      ...{ book: book.id, series: book.seriesId, digest: digestOf(placement) },
    }))
    await tx`
      insert into placed_series
      select * from jsonb_populate_recordset(null::placed_series, ${tx.json(rows)})
      on conflict do nothing`
    await tx`
      insert into placed_book
      select * from jsonb_to_recordset(${tx.json(books)}) as r(book uuid, series uuid, digest text)`
  }
  await tx`analyze placed_book, placed_series`
}

const digestOf = ({ key }: Placement) => hash('md5', key)

function draftOf(placement: Placement, applyRules: (title: string) => string) {
  const { key, name, folder, isOneShot, publisher, year } = placement
  const title = titleByRules(applyRules, name)
  return {
    ...{ key, name, name_key: sortKey(name), folder, one_shot: isOneShot, title },
    ...{ sort_key: sortKey(title), search_key: searchKey(title), publisher, year },
  }
}

/** Includes series that retain their books under another name. */
async function renameSeries(tx: Transaction, libraryId: string) {
  await tx`
    with flow as (
      select series_id, digest, count(*) as books from placed_book group by 1, 2
    ), choice as (
      select distinct on (f.series_id) f.series_id, f.digest, f.books
      from flow f join series s on s.id = f.series_id
      where not exists (select from placed_series p where p.digest = md5(s.key))
        and not exists (
          select from series o where o.library_id = ${libraryId} and md5(o.key) = f.digest)
      order by f.series_id, f.books desc, f.digest
    ), renamed as (
      select distinct on (digest) digest, series_id from choice order by digest, books desc, series_id
    ), named as (
      select digest, series_id from renamed
      union all
      select p.digest, s.id from placed_series p
      join series s on s.library_id = ${libraryId} and md5(s.key) = p.digest
      where (s.name, s.one_shot) is distinct from (p.name, p.one_shot)
    )
    update series s
    set key = p.key, name = p.name, name_key = p.name_key, folder = p.folder, one_shot = p.one_shot,
      title = case when k.title then s.title else p.title end,
      sort_key = case when k.title or s.title_sort is not null then s.sort_key else p.sort_key end,
      search_key = case when k.title then s.search_key else p.search_key end, updated_at = now()
    from named r join placed_series p using (digest)
    join series o on o.id = r.series_id
    cross join lateral (select 'title' = any(o.locks) or o.provenance ? 'title' as title) k
    where s.id = r.series_id`
}

/** Returns the ids of the new series. */
async function createSeries(tx: Transaction, libraryId: string): Promise<string[]> {
  const missing = await tx<{ digest: string }[]>`
    select digest from placed_series p
    where not exists (
      select from series s where s.library_id = ${libraryId} and md5(s.key) = p.digest)
    order by key`
  const ids = missing.map(({ digest }) => ({ digest, id: newId() }))
  await tx`
    insert into series (id, library_id, key, name, name_key, folder, one_shot, title, sort_key,
      search_key, publisher, year)
    select i.id, ${libraryId}, key, name, name_key, folder, one_shot, title, sort_key, search_key,
      publisher, year
    from jsonb_to_recordset(${tx.json(ids)}) as i(digest text, id uuid)
    join placed_series using (digest)
    order by key`
  return ids.map(({ id }) => id)
}

/** Temporary table: from which series to which others books move, and whether any stay. */
async function findMoves(tx: Transaction, libraryId: string) {
  await tx`
    create temporary table regrouped on commit drop as
    select p.series_id as from_id, s.id as to_id,
      count(*) filter (where b.missing_at is null) as books,
      count(*) filter (where b.missing_at is not null) as missing,
      coalesce(sum(b.page_count) filter (where b.missing_at is null), 0) as pages,
      coalesce(sum(b.size) filter (where b.missing_at is null), 0) as size,
      not exists (
        select from placed_book o join series y on y.library_id = ${libraryId} and md5(y.key) = o.digest
        where o.series_id = p.series_id and y.id = p.series_id) as is_emptied
    from placed_book p
    join series s on s.library_id = ${libraryId} and md5(s.key) = p.digest
    join book b on b.id = p.book_id and b.series_id = p.series_id
    where s.id <> p.series_id
    group by 1, 2`
}

async function moveBooks(tx: Transaction, libraryId: string) {
  await tx`
    with moved as (
      select b.id, s.id as series_id
      from placed_book p
      join series s on s.library_id = ${libraryId} and md5(s.key) = p.digest
      join book b on b.id = p.book_id and b.series_id = p.series_id
      where s.id <> p.series_id
      order by b.id
      for no key update of b
    )
    update book b set series_id = m.series_id, updated_at = now() from moved m where b.id = m.id`
}

async function applyMoves(tx: Transaction, libraryId: string) {
  const rows = await tx<
    { id: string; books: number; missing: number; pages: number; size: number }[]
  >`
    select id, sum(sign * books)::float8 as books, sum(sign * missing)::float8 as missing,
      sum(sign * pages)::float8 as pages, sum(sign * size)::float8 as size
    from (
      select from_id as id, -1 as sign, books, missing, pages, size from regrouped
      union all
      select to_id, 1, books, missing, pages, size from regrouped) r
    group by 1`
  const deltas = createCounterDeltas()
  for (const { id, ...delta } of rows) deltas.series.set(id, delta)
  deltas.libraries.set(libraryId, { books: 0, missing: 0, pages: 0, size: 0 })
  await applyCounterDeltas(tx, deltas)
}

/**
 * The end of the scan refreshes what follows from the books. Returns the series whose books or key changed.
 */
async function markChanged(tx: Transaction, libraryId: string): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    insert into series_refresh (library_id, series_id)
    select ${libraryId}, id from series s
    where library_id = ${libraryId} and (
      id in (select from_id from regrouped) or id in (select to_id from regrouped)
      or md5(key) in (select digest from placed_series) and updated_at = now())
    order by id
    on conflict (library_id, series_id) do update set retitle = series_refresh.retitle
    returning series_id as id`
  return rows.map(row => row.id)
}
