// Covers of books: which can be made, by a batch as part of a scan, and how they are stored.
import type { Sql } from 'postgres'
import { coverEvents } from '../../lib/catalog/cover/cover-events.ts'
import { tell } from '../../lib/event/publish.ts'
import { countCovers } from '../../lib/metrics/book.ts'
import { countReading } from '../../lib/metrics/scan.ts'
import { joinPath } from '../../lib/path.ts'
import type { Jobs } from '../../lib/queue/queue.ts'
import { storeLaneFigures } from '../scan/progress.ts'
import { loadScan } from '../scan/scan-context.ts'
import { runSpread } from '../work/threads.ts'
import type { Lane } from './books.ts'
import { isIo, keepResults } from './results.ts'
import { type BookToShow, noThumbnail, type Thumbnail, type ThumbnailRules } from './thumbnail.ts'

/** Makes thumbnails for a batch of books. */
export async function coverBooks(lane: Lane, job: Jobs['cover']) {
  const { sql, threads, thumbnails } = lane
  const scan = await loadScan(sql, job.scanId)
  if (!scan || scan.state === 'cancelled') return
  const items = await booksToShow(sql, job.ids)
  const results = keepResults<Thumbnail>(lane, {
    lane: 'cover',
    scan,
    store: done => storeCovers(sql, job.scanId, done),
  })
  await runSpread<BookToShow, ThumbnailRules, Thumbnail>(threads, 'cover', items, thumbnails, {
    ...results,
    signal: lane.signal,
    failed: (item, error) => ({ ...noThumbnail(item.id), opens: 1, error }),
  })
  await results.end()
}

/** Those of the books that can have a cover made of them, in the order of their places. */
export async function booksToShow(sql: Sql, ids: string[]): Promise<BookToShow[]> {
  const rows = await sql<
    { id: string; folder: Uint8Array; name: Uint8Array; root: Uint8Array; sidecar: string | null }[]
  >`
    select b.id, d.path as folder, b.name, l.root,
      (select key from jsonb_object_keys(d.sidecars) as key where key ~* '^cover\\.(jpe?g|png|webp)$' limit 1) as sidecar
    from book b
    join directory d on d.id = b.directory_id
    join library l on l.id = b.library_id
    where b.id = any(${ids}) and b.missing_at is null and b.error_code is null
    order by d.path, b.name_key`
  return rows.map(row => ({
    id: row.id,
    path: joinPath(row.root, joinPath(row.folder, row.name)).toString('latin1'),
    sidecar: row.sidecar,
  }))
}

type Covered = { id: string; libraryId: string; seriesId: string; isOther: boolean }

/** Covers that no scan asked for count for none: its id is then null. */
export async function storeCovers(sql: Sql, scanId: string | null, done: Thumbnail[]) {
  countCovers(done)
  countReading('thumbnail', done)
  // A file that could not be read says nothing of its cover: the next scan has it made.
  const rows = done
    .filter(d => !isIo(d))
    .map(d => ({ id: d.id, cover: d.cover, error: d.error?.message ?? null }))
  await sql.begin(async tx => {
    const stored = await tx<Covered[]>`
      update book b
      set cover = coalesce(decode(c.cover, 'hex'), b.cover), cover_error = c.error
      from jsonb_to_recordset(${tx.json(rows)}) as c(id uuid, cover text, error text), book old
      where b.id = c.id and old.id = c.id
      returning b.id, b.library_id as "libraryId", b.series_id as "seriesId",
        old.cover is distinct from b.cover and b.custom_cover is null as "isOther"`
    await tell(
      tx,
      await coverEvents(
        tx,
        stored.filter(book => book.isOther),
      ),
    )
    if (scanId === null) return
    await storeLaneFigures(tx, scanId, {
      covers: done.length,
      hashed: 0,
      bytesRead: done.reduce((sum, d) => sum + d.bytesRead, 0),
      opens: done.reduce((sum, d) => sum + d.opens, 0),
    })
  })
}
