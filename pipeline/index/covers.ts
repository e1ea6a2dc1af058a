// The cover job: thumbnails of a batch of books, or of the artwork of series, as part of a scan.

import { existsSync } from 'node:fs'
import { containmentOf, type FileAccess } from '../../lib/base/containment.ts'
import { Unavailable } from '../../lib/base/errors.ts'
import { joinPath } from '../../lib/base/path.ts'
import { artworkEvents, coverEvents } from '../../lib/catalog/cover/displayed-cover.ts'
import {
  type Artwork,
  artworkOfBook,
  artworkOfFolder,
  isFolderOf,
  ownsFolder,
  setArtwork,
} from '../../lib/catalog/cover/local-artwork.ts'
import { thumbnailPath } from '../../lib/media/image/thumbnail-path.ts'
import { publish } from '../../lib/store/event/publish.ts'
import { countCovers, countReading } from '../../lib/store/metrics/pipeline.ts'
import { mountKey } from '../../lib/store/mount/mount-health.ts'
import { isDiskFull } from '../../lib/store/postgres/connection-error.ts'
import type { Sql, Transaction } from '../../lib/store/postgres/db.ts'
import { retryOnDeadlock } from '../../lib/store/postgres/retry-on-deadlock.ts'
import type { Jobs } from '../../lib/store/queue/jobs.ts'
import { afterAttempt } from '../scan/failed-files.ts'
import { addFollowUpFigures } from '../scan/figures.ts'
import { loadScan } from '../scan/scan-context.ts'
import { runBatch, runParallel } from '../work/threads.ts'
import type { JobContext } from './job-context.ts'
import { createResultWriter, isIoError, writeErrorMessage } from './result-writer.ts'
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
  const isSeries = job.of === 'series'
  const items = isSeries
    ? await artworkRequests(sql, job.ids, access)
    : await thumbnailRequests(sql, job.ids, access)
  const writer = createResultWriter<Thumbnail>(context, {
    job: 'cover',
    scan,
    store: results =>
      isSeries
        ? storeArtwork(sql, job.scanId, results)
        : storeCovers(sql, { scanId: job.scanId }, results),
  })
  await runParallel<ThumbnailRequest, ThumbnailOptions, Thumbnail>(
    threads,
    'cover',
    { items, options: thumbnailOptions },
    {
      ...writer,
      root: mountKey(scan.root),
      signal,
      failed: (item, error) => ({ ...emptyThumbnail(item), opens: 1, error }),
    },
  )
  await writer.finish()
}

/** The present and readable books among these, ordered by path. */
async function thumbnailRequests(sql: Sql, ids: string[], access: FileAccess) {
  type Row = {
    id: string
    folder: Uint8Array
    name: Uint8Array
    root: Uint8Array
    followLinks: boolean
    sidecars: Record<string, number>
    ownsFolder: boolean
  }
  const rows = await sql<Row[]>`
    select b.id, d.path as folder, b.name, l.root, l.follow_links as "followLinks",
      d.sidecars, d.sidecars <> '{}' and ${ownsFolder(sql)} as "ownsFolder"
    from book b
    join directory d on d.id = b.directory_id
    join library l on l.id = b.library_id
    where b.id = any(${ids}) and b.missing_at is null and b.error_code is null
    order by d.path, b.name_key`
  return rows.map(({ id, root, followLinks, folder, name, sidecars, ownsFolder }) => {
    const path = joinPath(root, folder)
    return {
      id,
      path: joinPath(path, name).toString('latin1'),
      containment: containmentOf(access, { root, followLinks }),
      artwork: fileIn(path, artworkOfBook(name, { sidecars, ownsFolder })),
    }
  })
}

/** `folder` is absolute. */
const fileIn = (folder: Buffer, artwork: Artwork | null): ThumbnailRequest['artwork'] =>
  artwork && {
    path: joinPath(folder, Buffer.from(artwork.name)).toString('latin1'),
    version: artwork.version,
  }

/** The series among these that have artwork. */
async function artworkRequests(sql: Sql, ids: string[], access: FileAccess) {
  type Row = {
    id: string
    folder: Uint8Array
    root: Uint8Array
    followLinks: boolean
    sidecars: Record<string, number>
  }
  const rows = await sql<Row[]>`
    select s.id, d.path as folder, l.root, l.follow_links as "followLinks", d.sidecars
    from series s
    join library l on l.id = s.library_id
    join directory d on d.library_id = s.library_id and ${isFolderOf(sql)}
    where s.id = any(${ids}) and d.sidecars <> '{}'
    order by d.path`
  return rows.map(({ id, root, followLinks, folder, sidecars }) => ({
    id,
    path: null,
    containment: containmentOf(access, { root, followLinks }),
    artwork: fileIn(joinPath(root, folder), artworkOfFolder(sidecars)),
  }))
}

type StoredBook = { id: string; libraryId: string; seriesId: string; isChanged: boolean }

type CoverRequest = {
  /** Null for covers not requested by a scan. */
  scanId: string | null
  /** A user is waiting for a new cover, which is an event even if its bytes are the same. */
  isForced?: boolean
}

/** Stores covers and publishes the changed ones. */
export async function storeCovers(
  sql: Sql,
  { scanId, isForced = false }: CoverRequest,
  results: Thumbnail[],
) {
  countCovers(results)
  countReading('thumbnail', results)
  // An I/O error is not a property of the book: the next scan enqueues its cover again.
  const rows = results
    .filter(result => !isIoError(result))
    .map(({ id, cover, artwork, error }) => ({ id, cover, artwork, error: error?.message ?? null }))
  await retryOnDeadlock(sql, async tx => {
    const stored = await tx<StoredBook[]>`
      with old as (
        select a.book_id as id, a.cover as before,
          -- A book without a cover of its own has none once its artwork is gone.
          coalesce(decode(c.cover, 'hex'),
            case when c.artwork is not distinct from a.artwork then a.cover end) as cover, c.error, c.artwork
        from jsonb_to_recordset(${tx.json(rows)})
          as c(id uuid, cover text, error text, artwork text)
        join book_artifact a on a.book_id = c.id
        order by a.book_id
        for no key update of a
      )
      update book_artifact a
      set cover = o.cover, cover_error = o.error, artwork = o.artwork,
        ${afterAttempt(tx, tx`o.error is not null`)}
      from old o join book b on b.id = o.id
      where a.book_id = o.id
      returning b.id, b.library_id as "libraryId", b.series_id as "seriesId",
        (o.before is distinct from a.cover or ${isForced} and o.error is null)
          and b.custom_cover is null as "isChanged"`
    const changed = stored.filter(book => book.isChanged)
    await publish(tx, await coverEvents(tx, changed))
    if (scanId !== null) await addFigures(tx, scanId, results)
  })
}

/** Stores the artwork of series, and publishes the changed ones. */
async function storeArtwork(sql: Sql, scanId: string, results: Thumbnail[]) {
  countCovers(results)
  countReading('thumbnail', results)
  const rows = results
    .filter(result => !isIoError(result))
    .map(({ id, cover, artwork }) => ({ id, cover, artwork }))
  await retryOnDeadlock(sql, async tx => {
    await publish(tx, await artworkEvents(tx, await setArtwork(tx, rows)))
    await addFigures(tx, scanId, results)
  })
}

const addFigures = (tx: Transaction, scanId: string, results: Thumbnail[]) =>
  addFollowUpFigures(tx, scanId, {
    covers: results.length,
    hashed: 0,
    bytesRead: results.reduce((sum, result) => sum + result.bytesRead, 0),
    opens: results.reduce((sum, result) => sum + result.opens, 0),
  })

/**
 * Generates the cover if there is none, if its file is gone, or with `again`. Then notifies all processes,
 * which wait for it in lib/catalog/cover/cover-on-demand.ts, even if it failed.
 */
export async function makeCoverOnDemand(
  { sql, threads, thumbnailOptions, space, access, isStopped, signal }: JobContext,
  { bookId, again }: Jobs['coverOnDemand'],
): Promise<void> {
  let exists = false
  try {
    exists = !again && (await hasCoverFile(sql, bookId, thumbnailOptions.folder))
    if (exists) return
    const items = await thumbnailRequests(sql, [bookId], access)
    const root = items[0]?.containment.root
    if (root === undefined) return
    await runBatch<ThumbnailRequest, ThumbnailOptions, Thumbnail>(
      threads,
      'cover',
      { items, options: thumbnailOptions },
      {
        root,
        urgent: true,
        isStopped,
        signal,
        failed: (item, error) => ({ ...emptyThumbnail(item), opens: 1, error }),
        async onResults(results) {
          const message = writeErrorMessage(results)
          if (results.some(({ writeError }) => isDiskFull({ code: writeError })))
            space.reportFull('thumbnails')
          if (message) throw new Unavailable(message)
          await storeCovers(sql, { scanId: null, isForced: again === true }, results)
          exists = results.every(({ cover }) => cover !== null)
        },
      },
    )
  } finally {
    // A stopped job is run by another process, which will notify.
    if (exists || !isStopped())
      await sql.notify('cover_ready', exists ? bookId : `${bookId} without`)
  }
}

async function hasCoverFile(sql: Sql, bookId: string, folder: string) {
  const [row] = await sql<{ cover: string | null }[]>`
    select encode(cover, 'hex') as cover from book_artifact where book_id = ${bookId}`
  const cover = row?.cover ?? null
  // The extension depends on the format configured when the cover was generated.
  return (
    cover !== null &&
    (['webp', 'jpeg'] as const).some(format => existsSync(thumbnailPath(folder, cover, format)))
  )
}
