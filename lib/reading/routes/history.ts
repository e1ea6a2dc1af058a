// The caller's read history: completed passes through books and series, with export and erasure of everything.
import { Readable } from 'node:stream'
import { recordsReading } from '../../accounts/permission.ts'
import { type Viewer, visibleBook } from '../../accounts/viewer.ts'
import {
  bytes,
  component,
  count,
  list,
  maybe,
  nullable,
  oneOf,
  record,
  type Static,
  Type,
  timestamp,
  uuid,
} from '../../base/schema.ts'
import { bodyFor } from '../../http/exchange.ts'
import { BookId, SeriesId } from '../../http/params.ts'
import { respond, route } from '../../http/route.ts'
import type { Sql } from '../../store/postgres/db.ts'
import { allAnnotations } from '../annotation/annotation.ts'
import {
  bookHistory,
  eraseHistory,
  forgetBook,
  forgetSeries,
  maxEntries,
  seriesHistory,
} from '../history.ts'
import { Annotation } from './annotations.ts'

const writePermission = { any: recordsReading } as const

const ReadHistory = component('ReadHistory', {
  readCount: count({ description: 'Number of completed passes.' }),
  lastCompletedAt: nullable(timestamp()),
  entries: list(
    component('ReadHistoryEntry', {
      id: nullable(uuid({ description: 'Id of a pass through a book; null for a series.' })),
      startedAt: timestamp(),
      completedAt: timestamp(),
    }),
    { description: `Newest first, up to ${maxEntries}.` },
  ),
})

const optional = (description: string) => nullable(Type.String({ description }))
const amount = (description: string) => nullable(count({ description }))

const ExportedEntry = component('ReadingExportEntry', {
  ...{ id: uuid(), bookId: uuid() },
  seriesTitle: optional('Null if the book is hidden or deleted.'),
  bookTitle: optional('Null if the book is hidden or deleted.'),
  kind: oneOf(['progress', 'completed', 'read', 'reset', 'pass']),
  surface: optional('What recorded the entry.'),
  deviceId: optional('Id of the device.'),
  deviceName: optional('Name of the device, if the client sent one.'),
  ...{ startedAt: timestamp(), endedAt: timestamp() },
  measuredMs: amount('Time measured by the client.'),
  inferredMs: amount('Time inferred from the positions.'),
  pagesRead: amount('Pages counted by the client.'),
  page: amount('Last page shown, starting at 1.'),
  percentage: nullable(Type.Number({ minimum: 0, maximum: 1 })),
})
type ExportedEntry = Static<typeof ExportedEntry>
const ReadingExport = component('ReadingExport', {
  entries: list(ExportedEntry),
  annotations: list(Annotation),
})

export const readHistory = [
  route('GET /books/{id}/read-history', {
    operationId: 'getBookReadHistory',
    permission: 'BooksRead',
    cost: 'record',
    summary: 'Get the completed passes through a book',
    params: BookId,
    responses: { 200: ReadHistory },
    handle: ({ params, viewer }, { sql }) => bookHistory(sql, viewer, params.id),
  }),
  route('GET /series/{id}/read-history', {
    operationId: 'getSeriesReadHistory',
    permission: 'SeriesRead',
    summary: 'Get the completed passes through a series',
    description: 'A series counts as read as often as its least-read book.',
    params: SeriesId,
    responses: { 200: ReadHistory },
    handle: ({ params, viewer }, { sql }) => seriesHistory(sql, viewer, params.id),
  }),
  route('DELETE /books/{id}/read-history', {
    operationId: 'deleteBookReadHistory',
    permission: writePermission,
    summary: 'Delete the completed passes through a book',
    description: 'The position and the recorded reading time are preserved.',
    params: BookId,
    responses: { 204: null },
    handle: ({ params, viewer }, { sql }) => forgetBook(sql, viewer, { bookId: params.id }),
  }),
  route('DELETE /books/{id}/read-history/{completionId}', {
    operationId: 'deleteBookReadHistoryEntry',
    permission: writePermission,
    summary: 'Delete a completed pass through a book',
    description: 'The position and the recorded reading time are preserved.',
    params: record({
      ...BookId.properties,
      completionId: uuid({ description: 'Read history entry id.' }),
    }),
    responses: { 204: null },
    handle: ({ params, viewer }, { sql }) =>
      forgetBook(sql, viewer, { bookId: params.id, passId: params.completionId }),
  }),
  route('DELETE /series/{id}/read-history', {
    operationId: 'deleteSeriesReadHistory',
    permission: writePermission,
    summary: 'Delete the completed passes through the books of a series',
    description: 'Positions and the recorded reading time are preserved.',
    params: SeriesId,
    responses: { 204: null },
    handle: ({ params, viewer }, { sql }) => forgetSeries(sql, viewer, params.id),
  }),
  route('DELETE /user/read-history', {
    operationId: 'eraseReadHistory',
    permission: writePermission,
    summary: 'Erase the reading history of the caller',
    description:
      'Erases sessions, completed passes and devices, and thus the statistics. Positions are preserved.',
    responses: { 204: null },
    handle: ({ viewer }, { sql }) => eraseHistory(sql, viewer.accountId),
  }),
  route('GET /user/reading-export', {
    operationId: 'exportReading',
    permission: 'ProgressRead',
    cost: 'record',
    summary: 'Export the reading history of the caller',
    description:
      'Sessions and marks by book and time, then completed passes (`kind` is `pass`), in JSON also the annotations. Durations are in milliseconds. Titles are null for books that are hidden or deleted. In CSV, text that a spreadsheet would treat as a formula is prefixed with an apostrophe.',
    query: record({
      format: maybe(
        oneOf(['json', 'csv'], { default: 'json', description: 'Media type of the response.' }),
      ),
    }),
    responses: { 200: { ...bytes('application/json', 'text/csv'), schema: ReadingExport } },
    handle({ query, viewer, request }, { sql }) {
      const format = query.format ?? 'json'
      const { mediaType, chunks } = formats[format]
      const stream = Readable.from(chunks(sql, viewer), { highWaterMark: 1 })
      return respond(200, bodyFor(request, stream), {
        'content-type': mediaType,
        'content-disposition': `attachment; filename="reading.${format}"`,
        'cache-control': 'no-store',
      })
    },
  }),
]

const batchSize = 1_000

/** Sittings and marks by book and time, then the completed passes, whose kind is `pass`. */
async function* exportedEntries(sql: Sql, viewer: Viewer): AsyncGenerator<ExportedEntry[]> {
  for (const source of [entries, passes]) {
    let last: ExportedEntry | null = null
    do {
      const batch: ExportedEntry[] = await source(sql, viewer, last)
      if (batch.length > 0) yield batch
      last = batch.length === batchSize ? batch.at(-1)! : null
    } while (last !== null)
  }
}

async function entries(sql: Sql, viewer: Viewer, after: ExportedEntry | null) {
  // Ledger times are whole milliseconds, so a Date is exact.
  const isLater = after
    ? sql`and (r.book_id, r.ended_at, r.id) > (${after.bookId}, ${after.endedAt}, ${after.id})`
    : sql``
  return await sql<ExportedEntry[]>`
    select r.id, r.book_id as "bookId", ${titles(sql)}, r.kind, r.surface, ${device(sql)},
      r.started_at as "startedAt", r.ended_at as "endedAt", r.measured_ms as "measuredMs",
      r.inferred_ms as "inferredMs", r.pages_read as "pagesRead", r.page, r.percentage
    from reading_session r
    ${joins(sql, viewer)}
    where r.account_id = ${viewer.accountId} and r.kind not in ('forget', 'baseline') ${isLater}
    order by r.book_id, r.ended_at, r.id
    limit ${batchSize}`
}

async function passes(sql: Sql, viewer: Viewer, after: ExportedEntry | null) {
  const isLater = after
    ? sql`and (r.book_id, r.completed_at) > (${after.bookId}, ${after.endedAt})`
    : sql``
  return await sql<ExportedEntry[]>`
    select r.book_id as id, r.book_id as "bookId", ${titles(sql)}, 'pass' as kind, null as surface,
      ${device(sql)}, r.started_at as "startedAt", r.completed_at as "endedAt",
      null as "measuredMs", null as "inferredMs", null as "pagesRead", null as page,
      null as percentage
    from reading_pass r
    ${joins(sql, viewer)}
    where r.account_id = ${viewer.accountId} ${isLater}
    order by r.book_id, r.completed_at
    limit ${batchSize}`
}

const titles = (sql: Sql) => sql`v.series_title as "seriesTitle", v.book_title as "bookTitle"`
const device = (sql: Sql) => sql`d.key as "deviceId", d.name as "deviceName"`
const joins = (sql: Sql, viewer: Viewer) => sql`
  left join reading_device d on d.id = r.device
  left join lateral (
    select s.title as series_title, b.title as book_title
    from book b join series s on s.id = b.series_id
    where b.id = r.book_id and ${visibleBook(sql, viewer)}) v on true`

const columns = [
  ...['id', 'bookId', 'seriesTitle', 'bookTitle', 'kind', 'surface', 'deviceId', 'deviceName'],
  ...['startedAt', 'endedAt', 'measuredMs', 'inferredMs', 'pagesRead', 'page', 'percentage'],
] as (keyof ExportedEntry)[]

const formats = {
  json: { mediaType: 'application/json', chunks: jsonChunks },
  csv: { mediaType: 'text/csv; charset=utf-8', chunks: csvChunks },
}

async function* jsonChunks(sql: Sql, viewer: Viewer) {
  let separator = '{"entries":['
  for await (const batch of exportedEntries(sql, viewer)) {
    yield separator + batch.map(entry => JSON.stringify(entry)).join(',\n')
    separator = ',\n'
  }
  yield `${separator.startsWith('{') ? separator : ''}],`
  separator = '"annotations":['
  for await (const batch of allAnnotations(sql, viewer)) {
    yield separator + batch.map(annotation => JSON.stringify(annotation)).join(',\n')
    separator = ',\n'
  }
  yield `${separator.startsWith('"') ? separator : ''}]}`
}

async function* csvChunks(sql: Sql, viewer: Viewer) {
  yield csvLine(columns)
  for await (const batch of exportedEntries(sql, viewer))
    yield batch.map(entry => csvLine(columns.map(column => entry[column]))).join('')
}

/** What a spreadsheet may evaluate, including the full-width signs used in Japanese and Chinese. */
const formula = /^\s*[=+\-@\t\r＝＋－＠]/

export function csvLine(values: readonly (string | number | Date | null)[]): string {
  return `${values.map(csvValue).join(',')}\r\n`
}

function csvValue(value: string | number | Date | null): string {
  if (value === null) return ''
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'number') return String(value)
  const text = formula.test(value) ? `'${value}` : value
  return /[",\r\n]|^'|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
