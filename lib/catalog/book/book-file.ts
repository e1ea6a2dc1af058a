// Location and properties of book files, as recorded by the last scan, for viewers who may see the books.
import type { Fragment } from 'postgres'
import { presentBook, type Viewer, visibleBook } from '../../accounts/viewer.ts'
import type { UnreadableCode } from '../../base/errors.ts'
import { joinPath, pathText } from '../../base/path.ts'
import type { FormatName } from '../../media/format/formats.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import { isOneOf } from '../../store/postgres/ids.ts'
import { streamProgressKey } from '../../store/setting/preference.ts'
import { readingOrder } from '../derived/reading-order.ts'
import { found } from '../owner.ts'

/** `path` and `root` are absolute paths as bytes; `name` is the file name for display; sizes are in bytes, times in ms since 1970. */
export type BookFile = {
  id: string
  root: Buffer
  path: Buffer
  /** Whether the library permits files that are links (lib/base/containment.ts). */
  followLinks: boolean
  name: string
  size: number
  modifiedMs: number
  /** Null if the format is unknown or the file is unreadable. */
  format: FormatName | null
  pageCount: number
  isMissing: boolean
  /** Why the file is unreadable. */
  errorCode: UnreadableCode | null
  errorMessage: string | null
}

type Row = Omit<BookFile, 'path' | 'name'> & { folder: Uint8Array; file: Uint8Array }

/** The file of a book, which may be missing on disk. Throws NotFound for an unknown or hidden book. */
export async function bookFile(sql: Queryable, viewer: Viewer, id: string): Promise<BookFile> {
  const [row] = await sql<Row[]>`${selectFiles(sql, viewer)} and b.id = ${id}`
  return toBookFile(found('book', row))
}

export type OpenBook = BookFile & {
  /** The packed page list (see `unpackPages`); null if the book has none. */
  pages: Uint8Array | null
  /** See `book.page_type`. */
  pageType: 'image/jpeg' | 'image/png' | 'image/gif' | null
  /** Whether the viewer wants streamed pages to save progress. */
  updatesProgress: boolean
}

/** The files of these books with everything their pages need, by id; hidden books are left out. */
export async function readOpenBooks(
  sql: Queryable,
  viewer: Viewer,
  ids: string[],
): Promise<Map<string, OpenBook>> {
  const columns = sql`, b.page_type as "pageType",
    (select p.pages from book_pages p where p.book_id = b.id) as pages, exists (
      select from preference p
      where p.account_id = ${viewer.accountId} and p.key = ${streamProgressKey}
        and p.value = 'true') as "updatesProgress"`
  const rows = await sql<(Row & Omit<OpenBook, keyof BookFile>)[]>`
    ${selectFiles(sql, viewer, columns)} and ${isOneOf(sql, sql`b.id`, ids)}`
  return new Map(
    rows.map(({ pages, pageType, updatesProgress, ...file }) => [
      file.id,
      { ...toBookFile(file), pages, pageType, updatesProgress },
    ]),
  )
}

/** The files of the visible, present books of a series, in reading order. */
export async function seriesFiles(sql: Queryable, viewer: Viewer, seriesId: string) {
  const rows = await sql<Row[]>`
    ${selectFiles(sql, viewer)} and b.series_id = ${seriesId} and ${presentBook(sql)}
    order by ${readingOrder(sql, 'b')}`
  return rows.map(toBookFile)
}

/** The files of these books, in this order; hidden and missing ones are left out. */
export async function filesOf(sql: Queryable, viewer: Viewer, ids: readonly string[]) {
  const rows = await sql<Row[]>`
    ${selectFiles(sql, viewer)} and b.id = any(${ids as string[]}::uuid[]) and ${presentBook(sql)}
    order by array_position(${ids as string[]}::uuid[], b.id)`
  return rows.map(toBookFile)
}

function selectFiles(sql: Queryable, viewer: Viewer, columns: Fragment = sql``): Fragment {
  return sql`
    select b.id, l.root, l.follow_links as "followLinks", d.path as folder, b.name as file, b.size::float8 as size,
      b.modified_ms::float8 as "modifiedMs", b.format, b.page_count as "pageCount",
      b.missing_at is not null as "isMissing", b.error_code as "errorCode",
      b.error_message as "errorMessage"${columns}
    from book b
    join series s on s.id = b.series_id
    join directory d on d.id = b.directory_id
    join library l on l.id = b.library_id
    where ${visibleBook(sql, viewer)}`
}

function toBookFile({ folder, file, ...row }: Row): BookFile {
  const path = joinPath(row.root, joinPath(folder, file))
  return { ...row, path, name: pathText(file) }
}

/** The packed page list of a book (see `unpackPages`); null if the book has none. */
export async function packedPages(sql: Queryable, id: string): Promise<Uint8Array | null> {
  const [row] = await sql<
    { pages: Uint8Array }[]
  >`select pages from book_pages where book_id = ${id}`
  return row?.pages ?? null
}
