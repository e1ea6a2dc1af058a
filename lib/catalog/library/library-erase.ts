// Deletion of libraries: the library is hidden at once, and a job deletes its rows in batches, because a
// million books take minutes. A deletion interrupted by a crash resumes.
import { setTimeout as sleep } from 'node:timers/promises'

import { type Viewer, visibleLibrary } from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import { publish } from '../../store/event/publish.ts'
import type { Sql, Transaction } from '../../store/postgres/db.ts'
import { retryOnDeadlock } from '../../store/postgres/retry-on-deadlock.ts'
import type { Queue } from '../../store/queue/queue.ts'
import { deleteBooks } from '../book/purge.ts'
import { lockSeries } from '../row-locks.ts'
import { cancelScans, tryScanLock } from '../scan/scan-request.ts'

const batch = 1_000
const scanJobs = ['index', 'cover', 'hash'] as const

type Deletion = { viewer: Viewer; libraryId: string }

/** Hides a library, cancels its jobs and enqueues the deletion of its rows. Throws NotFound. */
export async function deleteLibrary(sql: Sql, queue: Queue, { viewer, libraryId }: Deletion) {
  await sql.begin(async tx => {
    const [library] = await tx<{ accounts: string[] }[]>`
      update library l set deleting_at = now(), updated_at = now()
      where id = ${libraryId} and deleting_at is null and ${visibleLibrary(sql, viewer)}
      returning array(
        select account_id from account_library a where a.library_id = l.id order by 1) as accounts`
    if (!library) throw new NotFound('Library not found')
    await cancelScans(tx, queue, { libraryId, analyses: true })
    for (const job of scanJobs) await queue.deleteWaiting(tx, job, libraryId)
    await queue.send(tx, 'erase', [{ libraryId }], { key: libraryId })
    await invalidateIdentities(tx)
    // One event stands for all series and books of the library.
    const { accounts } = library
    await publish(tx, [{ type: 'library_deleted', libraryId, audience: { accounts } }])
  })
}

/** Enqueues the jobs of unfinished deletions again, unless they are queued already. */
export async function resumeErase(sql: Sql, queue: Queue): Promise<void> {
  const rows = await sql<{ id: string }[]>`
    select id from library where deleting_at is not null order by id`
  for (const { id } of rows) await queue.send(sql, 'erase', [{ libraryId: id }], { key: id })
}

type EraseContext = { sql: Sql; queue: Queue; isStopped: () => boolean }

/** The erase job. Returns early when `isStopped` does; a later run continues. */
export async function eraseLibrary({ sql, queue, isStopped }: EraseContext, libraryId: string) {
  const isPending = async () => {
    const [row] = await sql`
      select 1 from library where id = ${libraryId} and deleting_at is not null`
    return row !== undefined
  }
  if (!(await isPending())) return
  // A cancelled scan and its jobs continue until their next safe point.
  const isBusy = async () =>
    !(await tryScanLock(sql, libraryId)) || (await queue.hasJobs(libraryId, [...scanJobs]))
  while (!isStopped() && (await isBusy())) await sleep(250)
  for (const step of [deleteSomePendingFiles, deleteSomeBooks, deleteSomeSeries, deleteSomeFolders])
    while (!isStopped() && (await retryOnDeadlock(sql, tx => step(tx, libraryId))) > 0) {}
  if (isStopped()) return
  await sql.begin(async tx => {
    await keepOtherRefreshes(tx, libraryId)
    await tx`delete from library where id = ${libraryId}`
    await invalidateIdentities(tx)
    await queue.send(tx, 'dedupe', [{}], { key: 'all', afterSeconds: 1 })
  })
}

/**
 * A batch that is being stored has claimed its pending files: this waits until it is stored, and afterwards no batch
 * is. The job of such a batch may have been cancelled long before.
 */
async function deleteSomePendingFiles(tx: Transaction, libraryId: string) {
  const files = await tx<{ id: string }[]>`
    select id::text from pending_file where library_id = ${libraryId}
    order by directory_id, name limit ${batch}`
  await tx`
    with locked as (
      select id from pending_file where id = any(${files.map(file => file.id)}::bigint[])
      order by directory_id, name
      for update
    )
    delete from pending_file f using locked where f.id = locked.id`
  return files.length
}

async function deleteSomeBooks(tx: Transaction, libraryId: string) {
  const books = await tx<{ id: string; seriesId: string }[]>`
    select id, series_id as "seriesId" from book
    where library_id = ${libraryId} order by sort_key limit ${batch}`
  const seriesIds = books.map(book => book.seriesId)
  await lockSeries(tx, seriesIds)
  const locked = await tx<{ id: string }[]>`
    select id from book
    where id = any(${books.map(book => book.id)}::uuid[]) order by id for update`
  const lockedIds = locked.map(book => book.id)
  await deleteBooks(tx, lockedIds)
  return books.length
}

async function deleteSomeSeries(tx: Transaction, libraryId: string) {
  const { count } = await tx`
    delete from series
    where id in (select id from series where library_id = ${libraryId} limit ${batch})`
  return count
}

/**
 * A cancelled scan may have left series of other libraries to refresh, because it moved books out of them: the next
 * scans of those libraries refresh them.
 */
async function keepOtherRefreshes(tx: Transaction, libraryId: string) {
  await tx`
    insert into series_refresh as r (library_id, series_id, retitle)
    select s.library_id, s.id, due.retitle
    from series_refresh due
    join series s on s.id = due.series_id and s.library_id <> due.library_id
    where due.library_id = ${libraryId}
    order by s.library_id, s.id
    on conflict (library_id, series_id) do update set retitle = r.retitle or excluded.retitle`
}

// Subfolders before their parents. Paths too long for the index on `path` are deleted first.
async function deleteSomeFolders(tx: Transaction, libraryId: string) {
  const long = await tx`
    delete from directory where library_id = ${libraryId} and length(path) > 2000`
  const { count } = await tx`
    delete from directory
    where id in (
      select id from directory
      where library_id = ${libraryId} and length(path) <= 2000
      order by path desc
      limit ${batch})`
  return long.count + count
}

/** The identity cache of every process holds the libraries of accounts (lib/accounts/identity.ts). */
async function invalidateIdentities(tx: Transaction) {
  await tx`select pg_notify('account', '*')`
}
