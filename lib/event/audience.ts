// Which events an account is told of: those of things that it sees, or saw before they were gone.
import type { Sql } from 'postgres'
import type { Permission } from '../auth/permission.ts'
import { isLimited, sawGone, seesBook, seesSeries, type Viewer } from '../auth/viewer.ts'
import type { Row } from './event-rows.ts'

/** Who listens, as far as it matters here. */
export type Seer = { viewer: Viewer; permissions: ReadonlySet<Permission> }
/** The events of a row that are seen: all, none, or those at these places. */
export type Sight = 'all' | 'none' | readonly number[]
/** Ids of the series and books of some rows that are seen. */
export type Seen = ReadonlySet<string>

/** What can be said of a row as a whole, without asking the database. */
export function mayHear(row: Row, { viewer, permissions }: Seer): boolean {
  if (row.accountId !== null && row.accountId !== viewer.accountId) return false
  if (row.stream === 'task') return mayHearTask(row, { viewer, permissions })
  if (!permissions.has(needOf(row))) return false
  return isIn(row, viewer)
}

function mayHearTask(row: Row, { viewer, permissions }: Seer): boolean {
  if (row.libraryId === null) return permissions.has('TasksRead')
  return (permissions.has('TasksRead') || permissions.has('LibrariesRead')) && isIn(row, viewer)
}

function needOf({ stream, seriesIds, bookIds }: Row): Permission {
  if (stream === 'scan') return 'LibrariesRead'
  return bookIds ? 'BooksRead' : seriesIds ? 'SeriesRead' : 'LibrariesRead'
}

function isIn(row: Row, viewer: Viewer): boolean {
  if (viewer.libraries === null || row.libraryId === null) return true
  if (viewer.libraries.includes(row.libraryId)) return true
  if (row.stream === 'entity' && !isOfGone(row)) return false
  // A library that is being removed is in no list any more.
  if (viewer.hasAllLibraries) return true
  return row.audience?.accounts?.includes(viewer.accountId) ?? false
}

/** Whether the ids of a row must be looked up for this listener. */
export function needsLook(row: Row, { viewer, permissions }: Seer): boolean {
  if (row.seriesIds === null && row.bookIds === null) return false
  if (!isLimited(viewer) || isOfGone(row)) return false
  return row.stream !== 'task' || !permissions.has('TasksRead')
}

/** Looks up all that these rows name, in one statement. */
export async function lookUp(sql: Sql, rows: readonly Row[], viewer: Viewer): Promise<Seen> {
  // By library it was decided already, and accounts of equal limits shall share the answer.
  const limits = { ...viewer, libraries: null }
  const books = rows.flatMap(row => row.bookIds ?? [])
  const series = rows.flatMap(row => (row.bookIds ? [] : (row.seriesIds ?? [])))
  const seen = await sql<{ id: string }[]>`
    select b.id
    from book b join series s on s.id = b.series_id
    where b.id = any(${books}::uuid[]) and ${seesBook(sql, limits)}
    union all
    select s.id
    from series s
    where s.id = any(${series}::uuid[]) and ${seesSeries(sql, limits)}`
  return new Set(seen.map(row => row.id))
}

/** The events of a row that may be heard, once its ids are looked up. */
export function sightOf(row: Row, seer: Seer, seen: Seen): Sight {
  if (isOfGone(row) && isLimited(seer.viewer)) return ofGone(row, seer.viewer)
  if (!needsLook(row, seer)) return 'all'
  const ids = row.bookIds ?? row.seriesIds ?? []
  return those(ids.length, i => seen.has(ids[i]!))
}

const isOfGone = ({ type }: Row) => type.endsWith('_deleted')

function ofGone({ seriesIds, audience, count }: Row, viewer: Viewer): Sight {
  if (seriesIds === null) return 'all'
  // Nobody noted what it was: rather a client too few than one too many.
  if (!audience?.ratings || !audience.tags) return 'none'
  const { ratings, unrated, tags } = audience
  return those(count, i => {
    const rating = ratings[i] ?? null
    const isUnrated = unrated?.[i] ?? rating === null
    return sawGone(viewer, { rating, isUnrated, tags: tags[i] ?? [] })
  })
}

function those(count: number, isSeen: (place: number) => boolean): Sight {
  const places = Array.from({ length: count }, (_, i) => i).filter(isSeen)
  return places.length === count ? 'all' : places.length === 0 ? 'none' : places
}
