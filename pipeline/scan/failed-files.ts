// Files and covers that failed and are tried again: disk errors at every scan; errors of memory or time once
// with each program version and after growing pauses; and files that changed while their modification time
// did not.

import { stat } from 'node:fs/promises'
import type { Fragment } from 'postgres'
import { joinPath } from '../../lib/base/path.ts'
import { version } from '../../lib/base/version.ts'
import { mountHealth, mountKey } from '../../lib/store/mount/mount-health.ts'
import type { Queryable, Sql, Transaction } from '../../lib/store/postgres/db.ts'
import { isFull, type LoadedScan } from './scan-context.ts'

/** Errors that may be caused by the program, or by what it read at the same time. */
const doubtfulCodes = ['memory', 'timeout', 'internal']
const maxDoublings = 6

/** Assignments for `book_artifact a` after an attempt to read the file or to generate the cover. */
export const afterAttempt = (sql: Queryable, hasFailed: Fragment): Fragment => sql`
  attempts = case when not ${hasFailed} then 0
    when a.tried_version = ${version} then least(a.attempts + 1, 1000) else 1 end,
  tried_version = case when ${hasFailed} then ${version}::text end,
  tried_at = case when ${hasFailed} then now() end`

/**
 * A condition on the `book_artifact a` of a book that failed: the version is different, or the pause,
 * initially a day, is over.
 */
const isDue = (sql: Queryable): Fragment => sql`
  (a.tried_version is distinct from ${version}
    or a.tried_at + interval '1 day' * power(2, least(a.attempts - 1, ${maxDoublings})) <= now())`

/** Adds files to read again; `changedIds` come from `findChanged`. */
export async function retryFailedFiles(tx: Transaction, scan: LoadedScan, changedIds: string[]) {
  const { libraryId } = scan
  await tx`
    insert into pending_file (library_id, directory_id, name, size, modified_ms, forced)
    select b.library_id, b.directory_id, b.name, b.size, b.modified_ms, true
    from book b
    join book_artifact a on a.book_id = b.id
    where b.library_id = ${libraryId} and b.error_code is not null and b.missing_at is null
      and (b.error_code = 'io' or b.id = any(${changedIds}::uuid[])
        or ${isFull(scan)} and b.error_code = any(${doubtfulCodes}) and ${isDue(tx)})
    on conflict (directory_id, name) do nothing`
}

/** Clears the errors of due covers, so that they are generated again. */
export async function retryFailedCovers(sql: Sql, { libraryId }: LoadedScan) {
  await sql`
    with due as (
      select a.book_id
      from book_artifact a
      join book b on b.id = a.book_id
      where b.library_id = ${libraryId} and b.error_code is null and b.missing_at is null
        and a.cover_error is not null and a.cover is null and ${isDue(sql)}
      order by 1
      for no key update of a
    )
    update book_artifact a set cover_error = null from due where a.book_id = due.book_id`
}

type FailedFile = {
  id: string
  folder: Uint8Array
  name: Uint8Array
  size: number
  modifiedMs: number
  changedMs: number
}

const batch = 500

/**
 * Ids of unreadable books whose files have changed since they were read: downloads often write to a file of
 * the final size, and then also set its final time. Throws NotResponding.
 */
export async function findChanged(sql: Sql, { libraryId, root }: LoadedScan): Promise<string[]> {
  const changed: string[] = []
  const rows = sql<FailedFile[]>`
    select b.id, d.path as folder, b.name, b.size::float8 as size,
      b.modified_ms::float8 as "modifiedMs", a.changed_ms::float8 as "changedMs"
    from book b
    join book_artifact a on a.book_id = b.id
    join directory d on d.id = b.directory_id
    where b.library_id = ${libraryId} and b.error_code is not null and b.missing_at is null
      and a.changed_ms is not null`
  for await (const files of rows.cursor(batch)) {
    const isChanged = await mountHealth.run(mountKey(root), () =>
      Promise.all(
        files.map(file => wasChanged(joinPath(root, joinPath(file.folder, file.name)), file)),
      ),
    )
    changed.push(...files.filter((_, i) => isChanged[i]).map(({ id }) => id))
  }
  return changed
}

/** The walk finds a different size or time. */
const wasChanged = (path: Buffer, { size, modifiedMs, changedMs }: FailedFile): Promise<boolean> =>
  stat(path).then(
    now =>
      now.size === size &&
      Math.round(now.mtimeMs) === modifiedMs &&
      Math.round(now.ctimeMs) !== changedMs,
    () => false,
  )
