// How a library goes: nobody sees it any more from one moment to the next, and a job erases its rows
// a batch at a time, because a million books take minutes. What is left after a crash goes then.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql, TransactionSql } from 'postgres'
import { seesLibrary, type Viewer } from '../../auth/viewer.ts'
import { NotFound } from '../../errors.ts'
import { tell } from '../../event/publish.ts'
import type { Queue } from '../../queue/queue.ts'
import { eraseBooks } from '../book/purge.ts'
import { cancelScans } from '../scan/scan-request.ts'

const batch = 1_000
const lanes = ['index', 'cover', 'hash'] as const

type Leaving = { viewer: Viewer; libraryId: string }

/** Removes a library from sight, calls off its work and has it erased. Throws NotFound. */
export async function removeLibrary(sql: Sql, queue: Queue, { viewer, libraryId }: Leaving) {
  await sql.begin(async tx => {
    const [library] = await tx<{ accounts: string[] }[]>`
      update library l set deleting_at = now(), updated_at = now()
      where id = ${libraryId} and deleting_at is null and ${seesLibrary(sql, viewer)}
      returning array(
        select account_id from account_library a where a.library_id = l.id order by 1) as accounts`
    if (!library) throw new NotFound('Library not found')
    await cancelScans(tx, queue, { libraryId, analyses: true })
    for (const lane of lanes) await queue.withdraw(tx, lane, libraryId)
    await queue.send(tx, 'erase', [{ libraryId }], { key: libraryId })
    // What accounts may see is remembered by every process (lib/auth/identity.ts).
    await tellEveryone(tx)
    // Of its series and books nothing is told: this stands for all of them.
    const { accounts } = library
    await tell(tx, [{ type: 'library_deleted', libraryId, audience: { accounts } }])
  })
}

/** Asks again for the jobs of libraries that were being erased; those that have one keep it. */
export async function resumeErasing(sql: Sql, queue: Queue): Promise<void> {
  const rows = await sql<{ id: string }[]>`
    select id from library where deleting_at is not null order by id`
  for (const { id } of rows) await queue.send(sql, 'erase', [{ libraryId: id }], { key: id })
}

type Erasing = { sql: Sql; queue: Queue; stop: () => boolean }

/** The erase job. Ends early when `stop` says so; whoever comes next goes on. */
export async function eraseLibrary({ sql, queue, stop }: Erasing, libraryId: string) {
  const isLeft = async () => {
    const [row] = await sql`
      select 1 from library where id = ${libraryId} and deleting_at is not null`
    return row !== undefined
  }
  if (!(await isLeft())) return
  // Threads that read a batch for a scan which was called off notice it when they store.
  while (!stop() && (await queue.busy(libraryId, [...lanes]))) await sleep(250)
  for (const step of [someBooks, someSeries, someFolders])
    while (!stop() && (await sql.begin(tx => step(tx, libraryId))) > 0) {}
  if (stop()) return
  await sql.begin(async tx => {
    await tx`delete from library where id = ${libraryId}`
    await tellEveryone(tx)
    await queue.send(tx, 'dedupe', [{}], { key: 'all', afterSeconds: 1 })
  })
}

async function someBooks(tx: TransactionSql, libraryId: string) {
  const rows = await tx<{ id: string }[]>`
    select id from book where library_id = ${libraryId} order by sort_key limit ${batch} for update`
  await eraseBooks(
    tx,
    rows.map(row => row.id),
  )
  return rows.length
}

async function someSeries(tx: TransactionSql, libraryId: string) {
  const { count } = await tx`
    delete from series
    where id in (select id from series where library_id = ${libraryId} limit ${batch})`
  return count
}

// Folders go before those that hold them; one that is too long for the index goes first of all.
async function someFolders(tx: TransactionSql, libraryId: string) {
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

async function tellEveryone(tx: TransactionSql) {
  await tx`select pg_notify('account', '*')`
}
