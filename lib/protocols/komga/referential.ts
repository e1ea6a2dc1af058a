// Values in the metadata of the series and books that a caller sees: genres, tags, authors and so on, for the filters
// of reading apps. Values stated by books are stored with their series; only where an age limit hides books of a
// series are its books read.
import type { Fragment } from 'postgres'
import {
  fromBooksBeyondAge,
  hasVisibleBook,
  hidesBooks,
  presentBook,
  type Viewer,
  visibleBook,
  visibleSeries,
} from '../../accounts/viewer.ts'
import { isUuid } from '../../base/id.ts'
import { creditsOf } from '../../catalog/derived/author-key.ts'
import { catalogCache } from '../../list/catalog-cache.ts'
import { listSeries } from '../../list/list-series.ts'
import { resolveCollections } from '../../organize/collection/rules.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { allOf, unionAll, unprepared } from '../../store/postgres/statement.ts'
import type { WithServices } from '../../store/services.ts'
import { anyOfParts } from './search/condition-tree.ts'
import { idCondition } from './search/operators.ts'
import { type Reader, roleName } from './values.ts'

/** Ids may be any text; several parameters are combined with "and". */
export type ReferentialScope = {
  libraryIds?: readonly string[] | undefined
  collectionIds?: readonly string[] | undefined
  seriesIds?: readonly string[] | undefined
  readListIds?: readonly string[] | undefined
}

/** Queries for one text column, over `series s` and over `book b`. */
type Source = {
  ofSeries: (sql: Queryable) => Fragment
  /** Set if books state the values, which `ofSeries` aggregates. */
  ofBook?: (sql: Queryable) => Fragment
  /** Values stated by the series itself. */
  own?: (sql: Queryable) => Fragment
}

const year = (sql: Queryable, released: Fragment) =>
  sql`select (${released} / 10000)::text where ${released} > 0`

const sources = {
  genres: { ofSeries: sql => sql`select lower(unnest(s.genres))` },
  seriesTags: {
    ofSeries: sql => sql`select lower(unnest(s.tags))`,
    own: sql => sql`select lower(unnest(s.tags))`,
  },
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
    ofBook: sql => creditsOf(sql, 'b'),
    own: sql => creditsOf(sql, 's'),
  },
} as const satisfies Record<string, Source>
export type Referential = keyof typeof sources

const known = (ids: readonly string[]) => ids.filter(isUuid)
const maxSeries = 1_000_000

/** The distinct values, sorted ignoring case and accents. Cached until books or series change. */
export async function referentialValues(
  db: WithServices,
  { viewer, isAdmin }: Reader,
  names: readonly Referential[],
  scope: ReferentialScope,
): Promise<readonly string[]> {
  const { sql, services } = db
  const visible = names.filter(name => name !== 'sharingLabels' || isAdmin)
  if (visible.length === 0) return []
  // Changes of lists and of collection rules have no effect on the version.
  if (scope.collectionIds || scope.readListIds) return await read(db, viewer, visible, scope)
  return await services(catalogCache)(sql, viewer, {
    name: `komga ${JSON.stringify([visible, scope])}`,
    read: () => read(db, viewer, visible, scope),
    textsOf: values => values,
    mayBeOld: false,
  })
}

async function read(
  db: WithServices,
  viewer: Viewer,
  visible: readonly Referential[],
  scope: ReferentialScope,
): Promise<string[]> {
  const { sql } = db
  const { conditions } = await seriesConditions(db, viewer, scope)
  const { readListIds } = scope
  const ofBooks = visible.some(name => 'ofBook' in sources[name])
  const of = (kind: keyof Source, from: Fragment, where: Fragment) => sql`
    select s.id as series_id, v.value from ${from}
    cross join lateral (${values(sql, visible, kind)}) v(value)
    where ${visibleSeries(sql, viewer)} and ${conditions} and ${where}`
  const books = sql`book b join series s on s.id = b.series_id`
  const readFrom = (where: Fragment) =>
    of('ofBook', books, sql`${presentBook(sql)} and ${visibleBook(sql, viewer)} and ${where}`)
  const isListed = sql`s.book_count > 0 and ${hasVisibleBook(sql, viewer)}`
  const stored = of('ofSeries', sql`series s`, isListed)
  const inReadLists = sql`b.id in (
    select m.book_id from read_list_book m
    where m.read_list_id = any(${known(readListIds ?? [])}::uuid[]))`
  const found = () => {
    if (ofBooks && readListIds) return sql`select value from (${readFrom(inReadLists)}) x`
    if (!ofBooks || !hidesBooks(viewer)) return sql`select value from (${stored}) x`
    // A value stated by a hidden book may occur only in hidden books: unless another series has it, the books of its
    // series are read.
    return sql`
      with hidden as materialized (
        ${of('ofBook', books, sql`b.id in (select y.id ${fromBooksBeyondAge(sql, viewer)})`)}
      ), certain as materialized (
        select distinct value from (
          select x.value from (${stored}) x
          where not exists (
            select from hidden h where h.series_id = x.series_id and h.value = x.value)) x
      ), uncertain as materialized (
        select distinct h.series_id from hidden h
        where not exists (select from certain c where c.value = h.value))
      select value from certain
      union all
      select value from (${readFrom(sql`s.id in (select series_id from uncertain)`)}) x
      union all
      select value from (
        ${of('own', sql`series s`, sql`${isListed} and s.id in (select series_id from uncertain)`)}) x`
  }
  const rows = await unprepared(sql<{ value: string }[]>`
    select value from (
      select distinct value from (${found()}) x where value <> '') y
    order by folded(value) collate "C", value collate "C"`)
  return rows.map(row => row.value)
}

/** The union for several names. `ofBook` excludes values of series that books do not state. */
function values(sql: Queryable, names: readonly Referential[], kind: keyof Source): Fragment {
  const queries = names.flatMap(name => (sources[name] as Source)[kind]?.(sql) ?? [])
  return queries.length === 0 ? sql`select null where false` : unionAll(sql, queries)
}

/** Conditions on `series s`, wrapped in an object, because `await` would run a bare fragment. */
async function seriesConditions(
  db: WithServices,
  viewer: Viewer,
  { libraryIds, collectionIds, seriesIds, readListIds }: ReferentialScope,
): Promise<{ conditions: Fragment }> {
  const { sql } = db
  const inCollections = collectionIds && (await seriesOfCollections(db, viewer, collectionIds))
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

async function seriesOfCollections(db: WithServices, viewer: Viewer, ids: readonly string[]) {
  const condition = anyOfParts(ids.map(id => idCondition('collectionId', id)))
  const filter = await resolveCollections(db.sql, condition && { of: 'series', condition })
  return (await listSeries(db, viewer, { filter, page: 1, pageSize: maxSeries })).ids
}

export type AuthorEntry = { name: string; role: string }

/** The credits among `referentialValues` whose names contain a text, ignoring case and accents. */
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
