// Cover on demand: the cover of one book, generated right away because it is displayed or was requested.
import { existsSync } from 'node:fs'
import { Unavailable } from '../../lib/base/errors.ts'
import { thumbnailPath } from '../../lib/media/image/thumbnail-path.ts'
import { isDiskFull } from '../../lib/store/postgres/connection-error.ts'
import type { Sql } from '../../lib/store/postgres/db.ts'
import type { Jobs } from '../../lib/store/queue/jobs.ts'
import { runBatch } from '../work/threads.ts'
import { storeCovers, thumbnailRequests } from './covers.ts'
import type { JobContext } from './job-context.ts'
import { writeErrorMessage } from './result-writer.ts'
import {
  emptyThumbnail,
  type Thumbnail,
  type ThumbnailOptions,
  type ThumbnailRequest,
} from './thumbnail-request.ts'

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
