// Reading of the texts of all books of a segment from the database, in the background.
import type { Sql } from 'postgres'
import { presentBook } from '../../../accounts/viewer.ts'
import { unprepared } from '../../../store/postgres/statement.ts'
import { forEachOrdinal, idBytes } from '../id-table.ts'
import type { Environment } from '../index-schema.ts'
import type { TemporaryFile } from '../temporary-file.ts'
import type { BookSegment } from './book-segment.ts'
import { createTextColumn, type TextField, type TextStore, type Texts } from './text-column.ts'

const cursorRows = 500
const chunkRows = 1_000
const maxBytes = 64 * 1024 ** 2
const maxFileBytes = 512 * 1024 ** 2

/** Null for more text than is stored. Books that change meanwhile get other numbers. */
export function readTexts(
  environment: Environment,
  segment: BookSegment,
  field: TextField,
): Promise<Texts | null | 'no space'> {
  return field === 'title' || field === 'path'
    ? readNames(environment.pool, segment, field)
    : readLongTexts(environment, segment, field)
}

type Row = { path: Buffer | null; ids: Buffer; lengths: Buffer } & {
  texts: string | Buffer
}

async function readNames(
  sql: Sql,
  segment: BookSegment,
  field: 'title' | 'path',
): Promise<Texts | null> {
  const column = createTextColumn(segment.maxDoc)
  const paths = field === 'path' ? createTextColumn(segment.maxDoc) : null
  const firsts: number[] = []
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
      const starts = startsOf(lengths)
      const before = first
      await forEachOrdinal(segment.ids, ids, (book, i) => {
        column.add(text.subarray(starts[i]!, starts[i + 1]!), book)
        first++
      })
      // Others have no books in the segment.
      if (path && first > before) paths?.add(folderOf(path), firsts.push(before) - 1)
    }
  firsts.push(first)
  const texts = { ...column.finish(), maxDoc: segment.maxDoc }
  return paths
    ? { ...texts, folders: { paths: paths.finish(), firsts: Uint32Array.from(firsts) } }
    : texts
}

async function readLongTexts(
  { pool, createFile }: Environment,
  segment: BookSegment,
  field: 'summary' | 'search',
): Promise<Texts | null | 'no space'> {
  const file = await createTextFile(createFile)
  if (!file) return 'no space'
  const column = createTextColumn(segment.maxDoc, file)
  let bytes = 0
  let isWhole = false
  try {
    for await (const { ids, lengths, texts } of chunksOf(pool, field)) {
      const text = Buffer.from(texts)
      bytes += text.length
      if (bytes > maxFileBytes) return null
      if (!file.hasSpace()) return 'no space'
      const starts = startsOf(lengths)
      await forEachOrdinal(segment.ids, ids, (book, i) =>
        column.add(text.subarray(starts[i]!, starts[i + 1]!), book),
      )
      await file.flush()
    }
    isWhole = true
    return { ...column.finish(), maxDoc: segment.maxDoc }
  } finally {
    if (!isWhole) await file.discard()
  }
}

type Chunk = Pick<Row, 'ids' | 'lengths'> & { texts: string }

/** All texts in the order of the books. */
async function* chunksOf(sql: Sql, field: 'summary' | 'search'): AsyncGenerator<Chunk> {
  const rows =
    field === 'summary'
      ? sql`select t.book_id, t.key as text from book_summary t where t.is_present`
      : sql`select t.book_id, t.text from book_search t where true`
  let last = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const [chunk] = await unprepared(sql<(Chunk | { ids: null })[]>`
      select string_agg(uuid_send(t.book_id), ''::bytea) as ids, string_agg(t.text, '') as texts,
        string_agg(int4send(octet_length(t.text)), ''::bytea) as lengths
      from (${rows} and t.book_id > ${last} order by t.book_id limit ${chunkRows}) t`)
    if (!chunk?.ids) return
    yield chunk
    last = chunk.ids.toString('hex', chunk.ids.length - idBytes)
  }
}

/** Where each of the texts begins, and the end of the last. */
function startsOf(lengths: Buffer): number[] {
  const starts = [0]
  for (let i = 0; i < lengths.length; i += 4) starts.push(starts.at(-1)! + lengths.readInt32BE(i))
  return starts
}

/** As paths are compared: letters beyond ASCII with case, because paths are bytes. */
function lowerAscii(bytes: Buffer): Buffer {
  for (let i = 0; i < bytes.length; i++)
    if (bytes[i]! >= 0x41 && bytes[i]! <= 0x5a) bytes[i]! += 0x20
  return bytes
}

const folderOf = (path: Buffer) =>
  path.length === 0 ? path : Buffer.concat([lowerAscii(path), Buffer.from('/')])

/** Texts that are too long for memory, in a temporary file. */
type TextFile = TextStore &
  Pick<TemporaryFile, 'hasSpace' | 'discard'> & {
    /** Writes what was appended. Throws errno errors. */
    flush(): Promise<void>
  }

/** Null without space. */
export async function createTextFile(
  createFile: () => Promise<TemporaryFile | null>,
): Promise<TextFile | null> {
  const file = await createFile()
  if (!file) return null
  let texts: Uint8Array[] = []
  return {
    append: text => void texts.push(text),
    async flush() {
      const bytes = Buffer.concat(texts)
      texts = []
      await file.append(bytes)
    },
    hasSpace: file.hasSpace,
    discard: file.discard,
    finish: () => file,
  }
}
