// Values that occur in the metadata of the series and books that a caller sees: genres, tags, authors and so on,
// for the filters of reading apps. What books state is stored with their series, except where an age limit hides
// books of a series: there the others are read.
import type { Fragment, Sql } from 'postgres'
import {
  fromBooksBeyondAge,
  hasVisibleBook,
  hidesBooks,
  presentBook,
  type Viewer,
  visibleBook,
  visibleSeries,
} from '../auth/viewer.ts'
import { resolveCollections } from '../catalog/collection/collection-filter.ts'
import { creditsOfBook } from '../catalog/derived/author-key.ts'
import { listSeries } from '../catalog/list/list-series.ts'
import type { Queryable } from '../postgres/db.ts'
import { allOf, unprepared } from '../postgres/statement.ts'
import { anyOfParts } from './search/condition-tree.ts'
import { idCondition } from './search/operators.ts'
import { type Reader, roleName } from './values.ts'

/** Ids of any text; several parameters restrict together. */
export type ReferentialScope = {
  libraryIds?: readonly string[] | undefined
  collectionIds?: readonly string[] | undefined
  seriesIds?: readonly string[] | undefined
  readListIds?: readonly string[] | undefined
}

/** Queries of one text column, over `series s` and over `book b`. */
type Source = {
  ofSeries: (sql: Queryable) => Fragment
  /** Where books state the values, which `ofSeries` has of all of them. */
  ofBook?: (sql: Queryable) => Fragment
}

const year = (sql: Queryable, released: Fragment) =>
  sql`select (${released} / 10000)::text where ${released} > 0`

const sources = {
  genres: { ofSeries: sql => sql`select lower(unnest(s.genres))` },
  seriesTags: { ofSeries: sql => sql`select lower(unnest(s.tags))` },
  bookTags: {
    ofSeries: sql => sql`select lower(unnest(s.book_tags))`,
    ofBook: sql => sql`select lower(unnest(b.tags))`,
  },
  publishers: { ofSeries: sql => sql`select s.publisher` },
  languages: { ofSeries: sql => sql`select s.language` },
  ageRatings: { ofSeries: sql => sql`select coalesce(s.age_rating::text, 'None')` },
  sharingLabels: {
    ofSeries: sql => sql`
      select g.name from series_sharing_tag t join sharing_tag g on g.id = t.tag_id
      where t.series_id = s.id`,
  },
  releaseYears: {
    ofSeries: sql => year(sql, sql`s.released`),
    ofBook: sql => year(sql, sql`b.released`),
  },
  credits: {
    ofSeries: sql => sql`select string_to_table(s.credits, ${'\n'})`,
    ofBook: creditsOfBook,
  },
} as const satisfies Record<string, Source>
export type Referential = keyof typeof sources

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const known = (ids: readonly string[]) => ids.filter(id => uuid.test(id))
const maxSeries = 1_000_000

/** The values, each once, sorted without case and accents. */
export async function referentialValues(
  sql: Sql,
  { viewer, isAdmin }: Reader,
  names: readonly Referential[],
  scope: ReferentialScope,
): Promise<string[]> {
  const visible = names.filter(name => name !== 'sharingLabels' || isAdmin)
  if (visible.length === 0) return []
  const { conditions } = await seriesConditions(sql, viewer, scope)
  const { readListIds } = scope
  const ofBooks = visible.some(name => 'ofBook' in sources[name])
  const isRead = (where: Fragment) => sql`
    select v.value from book b join series s on s.id = b.series_id
    cross join lateral (${values(sql, visible, 'ofBook')}) v(value)
    where ${presentBook(sql)} and ${visibleBook(sql, viewer)} and ${conditions} and ${where}`
  const inReadLists = sql`b.id in (
    select m.book_id from read_list_book m
    where m.read_list_id = any(${known(readListIds ?? [])}::uuid[]))`
  const hidden = sql`(s.id in (select y.series_id ${fromBooksBeyondAge(sql, viewer)}))`
  const isPartial = ofBooks && hidesBooks(viewer)
  const stored = sql`
    select v.value from series s
    cross join lateral (${values(sql, visible, 'ofSeries')}) v(value)
    where s.book_count > 0 and ${visibleSeries(sql, viewer)} and ${hasVisibleBook(sql, viewer)}
      and ${conditions} and ${isPartial ? sql`${hidden} is not true` : sql`true`}`
  const rows = await unprepared(sql<{ value: string }[]>`
    select value from (
      select distinct value from (
        ${readListIds && ofBooks ? isRead(inReadLists) : stored}
        ${isPartial && !readListIds ? sql`union all ${isRead(sql`${hidden} is true`)}` : sql``}
      ) x where value <> '') y
    order by folded(value) collate "C", value collate "C"`)
  return rows.map(row => row.value)
}

/** Of several: the union. Values of series that books do not state are left out of `ofBook`. */
function values(sql: Queryable, names: readonly Referential[], kind: keyof Source): Fragment {
  const queries = names.flatMap(name => (sources[name] as Source)[kind]?.(sql) ?? [])
  return queries.reduce((a, b) => sql`${a} union all ${b}`)
}

/** On `series s`; in an object, because `await` would run a bare fragment. */
async function seriesConditions(
  sql: Sql,
  viewer: Viewer,
  { libraryIds, collectionIds, seriesIds, readListIds }: ReferentialScope,
): Promise<{ conditions: Fragment }> {
  const inCollections = collectionIds && (await seriesOfCollections(sql, viewer, collectionIds))
  const conditions = allOf(sql, [
    ...(libraryIds ? [sql`s.library_id = any(${known(libraryIds)}::uuid[])`] : []),
    ...(seriesIds ? [sql`s.id = any(${known(seriesIds)}::uuid[])`] : []),
    ...(inCollections ? [sql`s.id = any(${inCollections}::uuid[])`] : []),
    ...(readListIds
      ? [
          sql`s.id in (
            select b.series_id from read_list_book m join book b on b.id = m.book_id
            where m.read_list_id = any(${known(readListIds)}::uuid[]))`,
        ]
      : []),
  ])
  return { conditions }
}

async function seriesOfCollections(sql: Sql, viewer: Viewer, ids: readonly string[]) {
  const condition = anyOfParts(ids.map(id => idCondition('collectionId', id)))
  const filter = await resolveCollections(sql, condition && { of: 'series', condition })
  return (await listSeries(sql, viewer, { filter, page: 1, pageSize: maxSeries })).ids
}

export type AuthorEntry = { name: string; role: string }

/** The credits of `referentialValues`, whose names contain a text, without case and accents. */
export function authorsOfCredits(
  credits: readonly string[],
  { contains, role }: { contains: (name: string) => boolean; role?: string | undefined },
): AuthorEntry[] {
  return credits.flatMap(line => {
    const [name, stored = ''] = line.split('\t') as [string, string?]
    const author = { name, role: roleName(stored) }
    return contains(name) && (role === undefined || author.role === role) ? [author] : []
  })
}
