// The cover of one book, made at once because someone looks at it or asked for it.
import { existsSync } from 'node:fs'
import type { Sql } from 'postgres'
import { Unavailable } from '../../lib/errors.ts'
import { thumbnailPath } from '../../lib/image/thumbnail-path.ts'
import type { Jobs } from '../../lib/queue/queue.ts'
import { runAll } from '../work/threads.ts'
import type { Lane } from './books.ts'
import { booksToShow, storeCovers } from './covers.ts'
import { type BookToShow, noThumbnail, type Thumbnail, type ThumbnailRules } from './thumbnail.ts'

/**
 * Makes the cover if there is none or its file is gone, or if the job says `again`; then tells all
 * processes that the book is done with, whatever came of it.
 */
export async function showBook(lane: Lane, { bookId, again }: Jobs['show']): Promise<void> {
  const { sql, threads, thumbnails } = lane
  let isThere = false
  try {
    isThere = !again && (await isShown(sql, bookId, thumbnails.folder))
    if (isThere) return
    const items = await booksToShow(sql, [bookId])
    await runAll<BookToShow, ThumbnailRules, Thumbnail>(threads, 'cover', items, thumbnails, {
      urgent: true,
      stop: lane.stop,
      signal: lane.signal,
      failed: (item, error) => ({ ...noThumbnail(item.id), opens: 1, error }),
      async slice(done) {
        const unfiled = done.find(made => made.unfiled)?.unfiled
        if (unfiled) throw new Unavailable(`Thumbnails cannot be written (${unfiled})`)
        await storeCovers(sql, null, done)
        isThere = done.every(made => made.cover !== null)
      },
    })
  } finally {
    // Stopped, it is done by whoever comes next: that one tells.
    if (isThere || !lane.stop()) await sql.notify('shown', isThere ? bookId : `${bookId} without`)
  }
}

async function isShown(sql: Sql, bookId: string, folder: string) {
  const [row] = await sql<{ cover: string | null }[]>`
    select encode(cover, 'hex') as cover from book where id = ${bookId}`
  const cover = row?.cover ?? null
  // Made with another setting it has the other ending.
  return (
    cover !== null &&
    (['webp', 'jpeg'] as const).some(format => existsSync(thumbnailPath(folder, cover, format)))
  )
}
