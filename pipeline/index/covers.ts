// The cover job: thumbnails of a batch of books, as part of a scan.
import { coverEvents } from '../../lib/catalog/cover/displayed-cover.ts'
import { containmentOf, type FileAccess } from '../../lib/containment.ts'
import { publish } from '../../lib/event/publish.ts'
import { countCovers, countReading } from '../../lib/metrics/pipeline.ts'
import { mountKey } from '../../lib/mount/mount-health.ts'
import { joinPath } from '../../lib/path.ts'
import type { Sql } from '../../lib/postgres/db.ts'
import { retryOnDeadlock } from '../../lib/postgres/retry-on-deadlock.ts'
import type { Jobs } from '../../lib/queue/jobs.ts'
import { afterAttempt } from '../scan/failed-files.ts'
import { addFollowUpFigures } from '../scan/figures.ts'
import { loadScan } from '../scan/scan-context.ts'
import { runParallel } from '../work/threads.ts'
import type { JobContext } from './job-context.ts'
import { createResultWriter, isIoError } from './result-writer.ts'
import {
  emptyThumbnail,
  type Thumbnail,
  type ThumbnailOptions,
  type ThumbnailRequest,
} from './thumbnail-request.ts'

export async function makeCovers(context: JobContext, job: Jobs['cover']): Promise<void> {
  const { sql, threads, thumbnailOptions, access, signal } = context
  const scan = await loadScan(sql, job.scanId)
  if (!scan || scan.state === 'cancelled') return
  const items = await thumbnailRequests(sql, job.ids, access)
  const writer = createResultWriter<Thumbnail>(context, {
    job: 'cover',
    scan,
    store: results => storeCovers(sql, job.scanId, results),
  })
  await runParallel<ThumbnailRequest, ThumbnailOptions, Thumbnail>(
    threads,
    'cover',
    { items, options: thumbnailOptions },
    {
      ...writer,
      root: mountKey(scan.root),
      signal,
      failed: (item, error) => ({ ...emptyThumbnail(item.id), opens: 1, error }),
    },
  )
  await writer.finish()
}

/** The present and readable books among these, ordered by path. */
export async function thumbnailRequests(
  sql: Sql,
  ids: string[],
  access: FileAccess,
): Promise<ThumbnailRequest[]> {
  type Row = {
    id: string
    folder: Uint8Array
    name: Uint8Array
    root: Uint8Array
    followLinks: boolean
    sidecar: string | null
  }
  const rows = await sql<Row[]>`
    select b.id, d.path as folder, b.name, l.root, l.follow_links as "followLinks",
      (select key from jsonb_object_keys(d.sidecars) as key where key ~* '^cover\\.(jpe?g|png|webp)$' limit 1) as sidecar
    from book b
    join directory d on d.id = b.directory_id
    join library l on l.id = b.library_id
    where b.id = any(${ids}) and b.missing_at is null and b.error_code is null
    order by d.path, b.name_key`
  return rows.map(({ id, root, followLinks, folder, name, sidecar }) => ({
    id,
    path: joinPath(root, joinPath(folder, name)).toString('latin1'),
    containment: containmentOf(access, { root, followLinks }),
    sidecar,
  }))
}

type StoredBook = { id: string; libraryId: string; seriesId: string; isChanged: boolean }

/** Stores covers and publishes the changed ones. `scanId` is null for covers that no scan requested. */
export async function storeCovers(sql: Sql, scanId: string | null, results: Thumbnail[]) {
  countCovers(results)
  countReading('thumbnail', results)
  // An I/O error is not a property of the book: the next scan enqueues its cover again.
  const rows = results
    .filter(result => !isIoError(result))
    .map(({ id, cover, error }) => ({ id, cover, error: error?.message ?? null }))
  await retryOnDeadlock(sql, async tx => {
    const stored = await tx<StoredBook[]>`
      with old as (
        select a.book_id as id, a.cover as before, c.cover, c.error
        from jsonb_to_recordset(${tx.json(rows)}) as c(id uuid, cover text, error text)
        join book_artifact a on a.book_id = c.id
        order by a.book_id
        for no key update of a
      )
      update book_artifact a
      set cover = coalesce(decode(o.cover, 'hex'), a.cover), cover_error = o.error,
        ${afterAttempt(tx, tx`o.error is not null`)}
      from old o join book b on b.id = o.id
      where a.book_id = o.id
      returning b.id, b.library_id as "libraryId", b.series_id as "seriesId",
        o.before is distinct from a.cover and b.custom_cover is null as "isChanged"`
    const changed = stored.filter(book => book.isChanged)
    await publish(tx, await coverEvents(tx, changed))
    if (scanId === null) return
    await addFollowUpFigures(tx, scanId, {
      covers: results.length,
      hashed: 0,
      bytesRead: results.reduce((sum, result) => sum + result.bytesRead, 0),
      opens: results.reduce((sum, result) => sum + result.opens, 0),
    })
  })
}
