// Read progress in the Komga-compatible API: of a book, of a whole series, and in the form used by trackers.
import type { FastifyRequest } from 'fastify'
import type { Identity } from '../../../../accounts/identify.ts'
import { recordsReading } from '../../../../accounts/permission.ts'
import type { Viewer } from '../../../../accounts/viewer.ts'
import { Invalid, NotFound } from '../../../../base/errors.ts'
import { component, optional, Type } from '../../../../base/schema.ts'
import { bookFile } from '../../../../catalog/book/book-file.ts'
import { deviceOf } from '../../../../http/client/device.ts'
import type { Deps } from '../../../../http/deps.ts'
import { BookId, ReadListId, SeriesId } from '../../../../http/params.ts'
import { route } from '../../../../http/route.ts'
import { type MarkSelection, markBooks } from '../../../../reading/mark.ts'
import { recordReading } from '../../../../reading/record.ts'
import {
  booksUpTo,
  ReadListProgress,
  readListBooks,
  readListProgress,
  SeriesProgress,
  seriesProgress,
} from '../../tracker-progress.ts'
import { readerOf } from '../../values.ts'

const writePermission = { any: recordsReading } as const

const common = { permission: writePermission, responses: { 204: null } } as const

const ReadProgressUpdate = component('ReadProgressUpdateDto', {
  page: optional(
    Type.Integer({
      maximum: 2_147_483_647,
      description: 'Page number, starting at 1; required unless completed.',
    }),
  ),
  completed: optional(
    Type.Boolean({
      description: 'Whether the book is completed; without a page, the last page counts.',
    }),
  ),
})

const ofBooksAndSeries = [
  route('PATCH /books/{id}/read-progress', {
    ...common,
    operationId: 'markBookReadProgress',
    summary: 'Update the read progress of a book',
    description: 'The last page completes the book.',
    params: BookId,
    body: ReadProgressUpdate,
    async handle(input, { sql }) {
      const { params, body, viewer } = input
      const { pageCount } = await bookFile(sql, viewer, params.id)
      const page = body.page ?? undefined
      if (page === undefined && body.completed !== true)
        throw new Invalid('body/page is required unless the book is completed')
      if (page !== undefined && (page < 1 || (pageCount > 0 && page > pageCount)))
        throw new Invalid(`body/page must be between 1 and ${pageCount}`)
      await recordReading(sql, viewer, originOf(input), {
        ...{ bookId: params.id, currentPage: page },
        completed: body.completed === true || (pageCount > 0 && page === pageCount),
      })
    },
  }),
  ...(
    [
      ['DELETE /books/{id}', 'deleteBookReadProgress', 'Mark a book as unread'],
      ['POST /series/{id}', 'markSeriesAsRead', 'Mark all books of a series as read'],
      ['DELETE /series/{id}', 'markSeriesAsUnread', 'Mark all books of a series as unread'],
    ] as const
  ).map(([address, operationId, summary]) =>
    route(`${address}/read-progress`, {
      ...{ ...common, operationId, summary },
      params: address.includes('/books/') ? BookId : SeriesId,
      handle: (input, deps) =>
        mark(input, deps, {
          ...(address.includes('/books/')
            ? { books: [input.params.id] }
            : { series: [input.params.id] }),
          mark: address.startsWith('POST') ? 'read' : 'unread',
        }),
    }),
  ),
  route('PATCH /series/{id}/read-progress', {
    ...common,
    // Not in Komga's document, but used by KMReader.
    operationId: 'patchSeriesReadProgress',
    summary: 'Mark all books of a series as read or unread',
    params: SeriesId,
    body: component('SeriesReadProgressUpdate', { completed: Type.Boolean() }),
    handle: (input, deps) =>
      mark(input, deps, {
        series: [input.params.id],
        mark: input.body.completed ? 'read' : 'unread',
      }),
  }),
]

const forTrackers = [
  route('GET /api/v2/series/{id}/read-progress/tachiyomi', {
    operationId: 'getMihonReadProgressBySeriesId',
    atRoot: true,
    permission: { all: ['SeriesRead'], any: ['BooksRead'] },
    summary: 'Get the read progress of a series for trackers',
    params: SeriesId,
    responses: { 200: SeriesProgress },
    handle: ({ params, viewer }, { sql }) => seriesProgress(sql, viewer, params.id),
  }),
  route('PUT /api/v2/series/{id}/read-progress/tachiyomi', {
    ...common,
    operationId: 'updateMihonReadProgressBySeriesId',
    atRoot: true,
    summary: 'Mark the books of a series as read up to a number',
    description: 'Later books are unchanged.',
    params: SeriesId,
    body: component('TachiyomiReadProgressUpdateV2Dto', { lastBookNumberSortRead: Type.Number() }),
    async handle(input, deps) {
      const { params, body, viewer } = input
      const books = await booksUpTo(deps.sql, viewer, params.id, body.lastBookNumberSortRead)
      if (books.length > 0) await mark(input, deps, { books, mark: 'read' })
    },
  }),
  route('GET /readlists/{id}/read-progress/tachiyomi', {
    operationId: 'getMihonReadProgressByReadListId',
    permission: { all: ['ReadListsRead'], any: ['BooksRead'] },
    summary: 'Get the read progress of a read list for trackers',
    params: ReadListId,
    responses: { 200: ReadListProgress },
    handle: async (input, deps) =>
      readListProgress((await readListBooks(deps, readerOf(input), input.params.id)).books),
  }),
  route('PUT /readlists/{id}/read-progress/tachiyomi', {
    ...common,
    operationId: 'updateMihonReadProgressByReadListId',
    summary: 'Mark the first books of a read list as read',
    params: ReadListId,
    body: component('TachiyomiReadProgressUpdateDto', {
      lastBookRead: Type.Integer({ description: 'Position in the list, starting at 1.' }),
    }),
    async handle(input, deps) {
      const { books } = await readListBooks(deps, readerOf(input), input.params.id)
      const read = books.slice(0, Math.max(0, input.body.lastBookRead)).map(({ id }) => id)
      if (read.length > 0) await mark(input, deps, { books: read, mark: 'read' })
    },
  }),
]

export const readProgress = [...ofBooksAndSeries, ...forTrackers]

type Writer = { viewer: Viewer; request: FastifyRequest; identity: Identity }

const originOf = ({ request, identity }: Writer) =>
  ({ surface: 'komga', device: deviceOf(request, identity) }) as const

/** Throws NotFound. */
async function mark(
  input: Writer,
  { sql }: Pick<Deps, 'sql'>,
  marks: MarkSelection & { mark: 'read' | 'unread' },
) {
  const origin = originOf(input)
  const { found } = await markBooks(sql, input.viewer, { ...marks, origin })
  if (found === 0) throw new NotFound(`${'books' in marks ? 'Book' : 'Series'} not found`)
}
