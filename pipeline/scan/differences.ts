// Writes the differences of a batch of the walk in one transaction: files to read with their jobs, books that
// are gone, and the new folder digests. Rows are passed as arrays, because Postgres limits JSON to 256 MB and
// a folder may contain millions of files.
import type { Queryable, Sql, Transaction } from '../../lib/store/postgres/db.ts'
import { retryOnDeadlock } from '../../lib/store/postgres/retry-on-deadlock.ts'
import type { Queue } from '../../lib/store/queue/queue.ts'
import { singleThreadJobs } from './batch-jobs.ts'
import type { LoadedScan } from './scan-context.ts'

/** A new or changed file. The name is hex. */
export type Difference = {
  directoryId: string
  name: string
  size: number
  ms: number
  forced: boolean
  /**
   * A book has this place with a different size or time. The file it was may have moved, and is only found
   * once all new files are read: until then this file has no job (see `retryPending`).
   */
  replaces: boolean
}

/** A present book that its folder no longer lists. The name is hex. */
export type MissingCandidate = { bookId: string; directoryId: string; name: string }

export type FolderState = { id: string; digest: string; sidecars: Record<string, number> }

export type Comparison = {
  differences: Difference[]
  missing: MissingCandidate[]
  /** Folders that their parent no longer lists: all present books below them are missing too. */
  missingFolders: string[]
  folders: FolderState[]
}

/** Returns the number of missing candidates. */
export async function storeDifferences(
  sql: Sql,
  queue: Queue,
  scan: LoadedScan,
  comparison: Comparison,
): Promise<number> {
  return await retryOnDeadlock(sql, async tx => {
    await enqueueFiles(tx, queue, scan, comparison.differences)
    const missing = await storeMissingCandidates(tx, scan, comparison)
    const undecided = new Set(missing.map(row => row.directoryId))
    const digests = comparison.folders.map(f => ({ ...f, undecided: undecided.has(f.id) }))
    await tx`
      with n as (
        select n.*
        from jsonb_to_recordset(${tx.json(digests)})
          as n(id uuid, digest text, sidecars jsonb, undecided boolean)
        join directory d on d.id = n.id
        order by d.id
        for no key update of d
      )
      update directory d
      set digest = case when n.undecided then d.digest else decode(n.digest, 'hex') end,
        pending_digest = case when n.undecided then decode(n.digest, 'hex') end,
        sidecars = n.sidecars, artwork_due = true
      from n
      where d.id = n.id`
    const enqueued = comparison.differences.filter(file => !file.replaces).length
    await tx`
      update scan set to_index = to_index + ${enqueued}
      where id = ${scan.scanId}`
    return missing.reduce((sum, row) => sum + row.books, 0)
  })
}

async function enqueueFiles(tx: Transaction, queue: Queue, scan: LoadedScan, files: Difference[]) {
  if (files.length === 0) return
  const rows = await tx<{ id: string; place: string }[]>`
    insert into pending_file as f (library_id, directory_id, name, size, modified_ms, forced, attempts)
    select ${scan.libraryId}, directory, decode(name, 'hex'), size, ms, forced,
      case when replaces then 0 else 1 end
    from unnest(${files.map(x => x.directoryId)}::uuid[], ${files.map(x => x.name)}::text[],
      ${files.map(x => x.size)}::bigint[], ${files.map(x => x.ms)}::bigint[],
      ${files.map(x => String(x.forced))}::text[]::boolean[],
      ${files.map(x => String(x.replaces))}::text[]::boolean[])
      as d(directory, name, size, ms, forced, replaces)
    order by 2, 3
    on conflict (directory_id, name) do update
    set size = excluded.size, modified_ms = excluded.modified_ms,
      forced = f.forced or excluded.forced
    returning id::text, directory_id || encode(name, 'hex') as place`
  // Jobs take files in listing order, although rows are locked in key order.
  const idsByPlace = new Map(rows.map(row => [row.place, row.id]))
  const ids = files
    .filter(file => !file.replaces)
    .map(file => idsByPlace.get(file.directoryId + file.name)!)
  await queue.send(tx, 'index', singleThreadJobs(scan, ids))
}

/**
 * Returns how many candidates each folder has. A batch being stored concurrently may have found one of the
 * books elsewhere, so each is locked and checked again: otherwise its new place would be marked as missing.
 */
async function storeMissingCandidates(
  tx: Transaction,
  scan: LoadedScan,
  { missing, missingFolders }: Comparison,
) {
  if (missing.length === 0 && missingFolders.length === 0) return []
  return await tx<{ directoryId: string; books: number }[]>`
    with recursive ${foldersBelow(tx, missingFolders)}, candidate as (
      select id, folder, decode(name, 'hex') as name, folder as listed_in
      from unnest(${missing.map(m => m.bookId)}::uuid[], ${missing.map(m => m.directoryId)}::uuid[],
        ${missing.map(m => m.name)}::text[]) as l(id, folder, name)
      union all
      select b.id, b.directory_id, b.name, g.above
      from gone g
      join book b on b.directory_id = g.id and b.missing_at is null
    ), still as (
      select b.id, c.listed_in
      from candidate c
      join book b on b.id = c.id and b.directory_id = c.folder and b.name = c.name
        and b.missing_at is null
      order by b.id
      for share of b
    ), stored as (
      insert into missing_candidate (library_id, book_id, directory_id)
      select ${scan.libraryId}, id, listed_in from still
      on conflict (book_id) do update
      set directory_id = excluded.directory_id
      returning directory_id
    )
    select directory_id as "directoryId", count(*)::integer as books from stored group by 1`
}

/** The result of `storeDifferences` without writing. */
export async function countMissingCandidates(sql: Sql, { missing, missingFolders }: Comparison) {
  if (missingFolders.length === 0) return missing.length
  const [row] = await sql<{ books: number }[]>`
    with recursive ${foldersBelow(sql, missingFolders)}
    select count(*)::integer as books
    from gone g
    join book b on b.directory_id = g.id and b.missing_at is null`
  return missing.length + row!.books
}

/** CTE `gone`: these folders and all below them; `above` is the folder whose listing lacks them. */
function foldersBelow(sql: Queryable, folderIds: string[]) {
  return sql`gone as (
    select id, parent_id as above from directory where id = any(${folderIds}::uuid[])
    union all
    select d.id, g.above from directory d join gone g on d.parent_id = g.id
  )`
}

/**
 * Leaves missing books undecided; the folders retain their old digests, so the next scan compares them again.
 */
export async function discardMissingCandidates(sql: Queryable, libraryId: string) {
  await sql`delete from missing_candidate where library_id = ${libraryId}`
  await sql`
    update directory set pending_digest = null
    where library_id = ${libraryId} and pending_digest is not null`
}
