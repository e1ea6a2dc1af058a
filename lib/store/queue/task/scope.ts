// Visibility of tasks: which library, series or book a job is about, and whether a viewer may know of it.
import type { Fragment } from 'postgres'
import { isLimited, type Viewer, visibleBook, visibleSeries } from '../../../accounts/viewer.ts'
import type { Queryable } from '../../postgres/db.ts'
import { bulkJobs, isBulk, type JobName } from '../jobs.ts'

/**
 * The tasks that a viewer may see: tasks of the viewer's libraries, each about a whole library or a visible
 * series or book, and tasks without a library if nothing is hidden from the viewer, since they work on
 * everything. A scan's batch also counts hidden books, and after its end has nothing but their number: a
 * viewer with limits has no access to batches.
 */
export type TaskScope = {
  /** Null for all libraries. */
  libraries: readonly string[] | null
  /** Includes tasks without a library. */
  withoutLibrary: boolean
  /** The viewer, if some books or series of these libraries are hidden from them. */
  limits: Viewer | null
}

export const allTasks: TaskScope = { libraries: null, withoutLibrary: true, limits: null }

/** The tasks that a viewer may see, optionally of one library. */
export function taskScope(viewer: Viewer, libraryId?: string): TaskScope {
  const libraries = viewer.hasAllLibraries ? null : viewer.libraries
  const limits = isLimited(viewer) ? viewer : null
  const withoutLibrary = libraries === null && limits === null
  if (libraryId === undefined) return { libraries, withoutLibrary, limits }
  const isVisible = libraries === null || libraries.includes(libraryId)
  return { libraries: isVisible ? [libraryId] : [], withoutLibrary: false, limits }
}

/** Equal for scopes with the same tasks. */
export function scopeKey({ libraries, withoutLibrary, limits }: TaskScope): string {
  if (limits === null) return JSON.stringify([libraries, withoutLibrary])
  const { allowedTags, deniedTags, ageLimit, showsUnrated } = limits
  return JSON.stringify([
    libraries,
    withoutLibrary,
    [...allowedTags].sort(),
    [...deniedTags].sort(),
    ageLimit,
    showsUnrated,
  ])
}

/** Jobs with these names that can be in the scope. */
export function namesInScope(names: readonly JobName[], { limits }: TaskScope): JobName[] {
  return names.filter(name => limits === null || !isBulk(name))
}

/** A condition on `job j`: it is in the scope. */
export function isInScope(sql: Queryable, scope: TaskScope): Fragment {
  return sql`(${isOfLibraries(sql, scope)} and ${isWithinLimits(sql, scope)})`
}

function isOfLibraries(sql: Queryable, { libraries, withoutLibrary }: TaskScope): Fragment {
  if (libraries === null) return withoutLibrary ? sql`true` : sql`j.data->>'libraryId' is not null`
  return sql`(j.data->>'libraryId' = any(${libraries as string[]})
    or ${withoutLibrary} and j.data->>'libraryId' is null)`
}

/** A condition on `job j`: the series or book it is about is visible. */
export function isWithinLimits(sql: Queryable, { limits }: TaskScope): Fragment {
  if (limits === null) return sql`true`
  return sql`(
    j.name <> all(${[...bulkJobs] as string[]})
    and (j.data->>'seriesId' is null or exists (
      select from series s
      where s.id = (j.data->>'seriesId')::uuid and ${visibleSeries(sql, limits)}))
    and (j.data->>'bookId' is null or exists (
      select from book b join series s on s.id = b.series_id
      where b.id = (j.data->>'bookId')::uuid and ${visibleBook(sql, limits)})))`
}
