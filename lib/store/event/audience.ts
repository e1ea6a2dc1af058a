// Event audience: which events a subscriber may receive, namely those of entities that its account can see,
// or could see before they were deleted.
import type { Sql } from 'postgres'
import type { Permission } from '../../accounts/permission.ts'
import {
  couldSee,
  isLimited,
  isUnrestricted,
  type Viewer,
  visibleBook,
  visibleSeries,
} from '../../accounts/viewer.ts'
import type { EventRow } from './event-rows.ts'

export type Subscriber = { viewer: Viewer; permissions: ReadonlySet<Permission> }
/** The visible events of a row: all, none, or those with these indexes. */
export type VisibleEvents = 'all' | 'none' | readonly number[]
/** Ids of visible series and books. */
export type VisibleIds = ReadonlySet<string>

/** Whether the subscriber may receive any event of the row, as far as is known without a query. */
export function canReceive(row: EventRow, { viewer, permissions }: Subscriber): boolean {
  if (row.accountId !== null && row.accountId !== viewer.accountId) return false
  if (row.audience?.limited === null && isLimited(viewer)) return false
  if (row.stream === 'task') return canReceiveTask(row, { viewer, permissions })
  if (!permissions.has(requiredPermission(row))) return false
  // Whether an account can see something in a collection is not looked up.
  if (isOfGrouping(row) && !isUnrestricted(viewer)) return false
  return isInVisibleLibrary(row, viewer)
}

function canReceiveTask(row: EventRow, { viewer, permissions }: Subscriber): boolean {
  if (row.libraryId === null) return permissions.has('TasksRead')
  const isPermitted = permissions.has('TasksRead') || permissions.has('LibrariesRead')
  return isPermitted && isInVisibleLibrary(row, viewer)
}

const isOfGrouping = ({ type }: EventRow) => /^(?:collection|read_list)_/.test(type)

function requiredPermission(row: EventRow): Permission {
  const { stream, type, seriesIds, bookIds } = row
  if (stream === 'scan') return 'LibrariesRead'
  if (type === 'release_source_polled') return 'PluginsManage'
  if (isOfGrouping(row)) return type.startsWith('collection_') ? 'CollectionsRead' : 'ReadListsRead'
  return bookIds ? 'BooksRead' : seriesIds ? 'SeriesRead' : 'LibrariesRead'
}

function isInVisibleLibrary(row: EventRow, viewer: Viewer): boolean {
  if (viewer.libraries === null || row.libraryId === null) return true
  if (viewer.libraries.includes(row.libraryId)) return true
  if (row.stream === 'entity' && !isDeletion(row)) return false
  // A library that is being deleted is no longer in the viewer's list.
  if (viewer.hasAllLibraries) return true
  return row.audience?.accounts?.includes(viewer.accountId) ?? false
}

/** Whether the ids of a row must be looked up for this subscriber. */
export function needsLookup(row: EventRow, { viewer }: Subscriber): boolean {
  if (row.seriesIds === null && row.bookIds === null) return false
  return isLimited(viewer) && !isDeletion(row)
}

/** The row with the message that this subscriber may read. */
export function messageFor(row: EventRow, { viewer }: Subscriber): EventRow {
  const { limited } = row.audience ?? {}
  return limited && isLimited(viewer) ? { ...row, data: limited as EventRow['data'] } : row
}

/** Looks up the ids of all rows in one statement. */
export async function lookUpVisibleIds(
  sql: Sql,
  rows: readonly EventRow[],
  viewer: Viewer,
): Promise<VisibleIds> {
  // Libraries were checked by `canReceive`; without them, accounts with equal limits share the result.
  const limits = { ...viewer, libraries: null }
  const bookIds = rows.flatMap(row => row.bookIds ?? [])
  const seriesIds = rows.flatMap(row => (row.bookIds ? [] : (row.seriesIds ?? [])))
  const visible = await sql<{ id: string }[]>`
    select b.id
    from book b join series s on s.id = b.series_id
    where b.id = any(${bookIds}::uuid[]) and ${visibleBook(sql, limits)}
    union all
    select s.id
    from series s
    where s.id = any(${seriesIds}::uuid[]) and ${visibleSeries(sql, limits)}`
  return new Set(visible.map(row => row.id))
}

/** The visible events of a row that passed `canReceive`, once its ids have been looked up. */
export function visibleEventsOf(
  row: EventRow,
  subscriber: Subscriber,
  visibleIds: VisibleIds,
): VisibleEvents {
  if (isDeletion(row) && isLimited(subscriber.viewer))
    return visibleDeletions(row, subscriber.viewer)
  if (!needsLookup(row, subscriber)) return 'all'
  const ids = row.bookIds ?? row.seriesIds ?? []
  return selectIndexes(ids.length, i => visibleIds.has(ids[i]!))
}

const isDeletion = ({ type }: EventRow) => type.endsWith('_deleted')

function visibleDeletions({ seriesIds, audience, count }: EventRow, viewer: Viewer): VisibleEvents {
  if (seriesIds === null) return 'all'
  // Without these facts no restricted account receives the event: better too few subscribers than too many.
  if (!audience?.ratings || !audience.tags) return 'none'
  const { ratings, unrated, tags } = audience
  return selectIndexes(count, i => {
    const rating = ratings[i] ?? null
    const isUnrated = unrated?.[i] ?? rating === null
    return couldSee(viewer, { rating, isUnrated, tags: tags[i] ?? [] })
  })
}

function selectIndexes(count: number, isVisible: (index: number) => boolean): VisibleEvents {
  const indexes = Array.from({ length: count }, (_, i) => i).filter(isVisible)
  return indexes.length === count ? 'all' : indexes.length === 0 ? 'none' : indexes
}
