// Books that cannot be read: list by error code, and reading their files again.
import { bookErrors } from '../../catalog/book/book-errors.ts'
import { Book, bookById, booksByIds } from '../../catalog/book/book-record.ts'
import { analyzeBook } from '../../catalog/scan/analyze.ts'
import { retryFailed } from '../../catalog/scan/work-on-many.ts'
import { Invalid, type UnreadableCode, unreadableCodes } from '../../errors.ts'
import { pageNumber, pageSize, paging } from '../../http/pagination.ts'
import { route } from '../../http/route.ts'
import {
  body,
  count,
  json,
  list,
  maybe,
  nullable,
  oneOf,
  record,
  Type,
  timestamp,
  uuid,
} from '../../schema.ts'
import { BookId } from '../params.ts'
import { WorkStarted, workStarted } from '../started-work.ts'

const maxPageSize = 100

const labels: Record<UnreadableCode, string> = {
  bad_crc: 'Damaged content',
  encrypted: 'Encrypted',
  internal: 'Internal error',
  io: 'Read error',
  memory: 'Too little memory',
  multi_volume: 'Multi-volume archive',
  no_pages: 'No pages',
  not_an_archive: 'Not an archive',
  timeout: 'Timeout',
  too_large: 'Too large',
  truncated: 'Truncated',
  unsupported_format: 'Unsupported format',
  unsupported_image: 'Unsupported image',
  unsupported_method: 'Unsupported compression method',
}

const errorType = (notes: object = {}) => oneOf(unreadableCodes, notes)
const FailedBook = record(
  {
    book: Book,
    errors: list(
      record(
        {
          errorType: errorType(),
          message: Type.String(),
          details: json({ description: 'Always null.' }),
          occurredAt: timestamp(),
        },
        { component: 'BookError' },
      ),
    ),
  },
  { component: 'FailedBook' },
)
const BookErrorPage = record(
  {
    totalBooksWithErrors: count({ description: 'Books on all pages.' }),
    errorCounts: Type.Record(Type.String(), count(), {
      description: 'Number of books by error code, without regard to `errorType`.',
    }),
    groups: list(
      record(
        {
          errorType: errorType(),
          label: Type.String(),
          count: count({ description: 'Books on all pages.' }),
          books: list(FailedBook, { description: 'Of this page.' }),
        },
        { component: 'BookErrorGroup' },
      ),
    ),
    page: count(),
    pageSize: count(),
    totalPages: count(),
  },
  { component: 'BookErrors' },
)

export const bookErrorRoutes = [
  route({
    operationId: 'listBookErrors',
    method: 'GET',
    path: '/books/errors',
    permission: 'BooksRead',
    summary: 'List books that cannot be read',
    description: 'Grouped by error code, within a group by title.',
    query: record({
      libraryId: maybe(uuid({ description: 'Only of this library.' })),
      seriesId: maybe(uuid({ description: 'Only of this series.' })),
      errorType: maybe(errorType({ description: 'Only with this error code.' })),
      page: pageNumber(),
      pageSize: pageSize(50, maxPageSize),
    }),
    responses: { 200: BookErrorPage },
    async handle({ query, viewer }, { sql }) {
      const { libraryId, seriesId, errorType: errorCode } = query
      const { page, pageSize } = paging({
        ...query,
        pageSize: query.pageSize && Math.min(query.pageSize, maxPageSize),
      })
      const range = { offset: (page - 1) * pageSize, limit: pageSize }
      const filter = { libraryId, seriesId, errorCode }
      const { counts, rows } = await bookErrors(sql, viewer, { ...filter, ...range })
      const ids = rows.map(({ id }) => id)
      const books = new Map((await booksByIds(sql, viewer, ids)).map(book => [book.id, book]))
      const groups = [...Map.groupBy(rows, ({ code }) => code)].map(([code, members]) => ({
        errorType: code,
        label: labels[code],
        count: counts[code] ?? members.length,
        books: members.flatMap(({ id, message, at }) => {
          const book = books.get(id)
          const error = { errorType: code, message: message ?? labels[code], details: null }
          return book ? [{ book, errors: [{ ...error, occurredAt: at }] }] : []
        }),
      }))
      const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
      const total = errorCode ? (counts[errorCode] ?? 0) : all
      const totalPages = Math.ceil(total / pageSize)
      return {
        totalBooksWithErrors: total,
        errorCounts: counts,
        groups,
        ...{ page, pageSize, totalPages },
      }
    },
  }),
  route({
    operationId: 'retryBook',
    method: 'POST',
    path: '/books/{id}/retry',
    permission: 'BooksWrite',
    summary: 'Read a book again that could not be read',
    description: '400 if the book has no error, or none of `errorTypes`.',
    params: BookId,
    body: body(
      {
        errorTypes: maybe(
          nullable(
            list(errorType(), { maxItems: 100, description: 'Only if its error is one of these.' }),
          ),
        ),
      },
      { component: 'RetryBook' },
    ),
    bodyOptional: true,
    responses: { 200: WorkStarted },
    async handle({ params: { id }, body: { errorTypes }, viewer }, { sql, queue }) {
      const { errorCode, deleted } = await bookById(sql, viewer, id)
      const isRequested = !errorTypes?.length || errorTypes.some(code => code === errorCode)
      if (errorCode === null || deleted || !isRequested)
        throw new Invalid('The book has no such error')
      const taskId = await analyzeBook({ sql, queue, viewer, unanalyzedOnly: true }, id)
      return workStarted({ taskIds: [taskId], count: 1 }, 'files to be read')
    },
  }),
  route({
    operationId: 'retryBooks',
    method: 'POST',
    path: '/books/retry-all-errors',
    permission: 'BooksWrite',
    summary: 'Read all books again that could not be read',
    body: body(
      {
        errorType: maybe(nullable(errorType({ description: 'Only with this error code.' }))),
        libraryId: maybe(nullable(uuid({ description: 'Only of this library.' }))),
      },
      { component: 'RetryBooks' },
    ),
    bodyOptional: true,
    responses: { 200: WorkStarted },
    async handle({ body: { errorType, libraryId }, viewer }, { sql, queue }) {
      const filter = { errorCode: errorType ?? undefined, libraryId: libraryId ?? undefined }
      return workStarted(await retryFailed({ sql, queue, viewer }, filter), 'files to be read')
    },
  }),
]
