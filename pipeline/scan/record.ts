// Writes what a batch of the walk found, in one transaction: files to read and their jobs, books that
// are gone, and the new digests of the folders. Rows go as arrays, because JSON in Postgres ends at
// 256 MB and a folder may hold millions of files.
import type { Sql, TransactionSql } from 'postgres'
import type { Queue } from '../../lib/queue/queue.ts'
import { jobsOf } from '../index/follow-up-jobs.ts'
import type { LoadedScan } from './scan-context.ts'

/** A file that the catalogue does not know, or knows otherwise. The name is hex. */
export type Difference = {
  directoryId: string
  name: string
  size: number
  ms: number
  forced: boolean
}

/** A present book that its folder does not list. The name is hex. */
export type Lost = { bookId: string; directoryId: string; name: string }

export type FolderState = { id: string; digest: string; sidecars: Record<string, number> }

export type Compared = {
  differences: Difference[]
  lost: Lost[]
  /** Folders that their parent does not list: all present books below them are lost, too. */
  gone: string[]
  folders: FolderState[]
}

/** Answers how many books vanished. */
export async function record(sql: Sql, queue: Queue, scan: LoadedScan, compared: Compared) {
  return await sql.begin(async tx => {
    await recordFound(tx, queue, scan, compared.differences)
    const vanished = await recordVanished(tx, scan, compared)
    const undecided = new Set(vanished.map(v => v.directoryId))
    const digests = compared.folders.map(f => ({ ...f, undecided: undecided.has(f.id) }))
    await tx`
      update directory d
      set digest = case when n.undecided then d.digest else decode(n.digest, 'hex') end,
        pending_digest = case when n.undecided then decode(n.digest, 'hex') end,
        sidecars = n.sidecars
      from jsonb_to_recordset(${tx.json(digests)})
        as n(id uuid, digest text, sidecars jsonb, undecided boolean)
      where d.id = n.id`
    await tx`
      update scan set to_index = to_index + ${compared.differences.length}
      where id = ${scan.scanId}`
    return vanished.reduce((sum, v) => sum + v.books, 0)
  })
}

async function recordFound(tx: TransactionSql, queue: Queue, scan: LoadedScan, d: Difference[]) {
  if (d.length === 0) return
  const found = await tx<{ id: string }[]>`
    insert into found as f (library_id, scan_id, directory_id, name, size, modified_ms, forced)
    select ${scan.libraryId}, ${scan.scanId}, directory, decode(name, 'hex'), size, ms, forced
    from unnest(${d.map(x => x.directoryId)}::uuid[], ${d.map(x => x.name)}::text[],
      ${d.map(x => x.size)}::bigint[], ${d.map(x => x.ms)}::bigint[],
      ${d.map(x => String(x.forced))}::text[]::boolean[]) as d(directory, name, size, ms, forced)
    on conflict (directory_id, name) do update
    set scan_id = excluded.scan_id, size = excluded.size, modified_ms = excluded.modified_ms,
      forced = f.forced or excluded.forced
    returning id::text`
  const ids = found.map(row => row.id)
  await queue.send(tx, 'index', jobsOf(scan, ids))
}

/**
 * Answers how many books each folder lacks. A batch that is stored at this moment may have found one
 * of them elsewhere: each is locked and looked at once more, else its new place would be marked missing.
 */
async function recordVanished(tx: TransactionSql, scan: LoadedScan, { lost, gone }: Compared) {
  if (lost.length === 0 && gone.length === 0) return []
  return await tx<{ directoryId: string; books: number }[]>`
    with recursive ${below(tx, gone)}, candidate as (
      select id, folder, decode(name, 'hex') as name, folder as listed_in
      from unnest(${lost.map(l => l.bookId)}::uuid[], ${lost.map(l => l.directoryId)}::uuid[],
        ${lost.map(l => l.name)}::text[]) as l(id, folder, name)
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
      insert into vanished (library_id, scan_id, book_id, directory_id)
      select ${scan.libraryId}, ${scan.scanId}, id, listed_in from still
      on conflict (book_id) do update
      set scan_id = excluded.scan_id, directory_id = excluded.directory_id
      returning directory_id
    )
    select directory_id as "directoryId", count(*)::integer as books from stored group by 1`
}

/** What `record` would answer. */
export async function countVanished(sql: Sql, { lost, gone }: Compared) {
  if (gone.length === 0) return lost.length
  const [row] = await sql<{ books: number }[]>`
    with recursive ${below(sql, gone)}
    select count(*)::integer as books
    from gone g
    join book b on b.directory_id = g.id and b.missing_at is null`
  return lost.length + row!.books
}

/** `gone`: these folders and all below them; `above` is the folder whose listing lacks them. */
function below(sql: Sql | TransactionSql, gone: string[]) {
  return sql`gone as (
    select id, parent_id as above from directory where id = any(${gone}::uuid[])
    union all
    select d.id, g.above from directory d join gone g on d.parent_id = g.id
  )`
}
