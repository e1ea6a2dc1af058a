// Runtime settings of background work, part of the catalogue in schema.ts: one line each.
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
  'deduplication.cron_schedule': runtime.text(
    '',
    'Additional schedule of the duplicate search, five fields (0 4 * * *); empty for none.',
    schedule,
  ),
  'deduplication.enabled': runtime.boolean(true, 'Search for duplicates after scans with changes.'),
  'display.custom_metadata_template': runtime.text(
    '',
    'Template with which clients display custom metadata.',
    { maxLength: 65_536 },
  ),
  'duplicate_detection.trusted_external_id_sources': runtime.text(
    '',
    'Sources whose external ids show that two series are the same, separated by commas; empty for all.',
    { maxLength: 10_000 },
  ),
  'events.retention_minutes': runtime.integer(
    90,
    [60, 1440],
    'How long events are stored for clients that reconnect.',
  ),
  'maintenance.cron_schedule': runtime.text(
    '0 3 * * *',
    'Schedule of the maintenance that deletes expired data, five fields; empty for none.',
    schedule,
  ),
  'plugins.auto_match_confidence_threshold': runtime.number(
    0.8,
    [0, 1],
    'Relevance from which the best hit of a search is used for automatic matching.',
  ),
  'plugins.post_scan_auto_match_enabled': runtime.boolean(
    false,
    'Match series with the sources of metadata after each scan.',
  ),
  'release_tracking.default_cron_schedule': runtime.text(
    '0 0 * * *',
    'Schedule of the polls of release sources without one of their own, five fields; empty for none.',
    schedule,
  ),
  'release_tracking.default_languages': runtime.text(
    'en',
    'Languages of the releases that advance the latest known chapter and volume of a series, separated by commas.',
    { maxLength: 500 },
  ),
  'purge.purge_empty_series': runtime.boolean(
    true,
    'Delete series that have no books left after a purge.',
  ),
  'reading.retention_days': runtime.integer(
    0,
    [0, 36_500],
    'Days after which the sittings of a book are combined into one a day, without devices; 0: never. Totals do not change.',
  ),
  'scheduler.timezone': runtime.text(
    '',
    "Time zone of schedules without one of their own (Europe/Berlin); empty for the server's.",
    timeZone,
  ),
  'tasks.retention_days': runtime.integer(
    7,
    [1, 365],
    'How long finished tasks and scans are stored.',
  ),
  'watch.poll_seconds': runtime.integer(
    60,
    [5, 86_400],
    'Interval at which a library watched by polling is checked.',
  ),
} satisfies Record<string, Key>
