// Groups of books with equal SHA-256 (over all libraries) and of series with one external id (over
// all libraries) or one normalised title (inside a library). Groups are found again by their key, so
// their ids stay; deleting a group deletes only the record.
import type { Sql, TransactionSql } from 'postgres'
import type { Jobs, Queue } from '../../lib/queue/queue.ts'
import { refreshStatistics } from '../scan/statistics.ts'
import type { Course } from '../work/job-runs.ts'

const apartMs = 300_000
const laterSeconds = 30

/**
 * The dedupe job. Groups are made of hashes: while hashes are being made it comes back, and brings
 * the groups up to date every few minutes, because a large library is hashed for days.
 */
export function dedupeInTurn(sql: Sql, queue: Queue) {
  let groupedAt = Date.now()
  return async (job: Jobs['dedupe'], { signal }: Partial<Course> = {}) => {
    const isHashing = await queue.pending(['hash'])
    if (job.asked || !isHashing || Date.now() - groupedAt >= apartMs) {
      await dedupe(sql, signal)
      groupedAt = Date.now()
    }
    if (isHashing && !job.asked)
      await queue.send(sql, 'dedupe', [job], { key: 'all', afterSeconds: laterSeconds })
  }
}

/** Brings all groups up to date in one transaction; only rows that differ are written. Fails when it is aborted. */
export async function dedupe(sql: Sql, signal?: AbortSignal) {
  await refreshStatistics(sql, ['book', 'series', 'duplicate_group'])
  await using stack = new AsyncDisposableStack()
  await sql.begin(async tx => {
    signal?.throwIfAborted()
    // Two runs at once would make each other's groups.
    await tx`select pg_advisory_xact_lock(hashtext('stackroom.dedupe'))`
    const [own] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
    const interrupt = () => void interruptDedupe(sql, own!.pid).catch(() => {})
    signal?.addEventListener('abort', interrupt)
    stack.defer(() => signal?.removeEventListener('abort', interrupt))
    await tx`
      insert into duplicate_group (kind, key)
      select 'book', encode(sha256, 'hex')
      from book
      where sha256 is not null and missing_at is null
      group by sha256
      having count(*) > 1
      on conflict (kind, key) do nothing`
    await tx`
      insert into duplicate_book (group_id, book_id)
      select g.id, b.id
      from duplicate_group g
      join book b on b.sha256 = decode(g.key, 'hex') and b.missing_at is null
      where g.kind = 'book'
      on conflict do nothing`
    await tx`
      delete from duplicate_book m
      using duplicate_group g, book b
      where g.id = m.group_id and b.id = m.book_id
        and (b.missing_at is not null or b.sha256 is distinct from decode(g.key, 'hex'))`
    await tx`
      delete from duplicate_group g
      where kind = 'book'
        and (select count(*) from (select 1 from duplicate_book where group_id = g.id limit 2) m) < 2`

    await tx`
      insert into duplicate_group (kind, library_id, key)
      select kind, library_id, key from ${groupedSeries(tx)} as s
      group by kind, library_id, key
      having count(*) > 1
      on conflict (kind, key) do nothing`
    await tx`
      insert into duplicate_series (group_id, series_id)
      select g.id, s.id
      from ${groupedSeries(tx)} as s
      join duplicate_group g on g.kind = s.kind and g.key = s.key
      on conflict do nothing`
    await tx`
      delete from duplicate_series m
      using duplicate_group g
      where g.id = m.group_id
        and not exists (
          select 1 from ${groupedSeries(tx)} as s
          where s.kind = g.kind and s.key = g.key and s.id = m.series_id)`
    await tx`
      delete from duplicate_group g
      where kind <> 'book'
        and (select count(*) from (select 1 from duplicate_series where group_id = g.id limit 2) m) < 2`
  })
}

// A statement over a million books takes its time. Who holds the lock is at it, and not yet at something else.
async function interruptDedupe(sql: Sql, pid: number) {
  await sql`
    select pg_cancel_backend(pid) from pg_locks
    where pid = ${pid} and locktype = 'advisory'
      and objid = (hashtext('stackroom.dedupe')::bigint & 4294967295)::oid`
}

/** Every series that holds books, once for each key it can be found by. */
function groupedSeries(sql: Sql | TransactionSql) {
  return sql`(
    select s.id, 'external_id' as kind, null::uuid as library_id, e.source || ':' || e.external_id as key
    from series s
    join series_external_id e on e.series_id = s.id
    where s.book_count > 0
    union all
    select id, 'title', library_id, library_id || ':' || search_key
    from series
    where book_count > 0 and search_key <> ''
  )`
}
