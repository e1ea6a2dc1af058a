// Progress from page streaming: for accounts that enabled it, the progress is updated from the pages that an app
// fetches. The state per account and book is a row shared by all processes; see stream-burst.ts.
import type { Sql, TransactionSql } from 'postgres'
import type { Viewer } from '../../accounts/viewer.ts'
import type { ReadingDevice } from '../../reading/device.ts'
import { recordReading } from '../../reading/record.ts'
import { deleteInBatches } from '../../store/postgres/batch.ts'
import type { WithServices } from '../../store/services.ts'
import { addFetch, type BurstState, burstMs, inferPage, startBurst } from './stream-burst.ts'

export type StreamedBook = {
  viewer: Viewer
  bookId: string
  pageCount: number
  device: ReadingDevice
}

/** Fetches in this process: how many are running, the queue of writes, and the timer that closes a burst. */
type Tracker = { running: number; writes: Promise<void>; timer: NodeJS.Timeout | undefined }

const createTrackers = () => new Map<string, Tracker>()
const closeDelayMs = burstMs + 200

/**
 * Must be called when the 0-based page `page` is requested. Returns a function to call when the response ends, with
 * whether it was delivered. `onError` receives errors, even later ones.
 */
export function trackFetch(
  { sql, services }: WithServices,
  book: StreamedBook & { page: number },
  onError: (error: unknown) => void,
): (isDelivered: boolean) => void {
  const startedMs = performance.now()
  const { tracker, forget } = trackerOf(services(createTrackers), book)
  clearTimeout(tracker.timer)
  tracker.running += 1
  const onWritten = () => {
    tracker.running -= 1
    // The last fetch starts the timer: pages still being rendered may precede delivered ones.
    if (tracker.running > 0) return
    tracker.timer = setTimeout(() => {
      forget()
      closeBurst(sql, book).catch(onError)
    }, closeDelayMs).unref()
  }
  return isDelivered => {
    const fetch = { page: book.page, startedMs, endedMs: performance.now() }
    // Serialized, because they lock the same row.
    if (isDelivered)
      tracker.writes = tracker.writes.then(() => recordFetch(sql, book, fetch)).catch(onError)
    tracker.writes = tracker.writes.then(onWritten)
  }
}

function trackerOf(trackers: Map<string, Tracker>, { viewer, bookId }: StreamedBook) {
  const key = `${viewer.accountId} ${bookId}`
  const tracker = trackers.get(key) ?? { running: 0, writes: Promise.resolve(), timer: undefined }
  trackers.set(key, tracker)
  return { tracker, forget: () => void trackers.delete(key) }
}

type Fetch = { page: number; startedMs: number; endedMs: number }

async function recordFetch(sql: Sql, book: StreamedBook, { page, startedMs, endedMs }: Fetch) {
  const { viewer, bookId, pageCount } = book
  const inferred = await sql.begin(async tx => {
    // By the database clock, which all processes share, minus the time since the response ended.
    const nowMs = performance.now()
    const secondsAgo = (nowMs - endedMs) / 1000
    const [row] = await tx<{ state: BurstState | null; sinceMs: number }[]>`
      insert into page_stream as s (account_id, book_id, state, updated_at)
      values (${viewer.accountId}, ${bookId}, 'null', now())
      on conflict (account_id, book_id) do update set state = s.state
      returning s.state, (extract(epoch from now() - s.updated_at) * 1000)::float8 as "sinceMs"`
    const { state, sinceMs } = row!
    const quietMs = sinceMs - (nowMs - startedMs)
    const next = state === null ? startBurst(page) : addFetch(state, { page, quietMs })
    await tx`
      update page_stream set state = ${tx.json(next)},
        updated_at = greatest(updated_at, now() - make_interval(secs => ${secondsAgo}))
      where account_id = ${viewer.accountId} and book_id = ${bookId}`
    const isBurstOver = state?.isOpen && quietMs >= burstMs
    return isBurstOver ? inferPage(state, pageCount) : null
  })
  await advanceProgress(sql, book, inferred)
}

/** Evaluates a finished burst, unless another process has done so. */
async function closeBurst(sql: Sql, book: StreamedBook) {
  const { viewer, bookId, pageCount } = book
  const inferred = await sql.begin(async tx => {
    const state = await lockQuietState(tx, book)
    if (!state?.isOpen) return null
    await tx`
      update page_stream set state = ${tx.json({ ...state, isOpen: false })}
      where account_id = ${viewer.accountId} and book_id = ${bookId}`
    return inferPage(state, pageCount)
  })
  await advanceProgress(sql, book, inferred)
}

async function lockQuietState(tx: TransactionSql, { viewer, bookId }: StreamedBook) {
  const [row] = await tx<{ state: BurstState | null }[]>`
    select state from page_stream
    where account_id = ${viewer.accountId} and book_id = ${bookId}
      and updated_at <= clock_timestamp() - make_interval(secs => ${burstMs / 1000})
    for update`
  return row?.state ?? null
}

async function advanceProgress(
  sql: Sql,
  { viewer, bookId, device }: StreamedBook,
  page: number | null,
) {
  if (page === null) return
  const origin = { surface: 'page_stream', device } as const
  await recordReading(sql, viewer, origin, { bookId, currentPage: page, onlyForward: true })
}

/** Deletes the state of books that were not streamed for two days. Returns the number of rows. */
export const deleteStaleStreams = (sql: Sql, stop: () => boolean): Promise<number> =>
  deleteInBatches(
    batchSize => sql`
      delete from page_stream
      where (account_id, book_id) in (
        select account_id, book_id from page_stream
        where updated_at < now() - interval '2 days' limit ${batchSize})`,
    stop,
  )
