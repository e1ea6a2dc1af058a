// PostgreSQL, as one cheap statement sees it.
import type { Sql } from 'postgres'
import { bounded, kept } from './cached-gauge.ts'
import type { Family } from './registry.ts'

const patienceMs = 2_000

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

/** The figures of the database, and its version; without either when it does not answer. */
export async function databaseFamilies(
  sql: Sql,
): Promise<{ families: Family[]; server: string | null }> {
  const began = performance.now()
  const row = (await look(sql))?.[0] ?? null
  const seconds = (performance.now() - began) / 1000
  const sizes = row && (await dear(sql))
  const up: Family = {
    name: 'stackroom_database_up',
    help: 'Whether the database answered within two seconds.',
    type: 'gauge',
    values: [{ value: row ? 1 : 0 }],
  }
  const families = [up, ...ofServer(row, seconds), ...ofUse(row), ...ofSize(sizes)]
  return { families, server: row?.server ?? null }
}

/** One value, or one for each value of a label; none while the figures are not there. */
function family(
  type: Family['type'],
  name: string,
  [help, figures, label]: [string, number | Record<string, number> | undefined, string?],
): Family {
  const values =
    typeof figures === 'object'
      ? Object.entries(figures).map(([key, value]) => ({ labels: { [label!]: key }, value }))
      : figures === undefined
        ? []
        : [{ value: figures }]
  return { name, help, type, values }
}

function ofServer(row: Row | null, seconds: number): Family[] {
  return [
    family('gauge', 'db_round_trip_seconds', [
      'What a small statement takes just now, with the wait for a free connection.',
      row ? seconds : undefined,
    ]),
    family('gauge', 'db_connections', [
      'Connections of all processes to the database, by what they do.',
      row?.connections ?? undefined,
      'state',
    ]),
    family('gauge', 'db_connections_limit', [
      'Connections that the server of the database allows.',
      row?.limit,
    ]),
  ]
}

function ofUse(row: Row | null): Family[] {
  return [
    family('counter', 'db_transactions_total', [
      'Transactions of the database, by their end.',
      row ? { commit: row.commits, rollback: row.rollbacks } : undefined,
      'outcome',
    ]),
    family('counter', 'db_deadlocks_total', ['Deadlocks that the server broke.', row?.deadlocks]),
    family('counter', 'db_blocks_total', [
      'Blocks that were looked for: in memory (hit) or outside (read).',
      row ? { hit: row.hit, read: row.read } : undefined,
      'result',
    ]),
    family('counter', 'db_wal_bytes_total', ['Write-ahead log that the server wrote.', row?.wal]),
  ]
}

type Sizes = { bytes: number; accounts: number }

function ofSize(sizes: Sizes | null): Family[] {
  return [
    family('gauge', 'db_size_bytes', ['Size of the database on disk.', sizes?.bytes]),
    family('gauge', 'stackroom_accounts', [
      'Accounts, also those that may not sign in.',
      sizes?.accounts,
    ]),
  ]
}

const look = bounded(
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
  patienceMs,
)

/** Its size is asked of every file of it. */
const dear = kept(
  async sql => {
    const [row] = await sql<Sizes[]>`
      select pg_database_size(current_database())::float8 as bytes,
        (select count(*)::integer from account) as accounts`
    return row!
  },
  { forMs: 60_000 },
)

/** Bytes that the database takes on disk, a minute old at most; null when it does not say. */
export async function databaseSize(sql: Sql): Promise<number | null> {
  return (await dear(sql))?.bytes ?? null
}
