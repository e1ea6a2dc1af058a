// Book rows of a batch: one statement inserts new books and updates known ones, including page lists and
// search rows.

import type { Fragment } from 'postgres'
import { refreshBookSearch } from '../../lib/catalog/derived/search-rows.ts'
import { fileSources, metadataSources } from '../../lib/media/metadata/metadata.ts'
import type { Transaction } from '../../lib/store/postgres/db.ts'
import { commaList } from '../../lib/store/postgres/statement.ts'
import type { ScanContext } from '../scan/scan-context.ts'
import {
  columnNames,
  columnTypes,
  columnValues,
  derivedColumns,
  metadataColumns,
} from './book-columns.ts'
import { hasContent, knownHash, type Match } from './match.ts'

type BookBatch = {
  matches: Match[]
  seriesOf: (match: Match) => string
  /** Books whose files are unchanged; the result names those whose row changed anyway. */
  unchangedFiles: string[]
}

/**
 * Writes the rows of readings with metadata; retains values that a user locked or set. Returns those of
 * `unchangedFiles` whose visible data changed.
 */
export async function writeBooks(
  tx: Transaction,
  scan: ScanContext,
  { matches, seriesOf, unchangedFiles }: BookBatch,
): Promise<string[]> {
  if (matches.length === 0) return []
  const rows = matches.map(match => encodeRow(match, scan, seriesOf(match)))
  // Their ids are new. A plain insert writes each row once; one with a conflict clause marks it a second
  // time.
  const onConflict = matches.every(match => match.before === null)
    ? () => tx``
    : (update: Fragment) => tx`on conflict ${update}`
  const notable = await tx<{ id: string; isEdited: boolean; isAltered: boolean }[]>`
    with given as materialized (
      select *
      from json_to_recordset(${`[${rows.join(',')}]`}::text::json) as g(
        id uuid, library_id uuid, series_id uuid, directory_id uuid, place text, size bigint,
        modified_ms bigint, fingerprint text, format text, page_count integer,
        ${tx.unsafe(columnTypes)}, sort_key text, search_key text, name_key text,
        number_sort double precision, embedded_series text, extra_metadata jsonb, provenance jsonb,
        warnings text[], page_type text, error_code text, error_message text, scan_id uuid,
        pages text, sha256 text, checks text, has_content boolean, search_text text)
    ), written as (
      insert into book as b (id, library_id, series_id, directory_id, name, size, modified_ms,
        fingerprint, format, page_count, ${tx.unsafe(columnNames)}, sort_key, search_key, name_key,
        number_sort, embedded_series, extra_metadata, provenance, warnings, page_type, error_code,
        error_message, scan_id)
      select id, library_id, series_id, directory_id, decode(place, 'hex'), size, modified_ms,
        decode(fingerprint, 'hex'), format, page_count, ${tx.unsafe(columnValues)}, sort_key,
        search_key, name_key, number_sort, embedded_series, coalesce(extra_metadata, '{}'),
        coalesce(provenance, '{}'), coalesce(warnings, '{}'), page_type, error_code,
        error_message, scan_id
      from given
      ${onConflict(tx`(id) do update
      set library_id = excluded.library_id, series_id = excluded.series_id,
        directory_id = excluded.directory_id, name = excluded.name, size = excluded.size,
        modified_ms = excluded.modified_ms, fingerprint = excluded.fingerprint,
        format = excluded.format, page_count = excluded.page_count, name_key = excluded.name_key,
        embedded_series = excluded.embedded_series, extra_metadata = ${mergedExtraMetadata(tx)}, warnings = excluded.warnings,
        page_type = excluded.page_type, error_code = excluded.error_code, error_message = excluded.error_message,
        scan_id = excluded.scan_id, missing_at = null, updated_at = now(),
        provenance = excluded.provenance || coalesce((
          select jsonb_object_agg(key, value) from jsonb_each(b.provenance)
          where key = any(b.locks) or value #>> '{}' <> all (${tx.unsafe(ofFiles)})), '{}'),
        ${mergedColumns(tx)}`)}
      returning id, series_id, sort_key,
        locks <> '{}' or ${isEdited(tx, 'provenance')} as is_edited,
        case when id = any(${unchangedFiles}::uuid[]) then ${visibleData(tx, 'b')} end as visible_data
    ), artifacts as (
      insert into book_artifact as a (book_id, sha256, checks)
      select id, decode(sha256, 'hex'), decode(checks, 'hex') from given order by id
      ${onConflict(tx`(book_id) do update
      set cover_error = null, checks = excluded.checks, (cover, sha256) = (
        select case when has_content then a.cover end,
          case when has_content then a.sha256 else excluded.sha256 end
        from given where id = a.book_id)`)}
    ), paged as (
      insert into book_pages (book_id, pages)
      select id, decode(pages, 'base64') from given where pages is not null
      ${onConflict(tx`(book_id) do update set pages = excluded.pages`)}
    ), searched as (
      insert into book_search as t (book_id, series_id, is_present, sort_key, text)
      select w.id, w.series_id, true, w.sort_key, g.search_text
      from written w
      join given g on g.id = w.id
      ${onConflict(tx`(book_id) do update
      set series_id = excluded.series_id, is_present = true, sort_key = excluded.sort_key,
        text = excluded.text
      where (t.series_id, t.is_present, t.sort_key, t.text)
        is distinct from (excluded.series_id, true, excluded.sort_key, excluded.text)`)}
    )
    select * from (
      select w.id,
        (w.is_edited or split_part(t.text, chr(10), 1) <> split_part(g.search_text, chr(10), 2))
          is true as "isEdited",
        w.visible_data is not null and exists (
          select from book o where o.id = w.id and ${visibleData(tx, 'o')} <> w.visible_data)
          as "isAltered"
      from written w
      join given g on g.id = w.id
      left join series_search t on t.series_id = w.series_id) w
    where "isEdited" or "isAltered"`
  // These rows have different values than their files, or their series a different title than its folder.
  const edited = notable.filter(book => book.isEdited).map(book => book.id)
  await refreshBookSearch(tx, edited)
  return notable.filter(book => book.isAltered).map(book => book.id)
}

// Columns that every reading writes without a visible change for clients; the order in a series without
// numbers is restored when the scan ends.
const invisibleColumns = [
  'updated_at',
  'number_sort',
  'modified_ms',
  'scan_id',
  'provenance',
  'warnings',
]

function visibleData(tx: Transaction, row: string) {
  return tx`to_jsonb(${tx(row)}) - ${invisibleColumns}::text[]`
}

/**
 * `title = case when … then b.title else excluded.title end` for each metadata column and those derived from
 * it.
 */
function mergedColumns(tx: Transaction) {
  const pairs = [
    ...metadataColumns.map(({ column }) => [column, column] as const),
    ...Object.entries(derivedColumns),
  ]
  const columns = pairs.map(([column, source]) => {
    const c = tx(column)
    return tx`${c} = case when ${isRetained(tx, source)} then b.${c} else excluded.${c} end`
  })
  // Derived from the sort title or, if there is none, from the title.
  const sortKey = tx`sort_key = case
    when ${isRetained(tx, 'title_sort')} and b.title_sort is not null then b.sort_key
    when not ${isRetained(tx, 'title_sort')} and excluded.title_sort is not null then excluded.sort_key
    when ${isRetained(tx, 'title')} then b.sort_key else excluded.sort_key end`
  return commaList(tx, [...columns, sortKey])
}

const ofFiles = `'{${fileSources.join(',')}}'::text[]`
const known = `'{${metadataSources.join(',')}}'::text[]`

/** Whether the origin is a metadata source, whose values stay until it or a user changes them. */
const isOfSource = (tx: Transaction, origin: Fragment) => tx`${origin} <> all (${tx.unsafe(known)})`

const edited = `$.* ? (${fileSources.map(source => `@ != "${source}"`).join(' && ')})`
/** Whether any value is a user's or a metadata source's. */
const isEdited = (tx: Transaction, provenance: string) =>
  tx.unsafe(`jsonb_path_exists(${provenance}, '${edited}')`)

function isRetained(tx: Transaction, column: string) {
  return tx`(${column} = any(b.locks)
    or coalesce(${isOfSource(tx, tx`b.provenance->>${column}`)}
      or b.provenance->>${column} = 'user' and excluded.${tx(column)} is null, false))`
}

/**
 * Like `mergedColumns`, for the members of `extra_metadata`, which are locked by the names they would have as
 * columns.
 */
function mergedExtraMetadata(tx: Transaction) {
  const isMemberRetained = tx`(m.column = any(b.locks)
    or coalesce(${isOfSource(tx, tx`b.provenance->>m.column`)}
      or b.provenance->>m.column = 'user' and not excluded.extra_metadata ? m.key, false))`
  return tx`case
    when b.locks = '{}' and not ${isEdited(tx, 'b.provenance')}
    then excluded.extra_metadata
    else coalesce((
      select jsonb_object_agg(m.key, m.value)
      from (
        select key, value, true as is_old from jsonb_each(b.extra_metadata)
        union all
        select key, value, false from jsonb_each(excluded.extra_metadata)
      ) e
      cross join lateral (
        select e.key, e.value, lower(regexp_replace(e.key, '([A-Z])', '_\\1', 'g')) as column) m
      where e.is_old = ${isMemberRetained}), '{}') end`
}

/** The reading's columns are already encoded JSON: both objects are joined as text. */
function encodeRow(match: Match, scan: ScanContext, seriesId: string) {
  const { bookId, file, reading } = match
  const row = JSON.stringify({
    id: bookId,
    library_id: scan.libraryId,
    series_id: seriesId,
    directory_id: file.directoryId,
    place: file.name,
    size: file.size,
    modified_ms: file.modifiedMs,
    scan_id: scan.scanId,
    fingerprint: reading.fingerprint,
    format: reading.format,
    page_count: reading.pageCount,
    pages: reading.pages,
    sha256: knownHash(match),
    checks: reading.checks,
    has_content: match.before !== null && hasContent(match.before, file, reading),
    warnings: reading.warnings,
    page_type: reading.pageType,
    error_code: reading.error?.code ?? null,
    error_message: reading.error?.message ?? null,
  })
  return `${row.slice(0, -1)},${reading.columns.slice(1)}`
}
