// Figures of a scan (columns of table scan) and, for a scan that is being followed, one record per book.

import { joinPath, pathText } from '../../lib/base/path.ts'
import { publishScan } from '../../lib/catalog/scan/scan-events.ts'
import type { Queryable, Transaction } from '../../lib/store/postgres/db.ts'
import { commaList } from '../../lib/store/postgres/statement.ts'

const counters = [
  'added',
  'changed',
  'moved',
  'restored',
  'unchanged',
  'missing',
  'warnings',
  'series_added',
  'to_cover',
  'to_hash',
  'bytes_read',
  'opens',
] as const
/** `failed`: files by error code. */
type ScanFigures = Record<(typeof counters)[number], number> & { failed: Record<string, number> }

/**
 * Adds the figures of a batch. Must be the last statement of its transaction, because all batches of a scan
 * update this row.
 */
export async function addScanFigures(tx: Transaction, scanId: string, f: ScanFigures) {
  const additions = counters.map(name => tx`${tx(name)} = ${tx(name)} + ${f[name]}`)
  await tx`
    update scan
    set ${commaList(tx, additions)},
      failed = failed || coalesce((
        select jsonb_object_agg(key, coalesce((failed->>key)::integer, 0) + value::integer)
        from jsonb_each_text(${tx.json(f.failed)})), '{}')
    where id = ${scanId}`
}

/** Adds covers and hashes to the scan they count toward and publishes it; always publishes the last ones. */
export async function addFollowUpFigures(
  tx: Transaction,
  scanId: string,
  f: { covers: number; hashed: number; bytesRead: number; opens: number },
) {
  const [reached] = await tx<{ covers: boolean; hashes: boolean }[]>`
    update scan
    set covers = covers + ${f.covers}, hashed = hashed + ${f.hashed},
      first_cover_at = case when ${f.covers} > 0 then coalesce(first_cover_at, now()) else first_cover_at end,
      last_cover_at = case when ${f.covers} > 0 then clock_timestamp() else last_cover_at end,
      first_hash_at = case when ${f.hashed} > 0 then coalesce(first_hash_at, now()) else first_hash_at end,
      last_hash_at = case when ${f.hashed} > 0 then clock_timestamp() else last_hash_at end,
      bytes_read = bytes_read + ${f.bytesRead}, opens = opens + ${f.opens}
    where id = ${scanId}
    returning covers >= to_cover and covers - ${f.covers} < to_cover as covers,
      hashed >= to_hash and hashed - ${f.hashed} < to_hash as hashes`
  const isLast = reached !== undefined && (reached.covers || reached.hashes)
  await publishScan(tx, scanId, { force: isLast, isFollowUp: true })
}

/** One line of `scan --ndjson`. `path` is relative to the library root. */
export type ScanRecord = {
  path: string
  id: string
  outcome: string
  error: { code: string; message: string } | null
  warnings: string[]
  format: string | null
  pages: number | null
  title: string | null
  series: string | null
  number: string | null
  volume: number | null
  chapter: number | null
  year: number | null
  language: string | null
  author: string | null
  bytes: number
  sha256: string | null
  firstPageSha256?: string | null
}

export async function insertRecords(tx: Transaction, scanId: string, records: object[]) {
  if (records.length === 0) return
  await tx`
    insert into scan_record (scan_id, record)
    select ${scanId}, value from jsonb_array_elements(${tx.json(records as never)})`
}

/** Inserts records built from the book rows, with one outcome for all or one for each. */
export async function recordBooks(
  tx: Transaction,
  scanId: string,
  ids: string[],
  outcome: string | Map<string, string>,
) {
  const rows = await tx<BookRow[]>`${selectBooks(tx)} where b.id = any(${ids})`
  const records = rows.map(row =>
    toRecord(row, typeof outcome === 'string' ? outcome : outcome.get(row.id)!),
  )
  await insertRecords(tx, scanId, records)
}

export type BookRow = Omit<ScanRecord, 'path' | 'outcome' | 'error'> & {
  folder: Uint8Array
  name: Uint8Array
  error_code: string | null
  error_message: string | null
}

export function selectBooks(sql: Queryable) {
  return sql`
    select b.id, d.path as folder, b.name, b.error_code, b.error_message, b.warnings, b.format,
      b.page_count as pages, b.title, coalesce(b.embedded_series, s.name) as series, b.number, b.volume,
      b.chapter, b.year, b.language, b.authors->0->>'name' as author, b.size::float8 as bytes,
      encode(a.sha256, 'hex') as sha256
    from book b
    join book_artifact a on a.book_id = b.id
    join directory d on d.id = b.directory_id
    join series s on s.id = b.series_id`
}

export function toRecord(
  { folder, name, error_code, error_message, ...row }: BookRow,
  outcome: string,
): ScanRecord {
  return {
    path: pathText(joinPath(folder, name)),
    ...row,
    outcome,
    error: error_code ? { code: error_code, message: error_message ?? '' } : null,
  }
}
