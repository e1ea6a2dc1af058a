// The figures of scans, for whoever shows them: the status of a scan, and what is told while it runs.
import type { Fragment, Sql, TransactionSql } from 'postgres'

export type ScanState =
  | 'queued'
  | 'running'
  | 'completed'
  | 'cancelled'
  | 'failed'
  | 'unavailable'
  | 'unconfirmed'

export const scanStatuses = ['pending', 'running', 'completed', 'failed', 'cancelled'] as const
export type ShownStatus = (typeof scanStatuses)[number]

export const scanStages = [
  'waiting',
  'discovering',
  'reading',
  'covers',
  'hashing',
  'done',
] as const

/** One scan. `filesPerSecond` counts files that were dealt with since the scan began. */
export type ScanFigures = {
  id: string
  libraryId: string
  state: ScanState
  mode: 'normal' | 'deep'
  stage: (typeof scanStages)[number]
  filesTotal: number
  filesProcessed: number
  filesPerSecond: number
  seriesCreated: number
  booksAdded: number
  booksChanged: number
  booksMoved: number
  booksMissing: number
  booksRestored: number
  bytesRead: number
  failures: number
  message: string | null
  startedAt: Date
  completedAt: Date | null
}

const words: Partial<Record<ScanState, ShownStatus>> = {
  queued: 'pending',
  running: 'running',
  completed: 'completed',
  cancelled: 'cancelled',
}

/** The word for a state; whatever else a scan ends in, it failed. */
export function shownStatus(state: ScanState): ShownStatus {
  return words[state] ?? 'failed'
}

/** The columns of ScanFigures from `countedScans` as `s`. */
export function scanFigures(sql: Sql | TransactionSql): Fragment {
  return sql`
    s.id, s.library_id as "libraryId", s.state, s.mode,
    case
      when s.state = 'queued' then 'waiting'
      when s.state = 'running' and s.discovered_at is null
        and not s.options @> '{"analysis": true}' then 'discovering'
      when s.state = 'running' then 'reading'
      when s.state = 'completed' and s.covers < s.to_cover then 'covers'
      when s.state = 'completed' and s.hashed < s.to_hash then 'hashing'
      else 'done'
    end as stage,
    s.total as "filesTotal", s.processed as "filesProcessed",
    -- A scan that is over in no time has no rate worth telling.
    coalesce(round((s.processed / greatest(extract(epoch from
      coalesce(s.finished_at, clock_timestamp()) - s.started_at)::numeric, 0.1))::numeric, 1), 0)::float8
      as "filesPerSecond",
    s.series_added as "seriesCreated", s.added as "booksAdded", s.changed as "booksChanged",
    s.moved as "booksMoved", s.missing as "booksMissing", s.restored as "booksRestored",
    s.bytes_read as "bytesRead", s.failures, s.message,
    coalesce(s.started_at, s.created_at) as "startedAt", s.finished_at as "completedAt"`
}

/** Rows of `scan` with what follows from them: failures, files met in all, and those dealt with. */
export function countedScans(sql: Sql | TransactionSql): Fragment {
  return sql`(
    select *, greatest(found, to_index) as total,
      -- Before the walk is over only what was read is known to be dealt with.
      case when discovered_at is null then read
        else greatest(found, to_index) - greatest(to_index - read, 0) end as processed
    from (
      select *, added + changed + moved + restored + unchanged + failures as read
      from (
        select *, coalesce((
          select sum(value::integer) from jsonb_each_text(failed)), 0)::integer as failures
        from scan
      ) f
    ) r
  )`
}
