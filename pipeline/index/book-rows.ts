// The book rows of a batch: one statement inserts new books and updates known ones, with their pages
// and what searches read of them.
import type { TransactionSql } from 'postgres'
import { writeBookSearch } from '../../lib/catalog/search/search-rows.ts'
import type { ScanContext } from '../scan/scan-context.ts'
import type { Match } from './match.ts'

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
const derived = { search_key: 'title', number_sort: 'number' } as const

type Written = {
  matches: Match[]
  seriesOf: (m: Match) => string
  /** Books whose files are as they were, and may say something else nevertheless. */
  again: string[]
}

/**
 * Rows for readings with facts; what a user locked or set is kept. Answers those of `again` that say
 * something else now.
 */
export async function writeBooks(
  tx: TransactionSql,
  scan: ScanContext,
  { matches, seriesOf, again }: Written,
): Promise<string[]> {
  if (matches.length === 0) return []
  const rows = matches.map(m => row(m, scan, seriesOf(m)))
  const told = await tx<{ id: string; isEdited: boolean; isAltered: boolean }[]>`
    with given as materialized (
      select *
      from json_to_recordset(${`[${rows.join(',')}]`}::text::json) as g(
        id uuid, library_id uuid, series_id uuid, directory_id uuid, place text, size bigint,
        modified_ms bigint, fingerprint text, format text, page_count integer, title text,
        title_sort text, sort_key text, search_key text, name_key text, number text,
        number_sort double precision, volume double precision, chapter double precision,
        series_named text, year integer, month smallint, day smallint, language text, authors jsonb,
        summary text, publisher text, imprint text, genres text[], tags text[], isbn text,
        age_rating integer, reading_direction text, more jsonb, provenance jsonb, warnings text[], page_type text,
        error_code text, error_message text, scan_id uuid, pages text, search_text text)
    ), written as (
      insert into book as b (id, library_id, series_id, directory_id, name, size, modified_ms,
        fingerprint, format, page_count, title, title_sort, sort_key, search_key, name_key, number,
        number_sort, volume, chapter, series_named, year, month, day, language, authors, summary,
        publisher, imprint, genres, tags, isbn, age_rating, reading_direction, more, provenance,
        warnings, page_type, error_code, error_message, scan_id)
      select id, library_id, series_id, directory_id, decode(place, 'hex'), size, modified_ms,
        decode(fingerprint, 'hex'), format, page_count, title, title_sort, sort_key, search_key,
        name_key, number, number_sort, volume, chapter, series_named, year, month, day, language,
        coalesce(authors, '[]'), summary, publisher, imprint, coalesce(genres, '{}'),
        coalesce(tags, '{}'), isbn, age_rating, reading_direction, coalesce(more, '{}'),
        coalesce(provenance, '{}'), coalesce(warnings, '{}'), page_type, error_code, error_message, scan_id
      from given
      on conflict (id) do update
      set library_id = excluded.library_id, series_id = excluded.series_id,
        directory_id = excluded.directory_id, name = excluded.name, size = excluded.size,
        modified_ms = excluded.modified_ms, fingerprint = excluded.fingerprint,
        format = excluded.format, page_count = excluded.page_count, name_key = excluded.name_key,
        series_named = excluded.series_named, more = ${mergedMore(tx)}, warnings = excluded.warnings,
        page_type = excluded.page_type, error_code = excluded.error_code, error_message = excluded.error_message,
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
      returning id, series_id, sort_key,
        locks <> '{}' or jsonb_path_exists(provenance, '$.* ? (@ == "user")') as is_edited,
        case when id = any(${again}::uuid[]) then ${said(tx, 'b')} end as said
    ), paged as (
      insert into page_list (book_id, pages)
      select id, decode(pages, 'base64') from given where pages is not null
      on conflict (book_id) do update set pages = excluded.pages
    ), searched as (
      insert into book_search as t (book_id, series_id, is_present, sort_key, text)
      select w.id, w.series_id, true, w.sort_key, g.search_text
      from written w
      join given g on g.id = w.id
      on conflict (book_id) do update
      set series_id = excluded.series_id, is_present = true, sort_key = excluded.sort_key,
        text = excluded.text
      where (t.series_id, t.is_present, t.sort_key, t.text)
        is distinct from (excluded.series_id, true, excluded.sort_key, excluded.text)
    )
    select * from (
      select w.id,
        (w.is_edited or split_part(t.text, chr(10), 1) <> split_part(g.search_text, chr(10), 2))
          is true as "isEdited",
        w.said is not null and exists (
          select from book o where o.id = w.id and ${said(tx, 'o')} <> w.said) as "isAltered"
      from written w
      join given g on g.id = w.id
      left join series_search t on t.series_id = w.series_id) w
    where "isEdited" or "isAltered"`
  // Their rows hold other values than their files, or their series has another title than its folder.
  await writeBookSearch(
    tx,
    told.filter(book => book.isEdited).map(book => book.id),
  )
  return told.filter(book => book.isAltered).map(book => book.id)
}

// What a reading writes in any case says nothing of whether the book is another to those who look at
// it; the order in an unnumbered series comes back when the scan ends.
const unsaid = [
  'updated_at',
  'number_sort',
  'modified_ms',
  'scan_id',
  'provenance',
  'warnings',
  'cover',
  'cover_error',
  'sha256',
]

function said(tx: TransactionSql, row: string) {
  return tx`to_jsonb(${tx(row)}) - ${unsaid}::text[]`
}

/** `title = case when … then b.title else excluded.title end` for each lockable column and what hangs on it. */
function mergedColumns(tx: TransactionSql) {
  const pairs = [...lockable.map(c => [c, c] as const), ...Object.entries(derived)]
  const columns = pairs.map(([column, owner]) => {
    const c = tx(column)
    return tx`${c} = case when ${stays(tx, owner)} then b.${c} else excluded.${c} end`
  })
  // It follows from the title that is for sorting, and where there is none from the other.
  const sortKey = tx`sort_key = case
    when ${stays(tx, 'title_sort')} and b.title_sort is not null then b.sort_key
    when not ${stays(tx, 'title_sort')} and excluded.title_sort is not null then excluded.sort_key
    when ${stays(tx, 'title')} then b.sort_key else excluded.sort_key end`
  return [...columns, sortKey].reduce((all, one) => tx`${all}, ${one}`)
}

function stays(tx: TransactionSql, column: string) {
  return tx`(${column} = any(b.locks)
    or coalesce(b.provenance->>${column} = 'user' and excluded.${tx(column)} is null, false))`
}

/** The same for the members of `more`, which are locked by the names that columns would have. */
function mergedMore(tx: TransactionSql) {
  const stays = tx`(m.column = any(b.locks)
    or coalesce(b.provenance->>m.column = 'user', false) and not excluded.more ? m.key)`
  return tx`case
    when b.locks = '{}' and not jsonb_path_exists(b.provenance, '$.* ? (@ == "user")')
    then excluded.more
    else coalesce((
      select jsonb_object_agg(m.key, m.value)
      from (
        select key, value, true as is_old from jsonb_each(b.more)
        union all
        select key, value, false from jsonb_each(excluded.more)
      ) e
      cross join lateral (
        select e.key, e.value, lower(regexp_replace(e.key, '([A-Z])', '_\\1', 'g')) as column) m
      where e.is_old = ${stays}), '{}') end`
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
    page_type: m.reading.pageType,
    error_code: m.reading.error?.code ?? null,
    error_message: m.reading.error?.message ?? null,
  })
  return `${own.slice(0, -1)},${m.reading.columns.slice(1)}`
}
