// Local artwork at the end of a scan: covers of books and series in changed folders whose image was added,
// removed or changed.
import { hash } from 'node:crypto'
import { pathText } from '../../lib/base/path.ts'
import { artworkEvents } from '../../lib/catalog/cover/displayed-cover.ts'
import {
  artworkOfBook,
  artworkOfFolder,
  ownsFolder,
  setArtwork,
} from '../../lib/catalog/cover/local-artwork.ts'
import { folderKey } from '../../lib/media/strategy/placement.ts'
import { publish } from '../../lib/store/event/publish.ts'
import type { Sql, Transaction } from '../../lib/store/postgres/db.ts'
import { retryOnDeadlock } from '../../lib/store/postgres/retry-on-deadlock.ts'
import type { Queue } from '../../lib/store/queue/queue.ts'
import { batchJobs } from '../scan/batch-jobs.ts'
import type { LoadedScan } from '../scan/scan-context.ts'

const maxFolders = 500

/** Enqueues the covers whose source file is now a different one. Call it once the scan's books are stored. */
export async function enqueueArtwork(sql: Sql, queue: Queue, scan: LoadedScan): Promise<void> {
  let isDone = false
  while (!isDone)
    isDone = await retryOnDeadlock(sql, async tx => {
      const folders = await tx<Folder[]>`
        select id, path, sidecars from directory
        where library_id = ${scan.libraryId} and artwork_due
        order by id limit ${maxFolders}
        for no key update`
      const ids = folders.map(({ id }) => id)
      if (ids.length === 0) return true
      const books = await changedBooks(tx, ids)
      const series = await changedSeries(tx, scan.libraryId, folders)
      await queue.send(tx, 'cover', batchJobs(scan, books))
      await queue.send(
        tx,
        'cover',
        batchJobs(scan, series).map(job => ({ ...job, of: 'series' as const })),
      )
      const covers = books.length + series.length
      if (covers > 0)
        await tx`update scan set to_cover = to_cover + ${covers} where id = ${scan.scanId}`
      await tx`update directory set artwork_due = false where id = any(${ids})`
      return ids.length < maxFolders
    })
}

/** Books whose cover, or lack of one in their file, does not match their artwork. Others are due anyway. */
async function changedBooks(tx: Transaction, folders: string[]): Promise<string[]> {
  type Row = {
    id: string
    name: Uint8Array
    artwork: string | null
    sidecars: Record<string, number>
    ownsFolder: boolean
  }
  const rows = await tx<Row[]>`
    select b.id, b.name, a.artwork, d.sidecars,
      d.sidecars <> '{}' and ${ownsFolder(tx)} as "ownsFolder"
    from directory d
    join library l on l.id = d.library_id
    join book b on b.directory_id = d.id and b.missing_at is null and b.error_code is null
    join book_artifact a on a.book_id = b.id and num_nonnulls(a.cover, a.cover_error) > 0
    where d.id = any(${folders}) and (d.sidecars <> '{}' or a.artwork is not null)
    order by b.id`
  return rows
    .filter(row => (artworkOfBook(row.name, row)?.version ?? null) !== row.artwork)
    .map(({ id }) => id)
}

type Folder = { id: string; path: Uint8Array; sidecars: Record<string, number> }

/** Series whose artwork must be read. Removed artwork is forgotten right away. */
async function changedSeries(tx: Transaction, libraryId: string, folders: readonly Folder[]) {
  const byKey = new Map(folders.map(folder => [folderKey(pathText(folder.path)), folder]))
  const keys = [...byKey.keys()]
  const rows = await tx<{ id: string; key: string; artwork: string | null }[]>`
    select id, key, artwork from series
    where library_id = ${libraryId} and key = any(${keys})
      and md5(key) = any(${keys.map(key => hash('md5', key, 'hex'))})
    order by id`
  const changed = rows
    .map(row => ({ ...row, found: artworkOfFolder(byKey.get(row.key)!.sidecars) }))
    .filter(({ artwork, found }) => artwork !== (found?.version ?? null))
  const gone = changed
    .filter(({ found }) => found === null)
    .map(({ id }) => ({ id, artwork: null, cover: null }))
  await publish(tx, await artworkEvents(tx, await setArtwork(tx, gone)))
  return changed.filter(({ found }) => found !== null).map(({ id }) => id)
}
