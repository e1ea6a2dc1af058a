// Pages of books in the Komga-compatible API: list, images as stored or converted, thumbnails.
import type { FastifyRequest } from 'fastify'
import { Invalid, NotFound } from '../../../../base/errors.ts'
import { list, maybe, oneOf, record, Type, uuid } from '../../../../base/schema.ts'
import { bookFile, packedPages } from '../../../../catalog/book/book-file.ts'
import type { Deps } from '../../../../http/deps.ts'
import { emptyBody } from '../../../../http/exchange.ts'
import { BookId } from '../../../../http/params.ts'
import { type Input, respond, route } from '../../../../http/route.ts'
import { isReflowable } from '../../../../media/format/formats.ts'
import { unpackPages } from '../../../../page/page-list.ts'
import { imageResponses } from '../../../../page/routes/image-response.ts'
import {
  acceptedFormat,
  acceptsAnyImage,
  pageResponse,
  requirePage,
} from '../../../../page/routes/page-response.ts'
import type { ImageOptions } from '../../../../page/variant.ts'
import { PageDto, pageDtos } from '../../book-dto.ts'
import { mediaStatus } from '../../values.ts'
import { revalidated } from '../dialect.ts'

const PageNumber = record({
  id: uuid({ description: 'Book id.' }),
  page: Type.Integer({
    minimum: 0,
    maximum: 2_147_483_647,
    description: 'Page number, starting at 1.',
  }),
})

const common = {
  permission: 'PagesRead',
  bucket: 'images',
  params: PageNumber,
  responses: imageResponses,
} as const

/** Size and format of Komga's page thumbnails. */
const thumbnail = { width: 300, height: 300, format: 'jpeg' } as const

export const pages = [
  route('GET /books/{id}/pages', {
    operationId: 'getBookPages',
    permission: 'PagesRead',
    cost: 'record',
    summary: 'List the pages of a book',
    description: '404 if the book cannot be read; empty for reflowable text.',
    params: BookId,
    responses: { 200: list(PageDto) },
    async handle({ params, viewer }, { sql }) {
      const book = await bookFile(sql, viewer, params.id)
      if (mediaStatus(book) !== 'READY') throw new NotFound('The book cannot be read')
      const packed = await packedPages(sql, book.id)
      return packed === null ? [] : pageDtos(unpackPages(packed))
    },
  }),
  route('GET /books/{id}/pages/{page}', {
    ...common,
    operationId: 'getBookPageByNumber',
    summary: 'Get the image of a page',
    description:
      'As stored, or converted: on request, or if the `Accept` header excludes the stored type. PDF pages are rendered as images.',
    query: record({
      convert: maybe(oneOf(['jpeg', 'png'])),
      zero_based: maybe(Type.Boolean({ description: 'Whether `page` is 0-based.' })),
      contentNegotiation: maybe(Type.Boolean({ default: true })),
    }),
    async handle(input, deps) {
      const { params, query, request } = input
      const index = query.zero_based ? params.page : params.page - 1
      if (query.convert) return await sendPage(input, deps, index, { format: query.convert })
      const isNegotiated = query.contentNegotiation ?? true
      const accept = request.headers.accept
      if (!isNegotiated || acceptsAnyImage(accept)) return await sendPage(input, deps, index, {})
      return await sendPage(input, deps, index, mediaType => {
        const format = acceptedFormat(accept, mediaType)
        return format === null ? {} : { format }
      })
    },
  }),
  route('GET /books/{id}/pages/{page}/raw', {
    ...common,
    operationId: 'getBookPageRawByNumber',
    summary: 'Get the image of a page as it is stored',
    description: 'PDF pages are rendered as images.',
    handle: (input, deps) => sendPage(input, deps, input.params.page - 1, {}),
  }),
  route('GET /books/{id}/pages/{page}/thumbnail', {
    ...common,
    operationId: 'getBookPageThumbnailByNumber',
    summary: 'Get a thumbnail of a page (JPEG)',
    handle: (input, deps) => sendPage(input, deps, input.params.page - 1, thumbnail),
  }),
]

type PageInput = Pick<
  Input<'auth', typeof PageNumber, never, never>,
  'params' | 'viewer' | 'request' | 'reply' | 'signal'
>

/** `choose` is the variant, or a function of the stored media type. Throws Invalid beyond the last page. */
async function sendPage(
  input: PageInput,
  deps: Deps,
  index: number,
  choose: ImageOptions | ((mediaType: string) => ImageOptions),
) {
  const { params, viewer, request } = input
  const file = await deps.openBooks.find(viewer, params.id)
  const hasPages = file.format !== null && file.pageCount > 0
  if (index < 0 || (hasPages && index >= file.pageCount))
    throw new Invalid(`Page number does not exist: the book has ${file.pageCount} pages`)
  const book = requirePage(file, index)
  const isListed = typeof choose === 'function' || isReflowable(book.format)
  const stored = isListed && book.pages ? unpackPages(book.pages)[index] : null
  // Text is also counted in pages, but has no images of them.
  if (isReflowable(book.format) && !stored) throw new NotFound('The book has no page images')
  const options = typeof choose === 'function' ? choose(stored?.mediaType ?? '') : choose
  const lastModified = new Date(book.modifiedMs).toUTCString()
  if (isSameDate(request, lastModified))
    return revalidated(respond(304, emptyBody(request)), lastModified)
  const response = await pageResponse(input, deps, { book, index, options, maxAgeSeconds: 3600 })
  return revalidated(response, lastModified)
}

/** Requires exactly that date, because a file may be replaced by an older one. */
const isSameDate = ({ headers }: FastifyRequest, lastModified: string) =>
  headers['if-none-match'] === undefined && headers['if-modified-since'] === lastModified
