// The book rows of a batch: one statement inserts new books and updates known ones, pages with them.
import type { TransactionSql } from 'postgres'
import type { Match } from './match.ts'
import type { ScanContext } from './scan-context.ts'

/** Columns that a user may lock; a locked one keeps its value whatever the file says. */
export const lockable = [
  'title',
  'title_sort',
  'number',
  'volume',
  'chapter',
  'year',
  'month',
  'day',
  'language',
  'authors',
  'summary',
  'publisher',
  'imprint',
  'genres',
  'tags',
  'isbn',
  'age_rating',
  'reading_direction',
] as const

/** What follows from a lockable column and has to stay with it. */
const derived = { sort_key: 'title', search_key: 'title', number_sort: 'number' } as const

/** Rows for readings with facts; what a user locked or set is kept. */
export async function writeBooks(
  tx: TransactionSql,
  scan: ScanContext,
  matches: Match[],
  seriesOf: (m: Match) => string,
) {
  if (matches.length === 0) return
  const rows = matches.map(m => row(m, scan, seriesOf(m)))
  await tx`
    with given as materialized (
      select *
      from json_to_recordset(${`[${rows.join(',')}]`}::text::json) as g(
        id uuid, library_id uuid, series_id uuid, directory_id uuid, place text, size bigint,
        modified_ms bigint, fingerprint text, format text, page_count integer, title text,
        title_sort text, sort_key text, search_key text, name_key text, number text,
        number_sort double precision, volume double precision, chapter double precision,
        series_named text, year integer, month smallint, day smallint, language text, authors jsonb,
        summary text, publisher text, imprint text, genres text[], tags text[], isbn text,
        age_rating integer, reading_direction text, more jsonb, provenance jsonb, warnings text[],
        error_code text, error_message text, scan_id uuid, pages text, same_content boolean)
    ), written as (
      insert into book as b (id, library_id, series_id, directory_id, name, size, modified_ms,
        fingerprint, format, page_count, title, title_sort, sort_key, search_key, name_key, number,
        number_sort, volume, chapter, series_named, year, month, day, language, authors, summary,
        publisher, imprint, genres, tags, isbn, age_rating, reading_direction, more, provenance,
        warnings, error_code, error_message, scan_id)
      select id, library_id, series_id, directory_id, decode(place, 'hex'), size, modified_ms,
        decode(fingerprint, 'hex'), format, page_count, title, title_sort, sort_key, search_key,
        name_key, number, number_sort, volume, chapter, series_named, year, month, day, language,
        coalesce(authors, '[]'), summary, publisher, imprint, coalesce(genres, '{}'),
        coalesce(tags, '{}'), isbn, age_rating, reading_direction, coalesce(more, '{}'),
        coalesce(provenance, '{}'), coalesce(warnings, '{}'), error_code, error_message, scan_id
      from given
      on conflict (id) do update
      set library_id = excluded.library_id, series_id = excluded.series_id,
        directory_id = excluded.directory_id, name = excluded.name, size = excluded.size,
        modified_ms = excluded.modified_ms, fingerprint = excluded.fingerprint,
        format = excluded.format, page_count = excluded.page_count, name_key = excluded.name_key,
        series_named = excluded.series_named, more = excluded.more, warnings = excluded.warnings,
        error_code = excluded.error_code, error_message = excluded.error_message,
        scan_id = excluded.scan_id, missing_at = null, updated_at = now(),
        cover = case when b.fingerprint = excluded.fingerprint and b.size = excluded.size
          then b.cover end,
        cover_error = null,
        sha256 = case when b.fingerprint = excluded.fingerprint and b.size = excluded.size
          then b.sha256 end,
        provenance = excluded.provenance || coalesce((
          select jsonb_object_agg(key, value) from jsonb_each(b.provenance)
          where key = any(b.locks) or value = '"user"'), '{}'),
        ${mergedColumns(tx)}
    )
    insert into page_list (book_id, pages)
    select id, decode(pages, 'base64') from given where pages is not null
    on conflict (book_id) do update set pages = excluded.pages`
}

/** `title = case when … then b.title else excluded.title end` for each lockable column and what hangs on it. */
function mergedColumns(tx: TransactionSql) {
  const pairs = [...lockable.map(c => [c, c] as const), ...Object.entries(derived)]
  return pairs
    .map(([column, owner]) => {
      const c = tx(column)
      return tx`${c} = case
        when ${owner} = any(b.locks) or (b.provenance->>${owner} = 'user' and excluded.${tx(owner)} is null)
        then b.${c} else excluded.${c} end`
    })
    .reduce((all, one) => tx`${all}, ${one}`)
}

function row(m: Match, scan: ScanContext, seriesId: string) {
  const own = JSON.stringify({
    id: m.bookId,
    library_id: scan.libraryId,
    series_id: seriesId,
    directory_id: m.found.directoryId,
    place: m.found.name,
    size: m.found.size,
    modified_ms: m.found.modifiedMs,
    scan_id: scan.scanId,
    fingerprint: m.reading.fingerprint,
    format: m.reading.format,
    page_count: m.reading.pageCount,
    pages: m.reading.pages,
    warnings: m.reading.warnings,
    error_code: m.reading.error?.code ?? null,
    error_message: m.reading.error?.message ?? null,
  })
  return `${own.slice(0, -1)},${m.reading.columns.slice(1)}`
}
