// Covers made on demand: finds the book from which to make a missing cover, enqueues its job ahead of others
// and waits briefly for the result.

import { LRUCache } from 'lru-cache'
import type { Fragment } from 'postgres'
import { type Viewer, visibleBook, visibleLibrary, visibleSeries } from '../../accounts/viewer.ts'
import { entriesUpTo } from '../../base/async/cache-size.ts'
import { createSingleFlight, type SingleFlight } from '../../base/async/single-flight.ts'
import { NotFound } from '../../base/errors.ts'
import { reflowableFormats } from '../../media/format/formats.ts'
import type { Queryable, Sql } from '../../store/postgres/db.ts'
import type { Queue } from '../../store/queue/queue.ts'
import type { WithServices } from '../../store/services.ts'
import { joinArtifact } from '../book/visible-books.ts'
import { readingOrder } from '../derived/reading-order.ts'
import { type OwnerRequest, requireOwner } from '../owner.ts'
import { maxSeriesTried } from './displayed-cover.ts'

export type CoverSubject = 'book' | 'series' | 'library'
export type CoverJob = { libraryId: string; bookId: string }

type MissingCover = {
  viewer: Viewer
  kind: CoverSubject
  id: string
  /** Hex name of a thumbnail that the catalog lists but whose file is gone, otherwise null. */
  lost: string | null
}

/** Null when no cover can be made: no matching book is visible, present and has an image. */
export async function findMissingCover(sql: Sql, request: MissingCover): Promise<CoverJob | null> {
  const { viewer, kind, id, lost } = request
  const columns = sql`b.id as "bookId", b.library_id as "libraryId"`
  const canBeMade =
    lost === null
      ? lacksCover(sql)
      : sql`${hasImage(sql)} and b.missing_at is null and a.cover = decode(${lost}, 'hex')`
  const condition = sql`${canBeMade} and ${visibleBook(sql, viewer)}`
  const first = sql`
    order by (b.id = s.cover_book_id) is true desc, ${readingOrder(sql, 'b')}
    limit 1`
  const [job] =
    kind === 'library'
      ? await sql<CoverJob[]>`
          select first.* from (
            select s.* from series s join library l on l.id = s.library_id
            where l.id = ${id} and l.deleting_at is null and s.book_count > 0
              and ${visibleLibrary(sql, viewer)} and ${visibleSeries(sql, viewer)}
            order by s.sort_key, s.id
            limit ${maxSeriesTried}) s
          cross join lateral (
            select ${columns} from book b ${joinArtifact(sql)}
            where b.series_id = s.id and ${condition} ${first}) first
          order by s.sort_key, s.id
          limit 1`
      : await sql<CoverJob[]>`
          select ${columns}
          from book b join series s on s.id = b.series_id ${joinArtifact(sql)}
          where ${kind === 'book' ? sql`b.id = ${id}` : sql`s.id = ${id}`} and ${condition} ${first}`
  return job ?? null
}

/** A condition on `book b` and its `book_artifact a`: there is no cover, and one can be made. */
export function lacksCover(sql: Queryable): Fragment {
  return sql`b.missing_at is null and a.cover is null and a.cover_error is null
    and ${hasImage(sql)}`
}

/** A condition on a present `book b`: its file may contain a cover. */
// An EPUB without pages may have a cover image, which only opening it shows; other formats need a page.
export function hasImage(sql: Queryable): Fragment {
  return sql`b.error_code is null and (b.page_count > 0 or b.format = any(${reflowableFormats}))`
}

// A viewer is waiting, whereas a regenerated thumbnail is only a task.
const priority = { viewed: 100, regenerated: 50 }

type Regeneration = OwnerRequest & {
  queue: Queue
  /** Even if a thumbnail exists. */
  force: boolean
}

/** Enqueues a thumbnail task; a series gets the thumbnail of the book whose cover it shows. Returns the task id. Throws NotFound. */
export async function regenerateThumbnail(sql: Sql, request: Regeneration): Promise<string> {
  const { viewer, owner, queue, force } = request
  await requireOwner(sql, request)
  const condition = owner.kind === 'book' ? sql`b.id = ${owner.id}` : sql`b.series_id = ${owner.id}`
  const [book] = await sql<CoverJob[]>`
    select b.id as "bookId", b.library_id as "libraryId"
    from book b join series s on s.id = b.series_id ${joinArtifact(sql)}
    where ${condition} and ${visibleBook(sql, viewer)}
    order by (b.id = s.cover_book_id) is true desc, b.missing_at is not null,
      b.error_code is not null, a.cover is null, ${readingOrder(sql, 'b')}
    limit 1`
  if (!book) throw new NotFound('The series has no books')
  const job = force ? { ...book, again: true as const } : { ...book }
  const options = { key: book.bookId, priority: priority.regenerated }
  const [taskId] = await sql.begin(tx => queue.send(tx, 'coverOnDemand', [job], options))
  return taskId!
}

const maxWaiting = 64
const timeoutMs = 2_000
// How long not to retry a book whose cover could not be made, or workers that did not respond.
const retryAfterMs = 10_000

type Waits = {
  /** Wakes the request that waits for a book. */
  wakeups: Map<string, () => void>
  /** One wait per book, shared by all requests for it. */
  flight: SingleFlight<void>
  failed: LRUCache<string, true>
  waiting: number
  respondedAt: number
  pausedUntil: number
  listening: () => Promise<unknown>
}

/**
 * Resolves to true when it is worth checking for the cover again; to false at once when too many
 * requests are waiting, the book failed recently, or no worker responds.
 */
export async function waitForCover(
  { sql, services, queue }: WithServices & { queue: Queue },
  job: CoverJob,
): Promise<boolean> {
  const waits = services(createWaits)
  const { bookId } = job
  if (waits.waiting >= maxWaiting || waits.failed.has(bookId) || Date.now() < waits.pausedUntil)
    return false
  waits.waiting += 1
  try {
    await waits.flight(bookId, () => enqueueAndWait(sql, queue, { waits, job }))
    return true
  } finally {
    waits.waiting -= 1
  }
}

type Wait = { waits: Waits; job: CoverJob }

async function enqueueAndWait(sql: Sql, queue: Queue, { waits, job }: Wait) {
  const { bookId, libraryId } = job
  const startedAt = Date.now()
  let timer: NodeJS.Timeout | undefined
  try {
    await waits.listening()
    const made = new Promise<void>(resolve => waits.wakeups.set(bookId, resolve))
    const options = { key: bookId, priority: priority.viewed }
    await sql.begin(tx => queue.send(tx, 'coverOnDemand', [{ libraryId, bookId }], options))
    const timeout = new Promise<void>(resolve => {
      timer = setTimeout(() => {
        waits.failed.set(bookId, true)
        if (waits.respondedAt < startedAt) waits.pausedUntil = Date.now() + retryAfterMs
        resolve()
      }, timeoutMs)
    })
    await Promise.race([made, timeout])
  } finally {
    clearTimeout(timer)
    waits.wakeups.delete(bookId)
  }
}

function createWaits(pool: Sql): Waits {
  let started: Promise<unknown> | null = null
  const waits: Waits = {
    wakeups: new Map(),
    flight: createSingleFlight(),
    failed: new LRUCache({ ...entriesUpTo(2_000), ttl: retryAfterMs }),
    waiting: 0,
    respondedAt: 0,
    pausedUntil: 0,
    listening: listen,
  }
  /** `<book id>` when the cover is there, `<book id> without` when none could be made. */
  const receive = (payload: string) => {
    const [bookId, without] = payload.split(' ')
    waits.respondedAt = Date.now()
    waits.pausedUntil = 0
    if (without) waits.failed.set(bookId!, true)
    waits.wakeups.get(bookId!)?.()
  }
  // Also runs when a lost connection is restored, because notifications may have been missed.
  const wakeAll = () => {
    for (const wake of waits.wakeups.values()) wake()
  }
  function listen() {
    started ??= pool.listen('cover_ready', receive, wakeAll).catch(error => {
      started = null
      throw error
    })
    return started
  }
  return waits
}
