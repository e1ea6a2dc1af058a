// Want-to-read list of an account: series and books in the order in which they were added, or in a custom order.
// Entries of hidden and missing items stay, but are not listed.
import type { Fragment } from 'postgres'
import { hasVisibleBook, type Viewer, visibleBook, visibleSeries } from '../../accounts/viewer.ts'
import { Invalid } from '../../base/errors.ts'
import { newId } from '../../base/id.ts'
import { component, nullable, oneOf, type Static, timestamp, uuid } from '../../base/schema.ts'
import { type Owner, requireOwner } from '../../catalog/owner.ts'
import type { IdPage } from '../../list/sort.ts'
import { bookEvents, publish, seriesEvents } from '../../store/event/publish.ts'
import type { Queryable, Sql, Transaction } from '../../store/postgres/db.ts'

export const WantToReadEntry = component('WantToReadEntry', {
  id: uuid(),
  itemType: oneOf(['series', 'book']),
  seriesId: nullable(uuid({ description: 'Null for a book.' })),
  bookId: nullable(uuid({ description: 'Null for a series.' })),
  addedAt: timestamp(),
})
export type WantToReadEntry = Static<typeof WantToReadEntry>

/** Per account. */
export const maxWanted = 10_000

export const wantToReadSorts = ['newest', 'oldest', 'custom'] as const
export type WantToReadSort = (typeof wantToReadSorts)[number]

const orderBy: Record<WantToReadSort, (sql: Queryable) => Fragment> = {
  newest: sql => sql`w.added_at desc, w.id desc`,
  oldest: sql => sql`w.added_at, w.id`,
  custom: sql => sql`w.position, w.id`,
}

type ListRequest = { sort: WantToReadSort; offset: number; pageSize: number }

/** A page of the present, visible entries, and their number. */
export async function listWanted(
  sql: Queryable,
  viewer: Viewer,
  { sort, offset, pageSize }: ListRequest,
): Promise<{ entries: WantToReadEntry[]; total: number }> {
  const entries = await sql<(WantToReadEntry & { total: number })[]>`
    select ${entryColumns(sql)}, (count(*) over ())::float8 as total
    ${fromWanted(sql, viewer)}
    order by ${orderBy[sort](sql)}
    limit ${pageSize} offset ${offset}`
  if (entries.length === 0 && offset > 0) {
    const [row] = await sql<{ total: number }[]>`
      select count(*)::float8 as total ${fromWanted(sql, viewer)}`
    return { entries: [], total: row!.total }
  }
  return {
    entries: entries.map(({ total: _, ...entry }) => entry),
    total: entries[0]?.total ?? 0,
  }
}

/**
 * Ids of a page of the wanted items of one kind, in the account's order, without series all of whose
 * books are hidden; `libraryId` limits them to one library.
 */
export async function wantedIds(
  sql: Sql,
  viewer: Viewer,
  request: { of: Owner['kind']; libraryId?: string; page: number; pageSize: number },
): Promise<IdPage> {
  const { of, libraryId, page, pageSize } = request
  const id = of === 'book' ? sql`w.book_id` : sql`w.series_id`
  const [row] = await sql<IdPage[]>`
    with wanted as materialized (
      select ${id} as id, w.position, w.id as entry
      ${fromWanted(sql, viewer)} and ${id} is not null
        and ${libraryId ? sql`s.library_id = ${libraryId}` : sql`true`}
        and ${of === 'series' ? hasVisibleBook(sql, viewer) : sql`true`}
    )
    select (select count(*) from wanted)::float8 as total, array(
      select id from wanted order by position, entry
      limit ${pageSize} offset ${(page - 1) * pageSize}) as ids`
  return row!
}

/** `from … where …` over `want_to_read w`, its `book b` if any, and `series s`. */
function fromWanted(sql: Queryable, viewer: Viewer): Fragment {
  return sql`
    from want_to_read w
    left join book b on b.id = w.book_id
    join series s on s.id = coalesce(w.series_id, b.series_id)
    where w.account_id = ${viewer.accountId} and ${visibleBook(sql, viewer)}
      and case when w.book_id is null then s.book_count > 0 else b.missing_at is null end`
}

function entryColumns(sql: Queryable): Fragment {
  return sql`w.id, case when w.book_id is null then 'series' else 'book' end as "itemType",
    w.series_id as "seriesId", w.book_id as "bookId", w.added_at as "addedAt"`
}

/** Adds an item at the end, unless it is already listed. Throws NotFound for a hidden item, Invalid for too many. */
export async function addWanted(
  sql: Sql,
  viewer: Viewer,
  owner: Owner,
): Promise<{ entry: WantToReadEntry; isNew: boolean }> {
  return await sql.begin(async tx => {
    await requireOwner(tx, { viewer, owner })
    const ids = owner.kind === 'book' ? { bookIds: [owner.id] } : { seriesIds: [owner.id] }
    const { added } = await insertWanted(tx, viewer, ids)
    const id = owner.kind === 'book' ? tx`w.book_id` : tx`w.series_id`
    const [entry] = await tx<WantToReadEntry[]>`
      select ${entryColumns(tx)} from want_to_read w
      where w.account_id = ${viewer.accountId} and ${id} = ${owner.id}`
    return { entry: entry!, isNew: added > 0 }
  })
}

type WantedIds = { seriesIds?: readonly string[]; bookIds?: readonly string[] }

/** Adds items at the end in the order of the ids, series first. Skips unknown and hidden ones. Throws Invalid for too many. */
export async function addAllWanted(
  sql: Sql,
  viewer: Viewer,
  ids: WantedIds,
): Promise<{ added: number; alreadyPresent: number }> {
  return await sql.begin(tx => insertWanted(tx, viewer, ids))
}

async function insertWanted(
  tx: Transaction,
  viewer: Viewer,
  { seriesIds = [], bookIds = [] }: WantedIds,
) {
  const entriesOf = (ids: readonly string[]) => ids.map(item => ({ id: newId(), item }))
  // Otherwise two requests could get the same positions, and together exceed the limit.
  await tx`select 1 from account where id = ${viewer.accountId} for no key update`
  const [row] = await tx<{ added: Item[]; visible: number; total: number }[]>`
    with given as materialized (
      select distinct on (s.id) e.id, s.id as series_id, null::uuid as book_id, s.library_id,
        null::uuid as of_series
      from jsonb_to_recordset(${tx.json(entriesOf(seriesIds))}) as e(id uuid, item uuid)
      join series s on s.id = e.item
      where ${visibleSeries(tx, viewer)}
      union all
      select distinct on (b.id) e.id, null, b.id, b.library_id, b.series_id
      from jsonb_to_recordset(${tx.json(entriesOf(bookIds))}) as e(id uuid, item uuid)
      join book b on b.id = e.item
      join series s on s.id = b.series_id
      where ${visibleBook(tx, viewer)}
    ), owned as materialized (
      select count(*) as n, coalesce(max(position), 0) as last from want_to_read
      where account_id = ${viewer.accountId}
    ), added as (
      insert into want_to_read (id, account_id, series_id, book_id, position)
      select g.id, ${viewer.accountId}, g.series_id, g.book_id,
        (select last from owned) + row_number() over (order by g.id)
      from given g
      order by g.id
      on conflict do nothing
      returning id
    )
    select (select coalesce(jsonb_agg(jsonb_build_object('id', coalesce(g.book_id, g.series_id),
          'libraryId', g.library_id, 'seriesId', g.of_series)), '[]')
        from given g join added using (id)) as added,
      (select count(*) from given)::integer as visible,
      (select n from owned)::integer + (select count(*) from added)::integer as total`
  const { added, visible, total } = row!
  if (total > maxWanted)
    throw new Invalid(`The limit is ${maxWanted} entries`, { limit: maxWanted })
  await publishChange(tx, viewer, added)
  return { added: added.length, alreadyPresent: visible - added.length }
}

/** `seriesId` of a book; null for a series. */
type Item = { id: string; libraryId: string; seriesId: string | null }

/** Published to the account itself. `deleted`: no longer wanted. */
async function publishChange(
  tx: Queryable,
  { accountId }: Viewer,
  items: readonly Item[],
  fields?: string[],
): Promise<void> {
  const common = { accountId, ...(fields && { fields }) }
  const [series, books] = [
    items.filter(({ seriesId }) => seriesId === null),
    items.flatMap(({ seriesId, ...item }) => (seriesId === null ? [] : [{ ...item, seriesId }])),
  ]
  await publish(tx, [
    ...seriesEvents('want_to_read_updated', series, common),
    ...bookEvents('want_to_read_updated', books, common),
  ])
}

/** Moves the entries to the front, in the order of the ids; the others follow in their present order. Skips unknown ids. */
export async function reorderWanted(sql: Sql, { accountId }: Viewer, entryIds: readonly string[]) {
  await sql.begin(async tx => {
    await tx`select 1 from account where id = ${accountId} for no key update`
    const { count } = await tx`
      update want_to_read w
      set position = o.position
      from (
        select e.id, row_number() over (order by g.place nulls last, e.position, e.id) as position
        from want_to_read e
        left join (
          select id, min(place) as place
          from unnest(${entryIds as string[]}::uuid[]) with ordinality as given(id, place)
          group by id) g on g.id = e.id
        where e.account_id = ${accountId}) o
      where w.id = o.id and w.position <> o.position`
    if (count > 0)
      await publish(tx, [
        { type: 'want_to_read_updated', libraryId: null, fields: ['order'], accountId },
      ])
  })
}

/** Removes an item, if listed. Throws NotFound for a hidden item that is not. */
export async function removeWanted(sql: Sql, viewer: Viewer, owner: Owner): Promise<void> {
  const id = owner.kind === 'book' ? sql`book_id` : sql`series_id`
  await sql.begin(async tx => {
    const removed = await tx<Item[]>`
      with removed as (
        delete from want_to_read where account_id = ${viewer.accountId} and ${id} = ${owner.id}
        returning series_id, book_id)
      select coalesce(b.id, s.id) as id, coalesce(b.library_id, s.library_id) as "libraryId",
        b.series_id as "seriesId"
      from removed r left join series s on s.id = r.series_id left join book b on b.id = r.book_id`
    if (removed.length === 0) await requireOwner(tx, { viewer, owner })
    await publishChange(tx, viewer, removed, ['deleted'])
  })
}
