// Moves the place of those who want it by the pages that their app streams. What is known of an app and a
// book is a row, for every process that answers it; see stream-burst.ts for what is made of it.
import type { Sql, TransactionSql } from 'postgres'
import type { Viewer } from '../auth/viewer.ts'
import { moveTo } from '../catalog/progress/progress.ts'
import { inBatches } from '../postgres/batch.ts'
import { begun, burstMs, fetched, placeOf, type Stream } from './stream-burst.ts'

export type Streaming = { viewer: Viewer; bookId: string; pageCount: number }

/** Fetches under way in this process, the writing down of those that are over, and what waits for quiet after them. */
type Watch = { underWay: number; noted: Promise<void>; timer: NodeJS.Timeout | undefined }

const watches = new WeakMap<Sql, Map<string, Watch>>()
const settleMs = burstMs + 200

/**
 * To be called when page `page` (from 0) is asked for; answers what is to be called when its answer is
 * over, with whether it arrived. `onError` hears of what went wrong, also later.
 */
export function followFetch(
  sql: Sql,
  streaming: Streaming & { page: number },
  onError: (error: unknown) => void,
): (hasArrived: boolean) => void {
  const began = performance.now()
  const { watch, forget } = watchOf(sql, streaming)
  clearTimeout(watch.timer)
  watch.underWay += 1
  const rest = () => {
    watch.underWay -= 1
    // Whoever comes last waits: pages that are still being made may lie before those that came.
    if (watch.underWay > 0) return
    watch.timer = setTimeout(() => {
      forget()
      settle(sql, streaming).catch(onError)
    }, settleMs).unref()
  }
  return hasArrived => {
    const fetch = { page: streaming.page, began, ended: performance.now() }
    // One after the other: they wait for the same row.
    if (hasArrived) watch.noted = watch.noted.then(() => note(sql, streaming, fetch)).catch(onError)
    watch.noted = watch.noted.then(rest)
  }
}

function watchOf(sql: Sql, { viewer, bookId }: Streaming) {
  const all = watches.get(sql) ?? new Map<string, Watch>()
  watches.set(sql, all)
  const key = `${viewer.accountId} ${bookId}`
  const watch = all.get(key) ?? { underWay: 0, noted: Promise.resolve(), timer: undefined }
  all.set(key, watch)
  return { watch, forget: () => void all.delete(key) }
}

type Fetch = { page: number; began: number; ended: number }

async function note(sql: Sql, streaming: Streaming, { page, began, ended }: Fetch) {
  const { viewer, bookId, pageCount } = streaming
  const place = await sql.begin(async tx => {
    // By the database's clock, which all processes share; as of now, however long others hold the row.
    const ms = performance.now()
    const secondsAgo = (ms - ended) / 1000
    const [row] = await tx<{ state: Stream | null; sinceMs: number }[]>`
      insert into page_stream as s (account_id, book_id, state, at)
      values (${viewer.accountId}, ${bookId}, 'null', now())
      on conflict (account_id, book_id) do update set state = s.state
      returning s.state, (extract(epoch from now() - s.at) * 1000)::float8 as "sinceMs"`
    const { state, sinceMs } = row!
    const quietMs = sinceMs - (ms - began)
    const next = state === null ? begun(page) : fetched(state, { page, quietMs })
    await tx`
      update page_stream set state = ${tx.json(next)},
        at = greatest(at, now() - make_interval(secs => ${secondsAgo}))
      where account_id = ${viewer.accountId} and book_id = ${bookId}`
    const isOver = state?.isOpen && quietMs >= burstMs
    return isOver ? placeOf(state, pageCount) : null
  })
  await move(sql, streaming, place)
}

/** Looks at a burst that is over, unless another process has. */
async function settle(sql: Sql, streaming: Streaming) {
  const { viewer, bookId, pageCount } = streaming
  const place = await sql.begin(async tx => {
    const state = await quietState(tx, streaming)
    if (!state?.isOpen) return null
    await tx`
      update page_stream set state = ${tx.json({ ...state, isOpen: false })}
      where account_id = ${viewer.accountId} and book_id = ${bookId}`
    return placeOf(state, pageCount)
  })
  await move(sql, streaming, place)
}

async function quietState(tx: TransactionSql, { viewer, bookId }: Streaming) {
  const [row] = await tx<{ state: Stream | null }[]>`
    select state from page_stream
    where account_id = ${viewer.accountId} and book_id = ${bookId}
      and at <= clock_timestamp() - make_interval(secs => ${burstMs / 1000})
    for update`
  return row?.state ?? null
}

async function move(sql: Sql, { viewer, bookId }: Streaming, place: number | null) {
  if (place === null) return
  const position = { currentPage: place, onlyForward: true }
  await moveTo(sql, viewer, { bookId, position })
}

/** Forgets what apps have fetched once they may have dropped it; answers how many rows went. */
export const sweepStreams = (sql: Sql, stop: () => boolean): Promise<number> =>
  inBatches(
    most => sql`
      delete from page_stream
      where (account_id, book_id) in (
        select account_id, book_id from page_stream
        where at < now() - interval '2 days' limit ${most})`,
    stop,
  )
