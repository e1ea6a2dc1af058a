// Groups of duplicate books and series, as visible to a viewer: hidden members are left out, and so are
// groups with fewer than two visible members.
import type { Sql } from 'postgres'
import {
  hidesBooks,
  presentBeyondAge,
  presentBook,
  type Viewer,
  visibleBook,
  visibleSeries,
} from '../../accounts/viewer.ts'
import { Conflict, NotFound } from '../../base/errors.ts'
import { joinPath, pathText } from '../../base/path.ts'
import { component, count, type Static, Type, timestamp, uuid } from '../../base/schema.ts'
import type { IdPage } from '../../list/sort.ts'
import type { Queue } from '../../store/queue/queue.ts'
import { unfinishedJobs } from '../../store/queue/select-jobs.ts'

/** How many members of a group are listed. */
export const maxMembers = 1_000
/** How many members of a group are listed with details. */
export const maxDetails = 20

export type PageRequest = { page: number; pageSize: number }

/** Deletes the record of a group, not its members. Throws NotFound for a group that is not visible. */
export async function deleteDuplicateGroup(
  sql: Sql,
  viewer: Viewer,
  { id, of }: { id: string; of: 'books' | 'series' },
): Promise<void> {
  const members = of === 'books' ? bookMembers(sql, viewer) : seriesMembers(sql, viewer)
  const { count } = await sql`
    delete from duplicate_group
    where id in (select id from ${members} m where id = ${id} group by id having count(*) > 1)`
  if (count === 0) throw new NotFound('Duplicate group not found')
}

/** Pairs of group id and visible member id. */
function bookMembers(sql: Sql, viewer: Viewer) {
  return sql`(
    select g.id, b.id as member
    from duplicate_group g
    join duplicate_book d on d.group_id = g.id
    join book b on b.id = d.book_id and ${presentBook(sql)}
    join series s on s.id = b.series_id
    where g.kind = 'book' and ${visibleBook(sql, viewer)})`
}

function seriesMembers(sql: Sql, viewer: Viewer, kinds = ['external_id', 'title']) {
  return sql`(
    select g.id, g.kind, s.id as member
    from duplicate_group g
    join duplicate_series d on d.group_id = g.id
    join series s on s.id = d.series_id and s.book_count > 0
    where g.kind = any(${kinds}) and ${visibleSeries(sql, viewer)})`
}

type Group = { id: string; createdAt: Date; updatedAt: Date; duplicateCount: number }

/** A page of the groups of books, largest first, and the totals. */
export async function listBookDuplicates(
  sql: Sql,
  viewer: Viewer,
  { page, pageSize }: PageRequest,
) {
  type Row = Group & { fileHash: string; bookIds: string[] }
  const groups = await sql<Row[]>`
    select g.id, g.key as "fileHash", n.members as "duplicateCount",
      array(select member from ${bookMembers(sql, viewer)} m where m.id = g.id
        order by member limit ${maxMembers}) as "bookIds",
      g.created_at as "createdAt", g.updated_at as "updatedAt"
    from (
      select id, count(*)::float8 as members from ${bookMembers(sql, viewer)} m
      group by id
      having count(*) > 1
      order by members desc, id
      limit ${pageSize} offset ${(page - 1) * pageSize}
    ) n
    join duplicate_group g on g.id = n.id
    order by n.members desc, g.id`
  const [totals] = await sql<{ groups: number; members: number }[]>`
    select count(*)::float8 as groups, coalesce(sum(members), 0)::float8 as members
    from (
      select count(*) as members from ${bookMembers(sql, viewer)} m group by id having count(*) > 1
    ) n`
  const shown = groups.flatMap(({ bookIds }) => bookIds.slice(0, maxDetails))
  const details = await bookDetails(sql, shown)
  return {
    groups: groups.map(group => ({
      ...group,
      books: group.bookIds.slice(0, maxDetails).flatMap(id => details.get(id) ?? []),
    })),
    totals: totals!,
  }
}

export const DuplicateBook = component('DuplicateBook', {
  id: uuid(),
  title: Type.String(),
  seriesId: uuid(),
  seriesName: Type.String(),
  libraryId: uuid(),
  libraryName: Type.String(),
  path: Type.String({ description: 'Relative to the library folder.' }),
  fileSize: count({ description: 'Size in bytes.' }),
  pageCount: count(),
})
type DuplicateBook = Static<typeof DuplicateBook>

/** Details by id, for the books that the viewer may see. */
async function bookDetails(sql: Sql, ids: readonly string[]): Promise<Map<string, DuplicateBook>> {
  if (ids.length === 0) return new Map()
  type Row = Omit<DuplicateBook, 'path'> & { folder: Uint8Array; name: Uint8Array }
  const rows = await sql<Row[]>`
    select b.id, b.title, b.series_id as "seriesId", s.title as "seriesName",
      b.library_id as "libraryId", l.name as "libraryName", d.path as folder, b.name,
      b.size::float8 as "fileSize", b.page_count as "pageCount"
    from book b
    join series s on s.id = b.series_id
    join library l on l.id = b.library_id
    join directory d on d.id = b.directory_id
    where b.id = any(${ids as string[]}::uuid[])`
  return new Map(
    rows.map(({ folder, name, ...book }) => [
      book.id,
      { ...book, path: pathText(joinPath(folder, name)) },
    ]),
  )
}

/** Ids of a page of the books in all groups, by file hash, and the number on all pages. */
export async function duplicateBooks(
  sql: Sql,
  viewer: Viewer,
  { offset, limit }: { offset: number; limit: number },
): Promise<IdPage> {
  const [row] = await sql<IdPage[]>`
    with members as materialized (
      select m.id, m.member, count(*) over (partition by m.id) as n from ${bookMembers(sql, viewer)} m
    ), listed as materialized (
      select m.member, g.key from members m join duplicate_group g on g.id = m.id where m.n > 1
    )
    select (select count(*) from listed)::float8 as total, array(
      select member from listed order by key, member limit ${limit} offset ${offset}) as ids`
  return row!
}

export const SeriesDuplicateMember = component('SeriesDuplicateMember', {
  id: uuid(),
  title: Type.String(),
  libraryId: uuid(),
  libraryName: Type.String(),
  bookCount: count(),
  updatedAt: timestamp(),
})

/** A page of the groups of series, largest first, and the totals. */
export async function listSeriesDuplicates(
  sql: Sql,
  viewer: Viewer,
  { page, pageSize, kinds }: PageRequest & { kinds: string[] },
) {
  type Row = Group & {
    matchType: 'external_id' | 'title'
    matchKey: string
    libraryId: string | null
    members: (Omit<Static<typeof SeriesDuplicateMember>, 'updatedAt'> & { updatedAt: string })[]
  }
  const visibleMembers = seriesMembers(sql, viewer, kinds)
  const bookCount = hidesBooks(viewer)
    ? sql`s.book_count - (
        select count(*) from book y
        where y.series_id = s.id and ${presentBeyondAge(sql, viewer, 'y')})`
    : sql`s.book_count`
  const groups = await sql<Row[]>`
    select g.id, g.kind as "matchType", g.library_id as "libraryId",
      -- Title keys start with the id of their library.
      case g.kind when 'title' then substr(g.key, 38) else g.key end as "matchKey",
      n.members as "duplicateCount",
      (
        select json_agg(json_build_object('id', s.id, 'title', s.title, 'libraryId', l.id,
          'libraryName', l.name, 'bookCount', ${bookCount},
          'updatedAt', to_char(s.updated_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
          ) order by s.sort_key, s.id)
        from (
          select member from ${visibleMembers} m where m.id = g.id order by member limit ${maxMembers}
        ) m
        join series s on s.id = m.member
        join library l on l.id = s.library_id
      ) as members,
      g.created_at as "createdAt", g.updated_at as "updatedAt"
    from (
      select id, count(*)::float8 as members from ${visibleMembers} m
      group by id
      having count(*) > 1
      order by members desc, id
      limit ${pageSize} offset ${(page - 1) * pageSize}
    ) n
    join duplicate_group g on g.id = n.id
    order by n.members desc, g.id`
  const [totals] = await sql<
    { groups: number; members: number; externalIds: number; titles: number }[]
  >`
    select count(*)::float8 as groups, coalesce(sum(members), 0)::float8 as members,
      (count(*) filter (where kind = 'external_id'))::float8 as "externalIds",
      (count(*) filter (where kind = 'title'))::float8 as titles
    from (
      select kind, count(*) as members from ${visibleMembers} m group by id, kind having count(*) > 1
    ) n`
  return { groups: [...groups], totals: totals! }
}

/** Enqueues a search for duplicates. Throws Conflict while a requested one is queued or running. */
export function requestDuplicateSearch(sql: Sql, queue: Queue): Promise<string> {
  return sql.begin(async tx => {
    await tx`select pg_advisory_xact_lock(hashtext('stackroom.dedupe.request'))`
    const [unfinished] = await tx`
      select 1 from ${unfinishedJobs(tx, ['dedupe'])} j
      where j.data @> '{"requested": true}'
      limit 1`
    if (unfinished)
      throw new Conflict('A search for duplicates is already queued or running', {
        reason: 'duplicates_active',
      })
    const [id] = await queue.send(tx, 'dedupe', [{ requested: true }], { key: 'requested' })
    return id!
  })
}
