// The hash job: SHA-256 of the files of a batch of books.

import { containmentOf, type FileAccess } from '../../lib/base/containment.ts'
import { joinPath } from '../../lib/base/path.ts'
import { publishScan } from '../../lib/catalog/scan/scan-events.ts'
import { bookEvents, publish } from '../../lib/store/event/publish.ts'
import { countReading } from '../../lib/store/metrics/pipeline.ts'
import { mountKey } from '../../lib/store/mount/mount-health.ts'
import type { Sql, Transaction } from '../../lib/store/postgres/db.ts'
import { retryOnDeadlock } from '../../lib/store/postgres/retry-on-deadlock.ts'
import type { Jobs } from '../../lib/store/queue/jobs.ts'
import { addFollowUpFigures, recordBooks } from '../scan/figures.ts'
import { loadScan } from '../scan/scan-context.ts'
import { runParallel } from '../work/threads.ts'
import type { FileToHash, HashOptions, HashResult } from './hash-file.ts'
import type { JobContext } from './job-context.ts'
import { changedSilently } from './reading.ts'
import { createResultWriter } from './result-writer.ts'

/** Skips books that have a hash, unless `again` is set. */
export async function hashBooks(context: JobContext, job: Jobs['hash']): Promise<void> {
  const { sql, threads, thumbnailOptions, access, signal } = context
  const scan = await loadScan(sql, job.scanId)
  if (!scan || scan.state === 'cancelled') return
  const items = await filesToHash(sql, job, access)
  const skipped = job.ids.length - items.length
  if (skipped > 0) await countSkipped(sql, job.scanId, skipped)
  const writer = createResultWriter<HashResult>(context, {
    job: 'hash',
    scan,
    store: results => storeHashes(sql, scan, results),
  })
  await runParallel<FileToHash, HashOptions, HashResult>(
    threads,
    'hash',
    { items, options: { limits: thumbnailOptions.limits } },
    {
      ...writer,
      root: mountKey(scan.root),
      signal,
      failed: ({ id, size, modifiedMs }, error) => ({
        ...{ id, size, modifiedMs, sha256: null, bytesRead: 0 },
        ...{ damage: null, isUnchecked: false, error },
      }),
    },
  )
  await writer.finish()
}

async function filesToHash(sql: Sql, { ids, again }: Jobs['hash'], access: FileAccess) {
  type Row = {
    id: string
    folder: Uint8Array
    name: Uint8Array
    root: Uint8Array
    followLinks: boolean
    size: number
    modifiedMs: number
    sha256: string | null
  }
  const rows = await sql<Row[]>`
    select b.id, d.path as folder, b.name, l.root, l.follow_links as "followLinks", b.size::float8 as size, b.modified_ms::float8 as "modifiedMs",
      encode(a.sha256, 'hex') as sha256
    from book b
    join book_artifact a on a.book_id = b.id
    join directory d on d.id = b.directory_id
    join library l on l.id = b.library_id
    where b.id = any(${ids}) and b.missing_at is null and (a.sha256 is null or ${again === true})
    order by d.path, b.name_key`
  return rows.map(({ root, followLinks, folder, name, ...row }) => ({
    ...row,
    path: joinPath(root, joinPath(folder, name)).toString('latin1'),
    containment: containmentOf(access, { root, followLinks }),
  }))
}

/** Counts the job's books that no longer need a hash. */
async function countSkipped(sql: Sql, scanId: string, skipped: number) {
  await sql.begin(async tx => {
    const [scan] = await tx<{ isLast: boolean }[]>`
      update scan set hashed = hashed + ${skipped} where id = ${scanId}
      returning hashed >= to_hash as "isLast"`
    await publishScan(tx, scanId, { force: scan?.isLast ?? false, isFollowUp: true })
  })
}

type StoredBook = { id: string; libraryId: string; seriesId: string; isChanged: boolean }

export async function storeHashes(
  sql: Sql,
  scan: { scanId: string; followed: boolean },
  results: HashResult[],
) {
  countReading('hash', results)
  const rows = results
    .filter(result => result.sha256 !== null)
    .map(({ id, sha256, size, modifiedMs }) => ({ id, sha256, size, ms: modifiedMs }))
  await retryOnDeadlock(sql, async tx => {
    const stored = await tx<StoredBook[]>`
      with current as materialized (
        select b.id, b.library_id, b.series_id, decode(h.sha256, 'hex') as sha256
        from jsonb_to_recordset(${tx.json(rows)})
          as h(id uuid, sha256 text, size bigint, ms bigint)
        join book b on b.id = h.id and b.size = h.size and b.modified_ms = h.ms
        order by b.id
        -- Waits for a batch that is storing newer content of the book, and sees it.
        for no key update of b
      ), old as (
        select c.*, a.sha256 as before
        from current c join book_artifact a on a.book_id = c.id
        order by c.id
        for no key update of a
      )
      update book_artifact a
      set sha256 = o.sha256
      from old o
      where a.book_id = o.id
      returning o.id, o.library_id as "libraryId", o.series_id as "seriesId",
        o.before is not null and o.before <> a.sha256 as "isChanged"`
    const changed = stored.filter(book => book.isChanged)
    const changedIds = changed.map(book => book.id)
    if (changed.length > 0) {
      // Same size, time and fingerprint, but different bytes: only a deep scan can detect this, and only
      // here.
      const unchecked = results.filter(result => result.isUnchecked).map(({ id }) => id)
      await tx`update scan set changed = changed + ${changed.length} where id = ${scan.scanId}`
      await tx`
        update book
        set updated_at = now(),
          warnings = warnings || case when id = any(${unchecked}::uuid[])
            then array[${changedSilently}] else '{}' end
        where id = any(${changedIds})`
      await publish(tx, bookEvents('book_updated', changed))
    }
    await storeDamage(tx, scan, results)
    if (scan.followed) {
      const unchangedIds = stored.filter(book => !book.isChanged).map(book => book.id)
      await recordBooks(tx, scan.scanId, unchangedIds, 'hashed')
      await recordBooks(tx, scan.scanId, changedIds, 'changed')
    }
    await addFollowUpFigures(tx, scan.scanId, {
      covers: 0,
      hashed: results.length,
      bytesRead: results.reduce((sum, result) => sum + result.bytesRead, 0),
      opens: results.length,
    })
  })
}

/** Records files that were damaged after they were hashed: the books retain their hash, and get the error. */
async function storeDamage(
  tx: Transaction,
  scan: { scanId: string; followed: boolean },
  results: HashResult[],
) {
  const rows = results.flatMap(({ id, size, modifiedMs, damage }) =>
    damage ? [{ id, size, ms: modifiedMs, ...damage }] : [],
  )
  if (rows.length === 0) return
  const stored = await tx<{ id: string; libraryId: string; seriesId: string; code: string }[]>`
    with current as materialized (
      select b.id, d.code, d.message
      from jsonb_to_recordset(${tx.json(rows)})
        as d(id uuid, size bigint, ms bigint, code text, message text)
      join book b on b.id = d.id and b.size = d.size and b.modified_ms = d.ms
      order by b.id
      for no key update of b
    )
    update book b
    set error_code = c.code, error_message = c.message, scan_id = ${scan.scanId}, updated_at = now()
    from current c
    where b.id = c.id
    returning b.id, b.library_id as "libraryId", b.series_id as "seriesId", b.error_code as code`
  for (const [code, books] of Map.groupBy(stored, book => book.code))
    await tx`
      update scan
      set failed = failed || jsonb_build_object(${code}::text,
        coalesce((failed->>${code}::text)::integer, 0) + ${books.length}::integer)
      where id = ${scan.scanId}`
  await tx`
    update book_artifact a
    set changed_ms = d."changedMs"
    from jsonb_to_recordset(${tx.json(rows)}) as d(id uuid, "changedMs" bigint)
    where a.book_id = d.id and a.book_id = any(${stored.map(book => book.id)}::uuid[])`
  await publish(tx, bookEvents('book_updated', stored))
  const ids = stored.map(book => book.id)
  if (scan.followed) await recordBooks(tx, scan.scanId, ids, 'failed')
}
