// Titles, paths and summaries of the books of a table, for conditions on them: the first two in memory, summaries in a
// file. Read in the background, and dropped with the table.
import type { Sql } from 'postgres'
import { presentBook } from '../../../../auth/viewer.ts'
import { searchKey } from '../../../../name/text.ts'
import { poolOf } from '../../../../postgres/cancellable.ts'
import { noteFailedReading } from '../../background-failures.ts'
import { createBackgroundQueue } from '../../background-queue.ts'
import type { Predicate } from '../../condition.ts'
import { add, type Bitmap, emptyBitmap } from '../bitmap.ts'
import { forEachPlace } from '../id-table.ts'
import type { BookTable } from './book-table.ts'
import {
  createTextColumn,
  forEachMatch,
  type TextColumn,
  type TextOperator,
} from './text-column.ts'
import { createTextFile } from './text-file.ts'

const fields = ['title', 'path', 'summary'] as const
type Field = (typeof fields)[number]
type TextSearch = { field: Field; operator: TextOperator; value: string }
/** Of the books below `rowCount`. `folders` of paths, each with the entries of its books from `first` on. */
type Texts = TextColumn & { folders: { path: string; first: number }[]; rowCount: number }

const cursorRows = 500
const maxBytes = 64 * 1024 ** 2
const maxFileBytes = 512 * 1024 ** 2
/** By `RowTable.origin`. Null for texts that are being read, or are not to be read. */
const textsOf = new WeakMap<object, Map<Field, Texts | null>>()
const what = 'book index'
const queue = createBackgroundQueue(what)

/** What a predicate searches for; null for one that is not on these texts. */
export function textSearchOf({ field, test }: Predicate): TextSearch | null {
  if (test.kind !== 'text') return null
  const { operator } = test
  if (field === 'path') return { field, operator, value: test.value.toLowerCase() }
  // Whole summaries are compared as the database folds them.
  const isText = field === 'title' || (field === 'summary' && operator !== 'equals')
  return isText ? { field, operator, value: searchKey(test.value) } : null
}

/** Present books, of those below `rowCount`. */
export type FoundBooks = { bitmap: Bitmap; rowCount: number }

/** Null unless the texts have been read. */
export async function booksOfText(
  sql: Sql,
  table: BookTable,
  search: TextSearch,
): Promise<FoundBooks | null> {
  const texts = textsOf.get(table.origin)?.get(search.field)
  if (!texts) return null
  const bitmap = emptyBitmap(table.rowCount)
  const visit = (book: number) => add(bitmap, book)
  try {
    if (search.field === 'path') await forEachPath(texts, search, visit)
    else await forEachMatch(texts, { ...search, value: Buffer.from(search.value) }, visit)
  } catch (error) {
    // The disk of the file failed.
    textsOf.get(table.origin)?.delete(search.field)
    noteFailedReading(poolOf(sql), what, error)
    return null
  }
  return { bitmap, rowCount: texts.rowCount }
}

/** More books that changed since texts were read take longer than reading them. */
export const maxBehind = 10_000

/** All that predicates search, unless it is in memory. */
export async function readTextsAhead(sql: Sql, table: BookTable): Promise<void> {
  for (const field of fields) readTextsLater(sql, table, field)
  await textsRead()
}

/** What predicates on a field search, unless it is in memory: one after another. */
export function readTextsLater(sql: Sql, table: BookTable, field: Field): void {
  const texts = textsOf.get(table.origin) ?? new Map<Field, Texts | null>()
  textsOf.set(table.origin, texts)
  const known = texts.get(field)
  if (known === null || (known && table.rowCount - known.rowCount <= maxBehind)) return
  texts.set(field, null)
  const pool = poolOf(sql)
  void queue.add(pool, async () => {
    try {
      const read = field === 'summary' ? readSummaries : readNames
      texts.set(field, await read(pool, table, field))
    } catch (error) {
      texts.delete(field)
      throw error
    }
  })
}

/** Resolves when no texts are being read. */
export const textsRead = (): Promise<void> => queue.idle()

type Row = { path: Buffer | null; ids: Buffer; lengths: Buffer } & {
  texts: string | Buffer
}

/** Null for more text than is stored. Books that change meanwhile get other numbers. */
async function readNames(sql: Sql, table: BookTable, field: Field): Promise<Texts | null> {
  const column = createTextColumn(table.rowCount)
  const folders: Texts['folders'] = []
  const common = sql`string_agg(uuid_send(b.id), ''::bytea) as ids`
  const rows =
    field === 'title'
      ? sql<Row[]>`
          select ${common}, null::bytea as path, string_agg(b.search_key, '') as texts,
            string_agg(int4send(octet_length(b.search_key)), ''::bytea) as lengths
          from book b where ${presentBook(sql)} group by b.series_id`
      : sql<Row[]>`
          select ${common}, (select d.path from directory d where d.id = b.directory_id) as path,
            string_agg(b.name, ''::bytea) as texts,
            string_agg(int4send(octet_length(b.name)), ''::bytea) as lengths
          from book b where ${presentBook(sql)} group by b.directory_id`
  let [first, bytes] = [0, 0]
  for await (const some of rows.cursor(cursorRows))
    for (const { path, ids, lengths, texts } of some) {
      const text = typeof texts === 'string' ? Buffer.from(texts) : lowerAscii(texts)
      bytes += text.length
      if (bytes > maxBytes) return null
      if (path) folders.push({ path: folderOf(path), first })
      let start = 0
      await forEachPlace(table.rows, ids, (book, i) => {
        const end = start + lengths.readInt32BE(i * 4)
        column.add(text.subarray(start, end), book)
        start = end
        first++
      })
    }
  return { ...column.finish(), folders, rowCount: table.rowCount }
}

/** Null for more text than is stored, and without a folder for it. */
async function readSummaries(sql: Sql, table: BookTable): Promise<Texts | null> {
  const file = await createTextFile(sql)
  if (!file) return null
  const column = createTextColumn(table.rowCount, file)
  const rows = sql<{ id: Buffer; key: string }[]>`
    select uuid_send(t.book_id) as id, t.key from book_summary t where t.is_present`
  let bytes = 0
  for await (const some of rows.cursor(cursorRows)) {
    const ids = Buffer.concat(some.map(({ id }) => id))
    await forEachPlace(table.rows, ids, (book, i) => {
      const text = Buffer.from(some[i]!.key)
      bytes += text.length
      column.add(text, book)
    })
    if (bytes > maxFileBytes) return null
    await file.flush()
  }
  return { ...column.finish(), folders: [], rowCount: table.rowCount }
}

/** As paths are compared: letters beyond ASCII with case, because paths are bytes. */
function lowerAscii(bytes: Buffer): Buffer {
  for (let i = 0; i < bytes.length; i++)
    if (bytes[i]! >= 0x41 && bytes[i]! <= 0x5a) bytes[i]! += 0x20
  return bytes
}

const folderOf = (path: Buffer) =>
  path.length === 0 ? '' : `${lowerAscii(path).toString('latin1')}/`

/** As `pathRows` finds them: names have no slash, so that a value ends within the name after its last slash. */
async function forEachPath(
  texts: Texts,
  { operator, value }: TextSearch,
  visit: (book: number) => void,
): Promise<void> {
  const bytes = Buffer.from(value).toString('latin1')
  const at = bytes.lastIndexOf('/') + 1
  const [start, rest] = [bytes.slice(0, at), Buffer.from(bytes.slice(at), 'latin1')]
  const isStart = (path: string) => path === start
  const isEnd = (path: string) => path.endsWith(start)
  const parts: Record<TextOperator, PathParts> = {
    equals: { folder: isStart, name: 'equals' },
    contains: {
      ...{ folder: isEnd, name: at > 0 ? 'beginsWith' : 'contains' },
      whole: path => path.includes(bytes),
    },
    beginsWith: { folder: isStart, name: 'beginsWith', whole: path => path.startsWith(bytes) },
    endsWith: { folder: isEnd, name: at > 0 ? 'equals' : 'endsWith' },
  }
  const { folder, name, whole } = parts[operator]
  const search = { operator: name, value: rest }
  const { folders, books } = texts
  // Without a slash most values may be in any name: one pass of them all.
  const isAnywhere = at === 0 && folder === isEnd
  if (isAnywhere) await forEachMatch(texts, search, visit)
  for (const [i, { path, first }] of folders.entries()) {
    const end = folders[i + 1]?.first ?? books.length
    if (whole?.(path)) for (let entry = first; entry < end; entry++) visit(books[entry]!)
    else if (!isAnywhere && folder(path)) await forEachMatch(texts, search, visit, { first, end })
  }
}

type PathParts = {
  folder: (path: string) => boolean
  name: TextOperator
  /** All books of the folder. */
  whole?: (path: string) => boolean
}
