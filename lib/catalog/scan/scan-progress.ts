// Progress of scans: state, stage and counters, for the scan status, progress events and tasks.
import type { Fragment } from 'postgres'
import {
  component,
  count,
  list,
  nullable,
  oneOf,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { taskStatuses } from '../../store/queue/task-status.ts'
import { scanModes } from '../library/library-settings.ts'

export type ScanState =
  | 'queued'
  | 'running'
  | 'completed'
  | 'cancelled'
  | 'failed'
  | 'unavailable'
  | 'unconfirmed'

export const scanStatuses = taskStatuses
export type PublicScanState = (typeof scanStatuses)[number]

export const scanStages = [
  'waiting',
  'discovering',
  'reading',
  'covers',
  'hashing',
  'done',
] as const

export const ScanStatus = component('ScanStatus', {
  id: uuid(),
  libraryId: uuid(),
  status: oneOf(scanStatuses),
  mode: oneOf(scanModes),
  stage: oneOf(scanStages, {
    description: 'Covers and hashes continue after the scan is completed.',
  }),
  filesTotal: count({
    description:
      'Book files discovered so far. For an account with an age limit or sharing tags, the visible books; the other counts of the scan are then 0.',
  }),
  filesProcessed: count({ description: 'How many of them are unchanged, read or failed.' }),
  filesPerSecond: Type.Number({
    description: 'Average rate since the scan started.',
  }),
  coversTotal: count({ description: 'Covers requested by this scan.' }),
  coversMade: count({ description: 'How many of them have been made.' }),
  hashesTotal: count({ description: 'File hashes requested by this scan.' }),
  hashesMade: count({ description: 'How many of them have been computed.' }),
  secondsLeft: nullable(
    count({
      description:
        'Estimated time left in the current stage, from its rate so far; null while it is unknown.',
    }),
  ),
  seriesCreated: count({ description: 'Series created by this scan.' }),
  seriesFound: count({ description: 'Current number of series in the library.' }),
  booksFound: count({ description: 'Current number of books in the library.' }),
  booksAdded: count(),
  booksChanged: count(),
  booksMoved: count(),
  booksMissing: count(),
  booksRestored: count(),
  bytesRead: count(),
  failures: count({ description: 'Files that could not be read.' }),
  errors: list(Type.String(), {
    description: 'Why the scan failed, and up to 100 files that could not be read.',
  }),
  message: nullable(Type.String()),
  startedAt: timestamp({ description: 'For a pending scan, when it was requested.' }),
  completedAt: nullable(timestamp()),
  host: nullable(
    Type.String({
      description: 'Name of the host that ran it last; null for accounts without SystemAdmin.',
    }),
  ),
  pid: nullable(count({ description: 'Process id on that host; null like `host`.' })),
})
export type ScanStatus = Static<typeof ScanStatus>

/** One scan, whose state is not yet a public one. */
export type ScanProgress = Omit<
  ScanStatus,
  'status' | 'errors' | 'seriesFound' | 'booksFound' | 'host' | 'pid'
> & { state: ScanState }

const publicStates: Partial<Record<ScanState, PublicScanState>> = {
  queued: 'pending',
  running: 'running',
  completed: 'completed',
  cancelled: 'cancelled',
}

/** `unavailable` and `unconfirmed` are published as `failed`. */
export function publicScanState(state: ScanState): PublicScanState {
  return publicStates[state] ?? 'failed'
}

/** Select list of ScanProgress, from `scansWithTotals` as `s`. */
export function scanProgressColumns(sql: Queryable): Fragment {
  const seconds = secondsFor(sql)
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
    -- At least 0.1 s: the rate of a shorter scan would be meaningless.
    coalesce(round((s.processed / greatest(extract(epoch from
      coalesce(s.finished_at, clock_timestamp()) - s.started_at)::numeric, 0.1))::numeric, 1), 0)::float8
      as "filesPerSecond",
    s.to_cover as "coversTotal", least(s.covers, s.to_cover) as "coversMade",
    s.to_hash as "hashesTotal", least(s.hashed, s.to_hash) as "hashesMade",
    case
      when s.state = 'running' and s.discovered_at is not null and s.read between 1 and s.to_index
        then ${seconds(sql`s.to_index - s.read`, sql`s.read`, sql`clock_timestamp() - s.started_at`)}
      when s.state = 'completed' and s.covers between 1 and s.to_cover - 1
        then ${seconds(sql`s.to_cover - s.covers`, sql`s.covers`, sql`s.last_cover_at - s.first_cover_at`)}
      when s.state = 'completed' and s.hashed between 1 and s.to_hash - 1
        then ${seconds(sql`s.to_hash - s.hashed`, sql`s.hashed`, sql`s.last_hash_at - s.first_hash_at`)}
    end as "secondsLeft",
    s.series_added as "seriesCreated", s.added as "booksAdded", s.changed as "booksChanged",
    s.moved as "booksMoved", s.missing as "booksMissing", s.restored as "booksRestored",
    s.bytes_read as "bytesRead", s.failures, s.message,
    coalesce(s.started_at, s.created_at) as "startedAt", s.finished_at as "completedAt"`
}

/** Whole seconds for `left` more, if `made` took an interval. */
const secondsFor = (sql: Queryable) => (left: Fragment, made: Fragment, took: Fragment) =>
  sql`ceil((${left}) * extract(epoch from ${took})::float8 / (${made}))`

/** The progress for a viewer from whom books may be hidden: without counts, and without a message that may contain some. */
export function withoutCounts<P extends ScanProgress>(scan: P): P {
  return {
    ...scan,
    filesTotal: 0,
    filesProcessed: 0,
    filesPerSecond: 0,
    coversTotal: 0,
    coversMade: 0,
    hashesTotal: 0,
    hashesMade: 0,
    secondsLeft: null,
    seriesCreated: 0,
    booksAdded: 0,
    booksChanged: 0,
    booksMoved: 0,
    booksMissing: 0,
    booksRestored: 0,
    bytesRead: 0,
    failures: 0,
    message: publicScanState(scan.state) === 'failed' ? 'The scan failed' : null,
  }
}

/** Rows of `scan` with computed columns: `failures`, `total` files and `processed` files. */
export function scansWithTotals(sql: Queryable): Fragment {
  return sql`(
    select *, greatest(found, to_index) as total,
      -- Until the walk is complete, only files that were read are known to be processed.
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
