// Duplicate groups: books with equal SHA-256 (across all libraries), series with the same external id (across
// all libraries) or the same normalized title (within a library). Groups are identified by their key, so
// their ids are stable; deleting a group only deletes the record.
import { seriesExternalIds } from '../../lib/catalog/metadata/external-reference.ts'
import type { Queryable, Sql, Transaction } from '../../lib/store/postgres/db.ts'
import type { JobControl } from '../../lib/store/queue/job-run.ts'
import type { Jobs, Queue } from '../../lib/store/queue/queue.ts'
import { fetchSetting } from '../../lib/store/setting/setting.ts'
import { refreshStatistics } from './statistics.ts'

const intervalMs = 300_000
const retrySeconds = 30

/**
 * The dedupe job. While hashes are being computed it keeps enqueuing itself and refreshes the groups every
 * few minutes, because hashing a large library takes days.
 */
export function createDedupeJob(sql: Sql, queue: Queue) {
  let refreshedAt = Date.now()
  return async (job: Jobs['dedupe'], { signal }: Partial<JobControl> = {}): Promise<void> => {
    const isHashing = await queue.hasReadyJobs(['hash'])
    if (job.requested || !isHashing || Date.now() - refreshedAt >= intervalMs) {
      await dedupe(sql, signal)
      refreshedAt = Date.now()
    }
    if (isHashing && !job.requested)
      await queue.send(sql, 'dedupe', [job], { key: 'all', afterSeconds: retrySeconds })
  }
}

/** Refreshes all groups in one transaction, writing only differences. Rejects when `signal` aborts. */
export async function dedupe(sql: Sql, signal?: AbortSignal): Promise<void> {
  await refreshStatistics(sql, ['book', 'book_artifact', 'series', 'duplicate_group'])
  let pid: number | null = null
  const interrupt = () => {
    if (pid !== null) void interruptDedupe(sql, pid).catch(() => {})
  }
  signal?.addEventListener('abort', interrupt)
  try {
    await sql.begin(async tx => {
      signal?.throwIfAborted()
      // Two concurrent runs would insert the same groups.
      await tx`select pg_advisory_xact_lock(hashtext('stackroom.dedupe'))`
      const [backend] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
      pid = backend!.pid
      signal?.throwIfAborted()
      await groupBooks(tx)
      await groupSeries(tx, await trustedSources(tx))
    })
  } finally {
    signal?.removeEventListener('abort', interrupt)
  }
}

async function groupBooks(tx: Transaction) {
  await tx`
    insert into duplicate_group (kind, key)
    select 'book', encode(a.sha256, 'hex')
    from book_artifact a
    join book b on b.id = a.book_id
    where a.sha256 is not null and b.missing_at is null
    group by a.sha256
    having count(*) > 1
    on conflict (kind, key) do nothing`
  await tx`
    insert into duplicate_book (group_id, book_id)
    select g.id, b.id
    from duplicate_group g
    join book_artifact a on a.sha256 = decode(g.key, 'hex')
    join book b on b.id = a.book_id and b.missing_at is null
    where g.kind = 'book'
    on conflict do nothing`
  await tx`
    delete from duplicate_book m
    using duplicate_group g, book b, book_artifact a
    where g.id = m.group_id and b.id = m.book_id and a.book_id = b.id
      and (b.missing_at is not null or a.sha256 is distinct from decode(g.key, 'hex'))`
  await tx`
    delete from duplicate_group g
    where kind = 'book'
      and (select count(*) from (select 1 from duplicate_book where group_id = g.id limit 2) m) < 2`
}

/** Sources whose external ids count; null for all. */
async function trustedSources(tx: Transaction): Promise<string[] | null> {
  const names = await fetchSetting(tx, 'duplicate_detection.trusted_external_id_sources')
  const sources = names.split(',').flatMap(name => name.trim() || [])
  return sources.length === 0 ? null : sources
}

async function groupSeries(tx: Transaction, trusted: string[] | null) {
  await tx`
    insert into duplicate_group (kind, library_id, key)
    select kind, library_id, key from ${seriesKeys(tx, trusted)} as s
    group by kind, library_id, key
    having count(*) > 1
    on conflict (kind, key) do nothing`
  await tx`
    insert into duplicate_series (group_id, series_id)
    select g.id, s.id
    from ${seriesKeys(tx, trusted)} as s
    join duplicate_group g on g.kind = s.kind and g.key = s.key
    on conflict do nothing`
  await tx`
    delete from duplicate_series m
    using duplicate_group g
    where g.id = m.group_id
      and not exists (
        select 1 from ${seriesKeys(tx, trusted)} as s
        where s.kind = g.kind and s.key = g.key and s.id = m.series_id)`
  await tx`
    delete from duplicate_group g
    where kind <> 'book'
      and (select count(*) from (select 1 from duplicate_series where group_id = g.id limit 2) m) < 2`
}

// A statement over a million books takes a while. The lock shows that the backend is still running this
// transaction.
async function interruptDedupe(sql: Sql, pid: number) {
  await sql`
    select pg_cancel_backend(pid) from pg_locks
    where pid = ${pid} and locktype = 'advisory'
      and objid = (hashtext('stackroom.dedupe')::bigint & 4294967295)::oid`
}

/**
 * The lowercase title without punctuation and spaces: `Spider-Man: Blue` becomes `spidermanblue`. A title of
 * nothing else stays unchanged. Uses code points, because character classes depend on the database locale.
 */
function titleKey(sql: Queryable) {
  return sql`coalesce(nullif(regexp_replace(search_key, ${punctuation}, '', 'g'), ''), search_key)`
}

const punctuation =
  '[\\u0001-\\u002f\\u003a-\\u0040\\u005b-\\u0060\\u007b-\\u00a9\\u00ab-\\u00b4\\u00b6-\\u00b9\\u00bb-\\u00bf\\u2000-\\u206f\\u3000-\\u3004\\u3008-\\u3020\\u30a0\\u30fb\\ufe30-\\ufe6f\\uff01-\\uff0f\\uff1a-\\uff20\\uff3b-\\uff40\\uff5b-\\uff65]+'

/** Every series that contains books, once for each of its grouping keys. */
function seriesKeys(sql: Queryable, trusted: string[] | null) {
  return sql`(
    select s.id, 'external_id' as kind, null::uuid as library_id, e.source || ':' || e.external_id as key
    from series s
    join ${seriesExternalIds(sql)} e on e.series_id = s.id
    where s.book_count > 0 and ${trusted ? sql`e.source = any(${trusted})` : sql`true`}
    union all
    select id, 'title', library_id, library_id || ':' || ${titleKey(sql)}
    from series
    where book_count > 0 and search_key <> ''
  )`
}
