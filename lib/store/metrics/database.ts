// PostgreSQL metrics from its statistics views.
import type { Sql } from 'postgres'
import type { Services } from '../services.ts'
import { cachedQuery, timeLimitedQuery } from './cached-query.ts'
import { by, family } from './registry.ts'

const queryTimeoutMs = 2_000

type Row = {
  server: string
  connections: Record<string, number> | null
  limit: number
  commits: number
  rollbacks: number
  deadlocks: number
  read: number
  hit: number
  wal: number
}

/** Database metrics and the server version; without values if the database does not respond. */
export async function databaseFamilies(services: Services) {
  const started = performance.now()
  const row = (await services(loadStatistics)())?.[0] ?? null
  const seconds = (performance.now() - started) / 1000
  const sizes = row && (await services(loadSizes)())
  const families = [
    family('gauge', 'stackroom_database_up', [
      'Whether the database responded within two seconds.',
      row ? 1 : 0,
    ]),
    family('gauge', 'db_round_trip_seconds', [
      'Duration of a small query, including the wait for a free connection.',
      row && seconds,
    ]),
    family('gauge', 'db_connections', [
      'Connections to the database, by state.',
      row?.connections && by('state', row.connections),
    ]),
    family('gauge', 'db_connections_limit', [
      'Maximum number of connections to the database server.',
      row?.limit,
    ]),
    family('counter', 'db_transactions_total', [
      'Database transactions, by outcome.',
      row && by('outcome', { commit: row.commits, rollback: row.rollbacks }),
    ]),
    family('counter', 'db_deadlocks_total', ['Deadlocks resolved by the server.', row?.deadlocks]),
    family('counter', 'db_blocks_total', [
      'Block accesses: in the buffer cache (hit) or outside it (read).',
      row && by('result', { hit: row.hit, read: row.read }),
    ]),
    family('counter', 'db_wal_bytes_total', ['Write-ahead log written by the server.', row?.wal]),
    family('gauge', 'db_size_bytes', ['Size of the database on disk.', sizes?.bytes]),
    family('gauge', 'stackroom_accounts', ['Accounts, including inactive ones.', sizes?.accounts]),
  ]
  return { families, server: row?.server ?? null }
}

const loadStatistics = timeLimitedQuery(
  (sql: Sql) => sql<Row[]>`
    select current_setting('server_version') as server,
      current_setting('max_connections')::integer as limit,
      (
        select jsonb_object_agg(state, count)
        from (
          select coalesce(nullif(state, ''), 'other') as state, count(*) as count
          from pg_stat_activity
          where datname = current_database() and backend_type = 'client backend'
          group by 1
        ) a
      ) as connections,
      d.xact_commit as commits, d.xact_rollback as rollbacks, d.deadlocks, d.blks_read as read,
      d.blks_hit as hit, w.wal_bytes::float8 as wal
    from pg_stat_database d
    cross join pg_stat_wal w
    where d.datname = current_database()`,
  queryTimeoutMs,
)

type Sizes = { bytes: number; accounts: number }

/** Cached, because PostgreSQL checks the size of every file. */
const loadSizes = cachedQuery(
  async sql => {
    const [row] = await sql<Sizes[]>`
      select pg_database_size(current_database())::float8 as bytes,
        (select count(*)::integer from account) as accounts`
    return row!
  },
  { minAgeMs: 60_000 },
)

/** Size of the database in bytes, cached for a minute; null if it is unknown. */
export async function databaseSize(services: Services): Promise<number | null> {
  return (await services(loadSizes)())?.bytes ?? null
}
