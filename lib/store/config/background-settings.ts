// Runtime settings of background work, one line each; part of the catalog in schema.ts.
import { cronError, isTimeZone } from '../../base/cron.ts'
import { type Key, keys } from './descriptor.ts'

const runtime = keys('runtime')

const schedule = {
  maxLength: 200,
  check: (value: string) => (value === '' ? null : cronError(value)),
}
const timeZone = {
  maxLength: 100,
  check: (value: string) =>
    value === '' || isTimeZone(value) ? null : 'use an IANA name such as Europe/Berlin',
}
export const backgroundSettings = {
  'backup.cron': runtime.text(
    '',
    'Schedule of backups into backup.dir, as a five-field cron expression; empty for none.',
    schedule,
  ),
  'backup.keep': runtime.integer(
    7,
    [1, 1000],
    'Number of scheduled backups that are retained; older ones are deleted.',
  ),
  'deduplication.cron_schedule': runtime.text(
    '',
    'Additional schedule of the duplicate search as a five-field cron expression (0 4 * * *); empty for none.',
    schedule,
  ),
  'deduplication.enabled': runtime.boolean(true, 'Search for duplicates after scans with changes.'),
  'display.custom_metadata_template': runtime.text(
    '',
    'Template that clients use to display custom metadata.',
    { maxLength: 65_536 },
  ),
  'duplicate_detection.trusted_external_id_sources': runtime.text(
    '',
    'Sources whose external ids identify duplicate series, separated by commas; empty for all.',
    { maxLength: 10_000 },
  ),
  'events.retention_minutes': runtime.integer(
    90,
    [60, 1440],
    'How long events are retained for clients that reconnect.',
  ),
  'maintenance.cron_schedule': runtime.text(
    '0 3 * * *',
    'Schedule of the maintenance that deletes expired data, as a five-field cron expression; empty for none.',
    schedule,
  ),
  'plugins.auto_match_confidence_threshold': runtime.number(
    0.8,
    [0, 1],
    'Minimum relevance for automatic matching to accept the best search hit.',
  ),
  'plugins.post_scan_auto_match_enabled': runtime.boolean(
    false,
    'Match series with metadata sources after each scan.',
  ),
  'release_tracking.default_cron_schedule': runtime.text(
    '0 0 * * *',
    'Poll schedule for release sources that do not set their own, as a five-field cron expression; empty for none.',
    schedule,
  ),
  'release_tracking.default_languages': runtime.text(
    'en',
    'Only releases in these languages advance the latest known chapter and volume of a series; separated by commas.',
    { maxLength: 500 },
  ),
  'purge.purge_empty_series': runtime.boolean(
    true,
    'Delete series that have no books left after a purge.',
  ),
  'reading.retention_days': runtime.integer(
    0,
    [0, 36_500],
    'Days after which the reading sessions of a book are merged into one per day, without devices; 0 for never. Totals do not change.',
  ),
  'scheduler.timezone': runtime.text(
    '',
    "Time zone of schedules that do not set their own (Europe/Berlin); empty for the server's.",
    timeZone,
  ),
  'tasks.retention_days': runtime.integer(
    7,
    [1, 365],
    'How long finished tasks and scans are retained.',
  ),
  'watch.poll_seconds': runtime.integer(
    60,
    [5, 86_400],
    'How often a library that is watched by polling is checked.',
  ),
} satisfies Record<string, Key>
