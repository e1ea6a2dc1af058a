// Books that cannot be read or have no cover: list by error type, and retry.

import { Invalid } from '../../../base/errors.ts'
import {
  body,
  component,
  count,
  json,
  list,
  maybe,
  oneOf,
  optional,
  record,
  Type,
  timestamp,
  uuid,
} from '../../../base/schema.ts'
import { paged, pageNumber, pageResponse, pageSize, paging } from '../../../http/pagination.ts'
import { BookId } from '../../../http/params.ts'
import { route } from '../../../http/route.ts'
import { WorkStarted, workStarted } from '../../../http/started-work.ts'
import { analyzeBook } from '../../scan/analyze.ts'
import { generateThumbnails, retryFailed } from '../../scan/work-on-many.ts'
import { type BookErrorType, bookErrors, bookErrorTypes, errorOfBook } from '../book-errors.ts'
import { Book, booksByIds, requireBook } from '../book-record.ts'

const maxPageSize = 100

const labels: Record<BookErrorType, string> = {
  bad_crc: 'Damaged content',
  encrypted: 'Encrypted',
  internal: 'Internal error',
  io: 'Read error',
  memory: 'Not enough memory',
  multi_volume: 'Multi-volume archive',
  no_pages: 'No pages',
  not_an_archive: 'Not an archive',
  thumbnail: 'No cover',
  timeout: 'Timeout',
  too_large: 'Too large',
  truncated: 'Truncated',
  unsupported_format: 'Unsupported format',
  unsupported_image: 'Unsupported image',
  unsupported_method: 'Unsupported compression method',
}

const errorType = (notes: object = {}) => oneOf(bookErrorTypes, notes)
const FailedBook = component('FailedBook', {
  book: Book,
  errors: list(
    component('BookError', {
      errorType: errorType(),
      label: Type.String({ description: 'Display name of the type.' }),
      message: Type.String(),
      details: json({ description: 'Always null.' }),
      occurredAt: timestamp(),
    }),
  ),
})
const FailedBookPage = paged(FailedBook, {
  errorCounts: Type.Record(Type.String(), count(), {
    description: 'Number of books by error type, regardless of `errorType`.',
  }),
})

export const bookErrorRoutes = [
  route('GET /books/errors', {
    operationId: 'listBookErrors',
    permission: 'BooksRead',
    summary: 'List books that cannot be read or have no cover',
    description: 'Sorted by error type, then by title.',
    query: record({
      libraryId: maybe(uuid({ description: 'Limits the list to this library.' })),
      seriesId: maybe(uuid({ description: 'Limits the list to this series.' })),
      errorType: maybe(errorType({ description: 'Limits the list to this type.' })),
      page: pageNumber(),
      pageSize: pageSize(50, maxPageSize),
    }),
    responses: { 200: FailedBookPage },
    async handle({ query, viewer, request, reply }, { sql }) {
      const { libraryId, seriesId, errorType } = query
      const page = paging(query, { maximum: maxPageSize })
      const range = { offset: page.offset, limit: page.pageSize }
      const filter = { libraryId, seriesId, errorType }
      const { counts, rows } = await bookErrors(sql, viewer, { ...filter, ...range })
      const ids = rows.map(({ id }) => id)
      const books = new Map((await booksByIds(sql, viewer, ids)).map(book => [book.id, book]))
      const data = rows.flatMap(({ id, type, message, at }) => {
        const book = books.get(id)
        const label = labels[type]
        const error = { errorType: type, label, message: message ?? label, details: null }
        return book ? [{ book, errors: [{ ...error, occurredAt: at }] }] : []
      })
      const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
      const total = errorType ? (counts[errorType] ?? 0) : all
      const found = pageResponse({ request, reply, query }, { data, total, paging: page })
      return { errorCounts: counts, ...found }
    },
  }),
  route('POST /books/{id}/retry', {
    operationId: 'retryBook',
    permission: 'BooksWrite',
    summary: 'Retry reading a book or making its cover',
    description: '400 if the book has no error of these types.',
    params: BookId,
    body: body('RetryBook', {
      errorTypes: optional(
        list(errorType(), { maxItems: 100, description: 'Only if its error is one of these.' }),
      ),
    }),
    bodyOptional: true,
    responses: { 200: WorkStarted },
    async handle({ params: { id }, body: { errorTypes }, viewer }, { sql, queue }) {
      await requireBook(sql, viewer, id)
      const type = await errorOfBook(sql, viewer, id)
      const isRequested = !errorTypes?.length || errorTypes.some(one => one === type)
      if (type === null || !isRequested) throw new Invalid('The book has no such error')
      if (type === 'thumbnail') {
        const selection = { bookIds: [id] }
        const options = { of: 'book', force: true } as const
        const work = await generateThumbnails({ sql, queue, viewer }, selection, options)
        return workStarted(work, 'thumbnails to be generated')
      }
      const taskId = await analyzeBook({ sql, queue, viewer, unanalyzedOnly: true }, id)
      return workStarted({ taskIds: [taskId], count: 1 }, 'files to be read')
    },
  }),
  route('POST /books/retry-all-errors', {
    operationId: 'retryBooks',
    permission: 'BooksWrite',
    summary: 'Retry reading all unreadable books and making missing covers',
    body: body('RetryBooks', {
      errorType: optional(errorType({ description: 'Limits the retry to this type.' })),
      libraryId: optional(uuid({ description: 'Limits the retry to this library.' })),
      seriesId: optional(uuid({ description: 'Limits the retry to this series.' })),
    }),
    bodyOptional: true,
    responses: { 200: WorkStarted },
    async handle({ body: { errorType, libraryId, seriesId }, viewer }, { sql, queue }) {
      const work = await retryFailed(
        { sql, queue, viewer },
        {
          errorType: errorType ?? undefined,
          libraryId: libraryId ?? undefined,
          seriesId: seriesId ?? undefined,
        },
      )
      return workStarted(work, 'files to be read')
    },
  }),
]
