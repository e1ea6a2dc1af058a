// The caller's reading progress: one book, all books, whole series.
import type { FastifyRequest } from 'fastify'
import type { Identity } from '../../accounts/identify.ts'
import { recordsReading } from '../../accounts/permission.ts'
import { type Viewer, visibleBook } from '../../accounts/viewer.ts'
import { Invalid, NotFound } from '../../base/errors.ts'
import {
  body,
  component,
  count,
  maybe,
  optional,
  record,
  Type,
  timestamp,
} from '../../base/schema.ts'
import { joinProgress } from '../../catalog/book/visible-books.ts'
import { deviceOf } from '../../http/client/device.ts'
import type { Deps } from '../../http/deps.ts'
import { paged, pageQuery, pageResponse, paging } from '../../http/pagination.ts'
import { BookId, SeriesId } from '../../http/params.ts'
import { respond, route } from '../../http/route.ts'
import { booksWithProgress, pageOfBooks } from '../../list/list-books.ts'
import type { Queryable } from '../../store/postgres/db.ts'
import type { WithServices } from '../../store/services.ts'
import { type MarkSelection, markBooks } from '../mark.ts'
import { Progress, type ProgressRow, progressRecord } from '../progress/progress-record.ts'
import { recordReading } from '../record.ts'

const writePermission = { any: recordsReading } as const

const ProgressUpdate = body('ProgressUpdate', {
  currentPage: maybe(
    Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      description:
        'Last page shown, starting at 1; 0 for a book that was only opened. Larger numbers count as the last page.',
    }),
  ),
  progressPercentage: optional(
    Type.Number({ minimum: 0, maximum: 1, description: 'Progress from 0 to 1.' }),
  ),
  completed: optional(Type.Boolean({ aliases: ['is_completed', 'isCompleted'] })),
  modified: optional(
    timestamp({
      aliases: ['updatedAt', 'updated_at'],
      description: 'Time of reading. If it is older than the stored progress, nothing is written.',
    }),
  ),
})

const ChangedBooks = component('ChangedBooks', {
  count: count({ description: 'Number of changed books.' }),
  message: Type.String(),
})

export const progress = [
  route('GET /books/{id}/progress', {
    operationId: 'getBookProgress',
    permission: 'BooksRead',
    summary: 'Get reading progress of a book',
    description: '204 if the caller has not started the book.',
    params: BookId,
    responses: { 200: Progress, 204: null },
    async handle({ params, viewer }, { sql }) {
      const row = await findProgress(sql, viewer, params.id)
      return row ? progressRecord(row) : respond(204, undefined)
    },
  }),
  route('PUT /books/{id}/progress', {
    operationId: 'updateBookProgress',
    aliases: [{ method: 'PATCH', operationId: 'patchBookProgress' }],
    permission: writePermission,
    summary: 'Update reading progress of a book',
    description:
      'A book is completed on its last page or from 98 %; if `completed` is set, it decides. Writing the first page or up to 5 % of a completed book restarts it. The last write wins: 204 if the book was marked as unread later than `modified`.',
    params: BookId,
    body: ProgressUpdate,
    responses: { 200: Progress, 204: null },
    async handle({ params, body, viewer, identity, request }, { sql }) {
      const currentPage = body.currentPage
      const progressPercentage = body.progressPercentage ?? undefined
      const completed = body.completed ?? undefined
      const values = [currentPage, progressPercentage, completed]
      if (values.every(value => value === undefined))
        throw new Invalid('body must have currentPage')
      const at = body.modified ? parseTime(body.modified) : undefined
      const write = { bookId: params.id, currentPage, progressPercentage, completed, at }
      const { row } = await recordReading(sql, viewer, originOf(request, identity), write)
      return row ? progressRecord(row) : respond(204, undefined)
    },
  }),
  route('DELETE /books/{id}/progress', {
    operationId: 'deleteBookProgress',
    permission: writePermission,
    summary: 'Delete reading progress of a book',
    description: 'Also 204 if the caller has not started the book.',
    params: BookId,
    responses: { 204: null },
    async handle(input, deps) {
      await mark(input, deps, { books: [input.params.id], mark: 'unread' })
    },
  }),
  route('POST /books/{id}/read', {
    operationId: 'markBookRead',
    permission: writePermission,
    summary: 'Mark a book as read',
    params: BookId,
    responses: { 200: Progress },
    async handle(input, deps) {
      const { params, viewer } = input
      await mark(input, deps, { books: [params.id], mark: 'read' })
      const row = await findProgress(deps.sql, viewer, params.id)
      if (!row) throw new NotFound('The book was marked as unread in the meantime')
      return progressRecord(row)
    },
  }),
  route('POST /books/{id}/unread', {
    operationId: 'markBookUnread',
    permission: writePermission,
    summary: 'Mark a book as unread',
    params: BookId,
    responses: { 204: null },
    async handle(input, deps) {
      await mark(input, deps, { books: [input.params.id], mark: 'unread' })
    },
  }),
  ...(['read', 'unread'] as const).map(name =>
    route(`POST /series/{id}/${name}`, {
      operationId: name === 'read' ? 'markSeriesRead' : 'markSeriesUnread',
      permission: writePermission,
      summary: `Mark all books of a series as ${name}`,
      params: SeriesId,
      responses: { 200: ChangedBooks },
      async handle(input, deps) {
        const count = await mark(input, deps, { series: [input.params.id], mark: name })
        return { count, message: `${count} ${count === 1 ? 'book' : 'books'} marked as ${name}` }
      },
    }),
  ),
  route('GET /progress', {
    operationId: 'listProgress',
    permission: 'BooksRead',
    summary: 'List reading progress of the caller',
    description: 'Newest first, including missing books.',
    query: record(pageQuery),
    responses: { 200: paged(Progress) },
    async handle({ query, viewer, request, reply }, deps) {
      const page = paging(query)
      const { rows, total } = await listProgress(deps, viewer, {
        offset: page.offset,
        limit: page.pageSize,
      })
      const data = rows.map(progressRecord)
      return pageResponse({ request, reply, query }, { data, total, paging: page })
    },
  }),
]

const originOf = (request: FastifyRequest, identity: Identity) =>
  ({ surface: 'api', device: deviceOf(request, identity) }) as const

/** Returns the number of changed books. Throws NotFound. */
async function mark(
  { viewer, request, identity }: { viewer: Viewer; request: FastifyRequest; identity: Identity },
  { sql }: Pick<Deps, 'sql'>,
  marks: MarkSelection & { mark: 'read' | 'unread' },
): Promise<number> {
  const origin = originOf(request, identity)
  const { count, found } = await markBooks(sql, viewer, { ...marks, origin })
  if (found === 0) throw new NotFound(`${'books' in marks ? 'Book' : 'Series'} not found`)
  return count
}

function parseTime(value: Date | string): Date {
  const time = new Date(value)
  const year = time.getUTCFullYear()
  if (!(year >= 1 && year <= 9999)) throw new Invalid('body/modified is not a valid time')
  return time
}

/** The viewer's progress in a book, or null. Throws NotFound for a hidden book. */
export async function findProgress(
  sql: Queryable,
  viewer: Viewer,
  bookId: string,
): Promise<ProgressRow | null> {
  const [row] = await sql<(ProgressRow | { accountId: null })[]>`
    select ${columns(sql)}
    from book b
    join series s on s.id = b.series_id
    ${joinProgress(sql, viewer)}
    where b.id = ${bookId} and ${visibleBook(sql, viewer)}`
  if (!row) throw new NotFound('Book not found')
  return row.accountId === null ? null : row
}

/** All progress of the viewer, including missing books, newest first. */
export async function listProgress(
  db: WithServices,
  viewer: Viewer,
  window: { offset: number; limit: number },
): Promise<{ rows: ProgressRow[]; total: number }> {
  const list = { ...booksWithProgress, ...window, includeDeleted: true }
  const { ids, total } = await pageOfBooks(db, viewer, list)
  if (ids.length === 0) return { rows: [], total }
  const { sql } = db
  const rows = await sql<ProgressRow[]>`
    select ${columns(sql)} from progress p
    where p.account_id = ${viewer.accountId} and p.book_id = any(${ids}::uuid[])
    order by p.updated_at desc, p.book_id desc`
  return { rows: [...rows], total }
}

function columns(sql: Queryable) {
  return sql`p.account_id as "accountId", p.book_id as "bookId", p.current_page as "currentPage",
    p.percentage, p.is_completed as "isCompleted", p.started_at as "startedAt",
    p.updated_at as "updatedAt", p.completed_at as "completedAt"`
}
