// How far the caller is: one book, all books, whole series.
import {
  allProgress,
  completeSeries,
  forgetPlace,
  forgetSeries,
  moveTo,
  progressOf,
} from '../../catalog/progress/progress.ts'
import { Progress, progressRecord } from '../../catalog/progress/progress-record.ts'
import { Invalid } from '../../errors.ts'
import { paged, pageOf, pageQuery, paging } from '../../http/pagination.ts'
import { answer, route } from '../../http/route.ts'
import { body, count, Id, list, maybe, nullable, record, Type, timestamp } from '../../schema.ts'
import { isPaged } from './lists.ts'

const writes = { all: ['BooksRead'], any: ['ProgressWrite', 'BooksWrite'] } as const

/** Longest answer that is not paged. */
const mostRows = 10_000

const Position = body({
  currentPage: maybe(
    Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      description:
        'The page shown last, from 1; 0 is opened and no more. Beyond the end is the end.',
    }),
  ),
  progressPercentage: maybe(nullable(Type.Number({ minimum: 0, maximum: 1 }))),
  completed: maybe(nullable(Type.Boolean({ aliases: ['is_completed', 'isCompleted'] }))),
  modified: maybe(
    nullable(
      timestamp({
        aliases: ['updatedAt', 'updated_at'],
        description: 'When the reader was there. Older than what is stored: nothing is written.',
      }),
    ),
  ),
})

const Counted = record({
  count: count({ description: 'Books that changed.' }),
  message: Type.String(),
})

export const progress = [
  route({
    method: 'GET',
    path: '/books/{id}/progress',
    permission: 'BooksRead',
    summary: 'How far the caller is in a book',
    description: '204 when the book was not begun.',
    params: Id,
    responses: { 200: Progress, 204: null },
    async handle({ params, viewer }, { sql }) {
      const row = await progressOf(sql, viewer, params.id)
      return row ? progressRecord(row) : answer(204, undefined)
    },
  }),
  route({
    method: 'PUT',
    path: '/books/{id}/progress',
    also: [{ method: 'PATCH' }],
    permission: writes,
    summary: 'Store how far the caller is in a book',
    description:
      'A book is completed by `completed`, by its last page, or from 98 % on unless `completed` is false. Writing its first page or up to 5 % of a completed book begins it anew. The last write wins.',
    params: Id,
    body: Position,
    responses: { 200: Progress },
    async handle({ params, body, viewer }, { sql }) {
      const currentPage = body.currentPage
      const progressPercentage = body.progressPercentage ?? undefined
      const completed = body.completed ?? undefined
      const said = [currentPage, progressPercentage, completed]
      if (said.every(part => part === undefined)) throw new Invalid('body must have currentPage')
      const modified = body.modified ? timeOf(body.modified) : undefined
      const position = { currentPage, progressPercentage, completed, modified }
      return progressRecord(await moveTo(sql, viewer, { bookId: params.id, position }))
    },
  }),
  route({
    method: 'DELETE',
    path: '/books/{id}/progress',
    permission: writes,
    summary: 'Forget how far the caller is in a book',
    description: '204 as well when the book was not begun.',
    params: Id,
    responses: { 204: null },
    async handle({ params, viewer }, { sql }) {
      await forgetPlace(sql, viewer, params.id)
      return answer(204)
    },
  }),
  route({
    method: 'POST',
    path: '/books/{id}/read',
    permission: writes,
    summary: 'Mark a book as read',
    params: Id,
    responses: { 200: Progress },
    async handle({ params, viewer }, { sql }) {
      const position = { completed: true }
      return progressRecord(await moveTo(sql, viewer, { bookId: params.id, position }))
    },
  }),
  route({
    method: 'POST',
    path: '/books/{id}/unread',
    permission: writes,
    summary: 'Mark a book as unread',
    params: Id,
    responses: { 204: null },
    async handle({ params, viewer }, { sql }) {
      await forgetPlace(sql, viewer, params.id)
      return answer(204)
    },
  }),
  route({
    method: 'POST',
    path: '/series/{id}/read',
    permission: writes,
    summary: 'Mark all books of a series as read',
    params: Id,
    responses: { 200: Counted },
    async handle({ params, viewer }, { sql }) {
      const count = await completeSeries(sql, viewer, params.id)
      return { count, message: `${books(count)} marked as read` }
    },
  }),
  route({
    method: 'POST',
    path: '/series/{id}/unread',
    permission: writes,
    summary: 'Mark all books of a series as unread',
    params: Id,
    responses: { 200: Counted },
    async handle({ params, viewer }, { sql }) {
      const count = await forgetSeries(sql, viewer, params.id)
      return { count, message: `${books(count)} marked as unread` }
    },
  }),
  route({
    method: 'GET',
    path: '/progress',
    permission: 'BooksRead',
    summary: 'How far the caller is in all books',
    description: `The last written first, missing books too. At most the newest ${mostRows}, with \`total\` counting all; with \`page\` or \`pageSize\` the wrapper of paged lists.`,
    query: record(pageQuery),
    responses: {
      200: Type.Union([record({ progress: list(Progress), total: count() }), paged(Progress)]),
    },
    async handle({ query, viewer, request, reply }, { sql }) {
      const asked = isPaged(query) ? paging(query) : null
      const { rows, total } = await allProgress(sql, viewer, {
        offset: asked?.offset ?? 0,
        limit: asked?.pageSize ?? mostRows,
      })
      const data = rows.map(progressRecord)
      if (!asked) return { progress: data, total }
      return pageOf({ request, reply, query }, { data, total, paging: asked })
    },
  }),
]

const books = (count: number) => (count === 1 ? '1 book' : `${count} books`)

function timeOf(given: Date | string): Date {
  const time = new Date(given)
  const year = time.getUTCFullYear()
  if (!(year >= 1 && year <= 9999)) throw new Invalid('body/modified is no time')
  return time
}
