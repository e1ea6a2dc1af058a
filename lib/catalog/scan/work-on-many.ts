// Background work on many books at once: reading them again, making their covers, retitling their series. One
// task per library; hidden, missing and unknown books are skipped.
import type { Fragment } from 'postgres'
import { presentBook, type Viewer, visibleBook } from '../../accounts/viewer.ts'
import type { Queryable, Sql, Transaction } from '../../store/postgres/db.ts'
import type { Queue } from '../../store/queue/queue.ts'
import { type ErrorFilter, failedBook, failedCover } from '../book/book-errors.ts'
import { joinArtifact } from '../book/visible-books.ts'
import { hasImage, lacksCover } from '../cover/cover-on-demand.ts'
import { readingOrder } from '../derived/reading-order.ts'
import { titlesByRules } from '../metadata/series-title.ts'
import { isUnanalyzed, queueFiles } from './analyze.ts'
import { enqueueScan } from './scan-request.ts'

type WorkRequest = { sql: Sql; queue: Queue; viewer: Viewer }
/** Everything visible, or only what is in a library, in series, or listed; if several are set, all must hold. */
export type Selection = {
  libraryId?: string | undefined
  seriesIds?: readonly string[] | undefined
  bookIds?: readonly string[] | undefined
}
/** `count` is the number of books or series. */
export type StartedWork = { taskIds: string[]; count: number }

/** A condition on a present `book b` of `series s`. */
function selectedBook(
  sql: Queryable,
  viewer: Viewer,
  { libraryId, seriesIds, bookIds }: Selection,
): Fragment {
  return sql`${presentBook(sql)} and ${visibleBook(sql, viewer)}
    and ${libraryId ? sql`b.library_id = ${libraryId}` : sql`true`}
    and ${seriesIds ? sql`b.series_id = any(${seriesIds as string[]}::uuid[])` : sql`true`}
    and ${bookIds ? sql`b.id = any(${bookIds as string[]}::uuid[])` : sql`true`}`
}

/**
 * Reads the selected books again, which also numbers them. `unanalyzedOnly`: only books that could not be
 * read or have not been read yet.
 */
export function analyzeMany(
  request: WorkRequest,
  selection: Selection,
  { unanalyzedOnly = false } = {},
): Promise<StartedWork> {
  const { sql, viewer } = request
  const isIncluded = unanalyzedOnly ? isUnanalyzed(sql) : sql`true`
  return readAgain(request, sql`${selectedBook(sql, viewer, selection)} and ${isIncluded}`)
}

/** Retries files that could not be read and covers that could not be made. */
export async function retryFailed(request: WorkRequest, filter: ErrorFilter): Promise<StartedWork> {
  const { sql, viewer } = request
  const read = await readAgain(request, failedBook(sql, viewer, filter))
  const books = sql`
    select ${coverColumns(sql)} from book b join series s on s.id = b.series_id ${joinArtifact(sql)}
    where ${failedCover(sql, viewer, filter)}`
  const covers = await makeCovers(request, books, { force: true })
  return {
    taskIds: [...read.taskIds, ...covers.taskIds],
    count: read.count + covers.count,
  }
}

async function readAgain({ sql, queue }: WorkRequest, condition: Fragment): Promise<StartedWork> {
  return await sql.begin(async tx => {
    const libraryIds = tx`
      select b.library_id from book b join series s on s.id = b.series_id where ${condition}`
    const scans = await startAnalyses(tx, queue, libraryIds)
    const isStarted = tx`b.library_id = any(${[...scans.keys()]}::uuid[])`
    const count = await queueFiles(tx, tx`${condition} and ${isStarted}`)
    return { taskIds: [...scans.values()], count }
  })
}

/** Starts an analysis of each library that is not being deleted. Scan ids by library id. */
async function startAnalyses(tx: Transaction, queue: Queue, libraryIds: Fragment) {
  const libraries = await tx<{ id: string }[]>`
    select id from library where deleting_at is null and id in (${libraryIds}) order by id`
  const scans = new Map<string, string>()
  for (const { id: libraryId } of libraries) {
    const scan = { libraryId, mode: 'normal', options: { analysis: true } } as const
    scans.set(libraryId, await enqueueScan(tx, queue, scan))
  }
  return scans
}

type ThumbnailOptions = {
  /** `series`: only the books whose covers the series display. */
  of: 'book' | 'series'
  /** Even for books that have one. */
  force: boolean
}

const maxIdsPerJob = 64
const pageBooks = 6_400

/** Makes thumbnails of the selected books. */
export async function generateThumbnails(
  request: WorkRequest,
  selection: Selection,
  { of, force }: ThumbnailOptions,
): Promise<StartedWork> {
  const { sql, viewer } = request
  const one = of === 'series' ? sql`distinct on (b.series_id)` : sql``
  const order =
    of === 'series'
      ? sql`order by b.series_id, (b.id = s.cover_book_id) is true desc, ${readingOrder(sql, 'b')}`
      : sql``
  const books = sql`
    select ${one} ${coverColumns(sql)}
    from book b join series s on s.id = b.series_id
    where ${selectedBook(sql, viewer, selection)} ${order}`
  return await makeCovers(request, books, { force })
}

/** The columns of `book b` that `makeCovers` needs. */
const coverColumns = (sql: Queryable) =>
  sql`b.id, b.library_id, b.missing_at, b.error_code, b.page_count, b.format`

/** Makes the covers of `books`, a query of `coverColumns`, in batches of the queue. */
async function makeCovers(
  { sql, queue }: WorkRequest,
  books: Fragment,
  { force }: Pick<ThumbnailOptions, 'force'>,
): Promise<StartedWork> {
  const due = sql`
    select b.id, b.library_id as "libraryId"
    from (${books}) b join book_artifact a on a.book_id = b.id
    where ${force ? hasImage(sql) : lacksCover(sql)}
    order by b.library_id, b.id`
  return await sql.begin(async tx => {
    const scans = await startAnalyses(tx, queue, tx`select w."libraryId" from (${due}) w`)
    let count = 0
    for await (const rows of tx<{ id: string; libraryId: string }[]>`${due}`.cursor(pageBooks))
      for (const [libraryId, page] of Map.groupBy(rows, row => row.libraryId)) {
        const scanId = scans.get(libraryId)
        if (scanId === undefined) continue
        const ids = page.map(({ id }) => id)
        const jobs = chunks(ids, maxIdsPerJob).map(ids => ({ scanId, libraryId, ids }))
        await queue.send(tx, 'cover', jobs)
        await tx`update scan set to_cover = to_cover + ${ids.length} where id = ${scanId}`
        count += ids.length
      }
    return { taskIds: [...scans.values()], count }
  })
}

function chunks<T>(items: readonly T[], length: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / length) }, (_, i) =>
    items.slice(i * length, (i + 1) * length),
  )
}

/**
 * Applies the libraries' title rules to the selected series, except titles that are locked, set by a user
 * or stated by their files. With `dryRun`, only counts the titles that would change.
 */
export async function reprocessTitles(
  { sql, queue, viewer }: WorkRequest,
  selection: Selection,
  { dryRun, signal }: { dryRun: boolean; signal: AbortSignal },
): Promise<StartedWork> {
  const series = sql`
    select distinct b.series_id as id from book b join series s on s.id = b.series_id
    where ${selectedBook(sql, viewer, selection)}`
  // Before the transaction, which would occupy a connection meanwhile.
  const changes = await titlesByRules(sql, series, signal)
  if (dryRun || changes.length === 0) return { taskIds: [], count: changes.length }
  const ids = changes.map(({ id }) => id)
  return await sql.begin(async tx => {
    await tx`
      insert into series_refresh (library_id, series_id, retitle)
      select library_id, id, true from series where id = any(${ids}) order by id
      on conflict (library_id, series_id) do update set retitle = true`
    const libraryIds = tx`select library_id from series where id = any(${ids})`
    const scans = await startAnalyses(tx, queue, libraryIds)
    return { taskIds: [...scans.values()], count: changes.length }
  })
}
