// Planner statistics of tables that a scan fills. A first scan fills tables faster than autovacuum analyzes
// them, and a planner that assumes they are empty joins a hundred thousand rows in nested loops (dedupe: 12 s
// instead of 0.4 s; finalizing 4,000 series: 95 s instead of two).
import type { Sql } from '../../lib/store/postgres/db.ts'

/** Analyzes the tables of which more than a tenth has changed since the last time. */
export async function refreshStatistics(
  sql: Sql,
  tables: (
    | 'book'
    | 'book_artifact'
    | 'series'
    | 'book_search'
    | 'book_summary'
    | 'series_search'
    | 'duplicate_group'
  )[],
) {
  const stale = await sql<{ name: string }[]>`
    select relname as name
    from pg_stat_user_tables
    where schemaname = current_schema() and relname in ${sql(tables)}
      and n_mod_since_analyze > 1000 + n_live_tup / 10`
  for (const { name } of stale) await sql`analyze ${sql(name)}`
}
