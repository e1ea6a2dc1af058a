// Where the files of books lie, as the catalogue last saw them, for those who may see the books.
import type { Fragment, Sql, TransactionSql } from 'postgres'
import { seesBook, type Viewer } from '../../auth/viewer.ts'
import { NotFound, type UnreadableCode } from '../../errors.ts'
import type { FormatName } from '../../format/contract.ts'
import { joinPath, pathText } from '../../path.ts'

type Db = Sql | TransactionSql

/** `path` and `root` are absolute bytes; `name` is the file's name for people; sizes are bytes, times ms since 1970. */
export type BookFile = {
  id: string
  root: Buffer
  path: Buffer
  name: string
  size: number
  modifiedMs: number
  /** Null when the file could not be told or read. */
  format: FormatName | null
  pageCount: number
  isMissing: boolean
  /** Why the file could not be read. */
  errorCode: UnreadableCode | null
  errorMessage: string | null
}

type Row = Omit<BookFile, 'path' | 'name'> & { folder: Uint8Array; file: Uint8Array }

/** The file of a book, also of one that is missing on disk. Throws NotFound for a book that is not there or is hidden. */
export async function bookFile(sql: Db, viewer: Viewer, id: string): Promise<BookFile> {
  const [row] = await sql<Row[]>`${files(sql, viewer)} and b.id = ${id}`
  if (!row) throw new NotFound('Book not found')
  return placed(row)
}

export type StreamedBook = BookFile & {
  /** See `book.page_type`. */
  pageType: 'image/jpeg' | 'image/png' | 'image/gif' | null
  /** Whether the viewer wants streamed pages to move their place. */
  movesPlace: boolean
}

/** The same for who streams its pages. Throws NotFound. */
export async function streamedBook(sql: Db, viewer: Viewer, id: string): Promise<StreamedBook> {
  const more = sql`, b.page_type as "pageType", exists (
      select from preference p
      where p.account_id = ${viewer.accountId} and p.key = 'opds.stream_progress'
        and p.value = 'true') as "movesPlace"`
  const [row] = await sql<(Row & Pick<StreamedBook, 'pageType' | 'movesPlace'>)[]>`
    ${files(sql, viewer, more)} and b.id = ${id}`
  if (!row) throw new NotFound('Book not found')
  const { pageType, movesPlace, ...file } = row
  return { ...placed(file), pageType, movesPlace }
}

/** The files of the books of a series that the viewer sees and that are present, in reading order. */
export async function seriesFiles(sql: Db, viewer: Viewer, seriesId: string): Promise<BookFile[]> {
  const rows = await sql<Row[]>`
    ${files(sql, viewer)} and b.series_id = ${seriesId} and b.missing_at is null
    order by b.number_sort nulls last, b.name_key, b.id`
  return rows.map(placed)
}

function files(sql: Db, viewer: Viewer, more: Fragment = sql``): Fragment {
  return sql`
    select b.id, l.root, d.path as folder, b.name as file, b.size::float8 as size,
      b.modified_ms::float8 as "modifiedMs", b.format, b.page_count as "pageCount",
      b.missing_at is not null as "isMissing", b.error_code as "errorCode",
      b.error_message as "errorMessage"${more}
    from book b
    join series s on s.id = b.series_id
    join directory d on d.id = b.directory_id
    join library l on l.id = b.library_id
    where ${seesBook(sql, viewer)}`
}

function placed({ folder, file, ...row }: Row): BookFile {
  const path = joinPath(row.root, joinPath(folder, file))
  return { ...row, path, name: pathText(file) }
}

/** The packed page list of a book (`unpackPages` reads it); null when its pages are not known. */
export async function packedPages(sql: Db, id: string): Promise<Uint8Array | null> {
  const [row] = await sql<
    { pages: Uint8Array }[]
  >`select pages from page_list where book_id = ${id}`
  return row?.pages ?? null
}
