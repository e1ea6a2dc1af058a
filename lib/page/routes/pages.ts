// Book pages: list and images, original or resized.
import { hash } from 'node:crypto'
import { visibleBook } from '../../accounts/viewer.ts'
import { NotFound } from '../../base/errors.ts'
import {
  component,
  count,
  maybe,
  nullable,
  oneOf,
  record,
  type Static,
  Type,
  uuid,
} from '../../base/schema.ts'
import { paged, shortListQuery, shortListResponse } from '../../http/pagination.ts'
import { BookId } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import { unpackPages } from '../page-list.ts'
import { imageResponses } from './image-response.ts'
import { acceptedTypes, type PageInput, pageResponse, requirePage } from './page-response.ts'

const Page = component('Page', {
  id: uuid(),
  bookId: uuid(),
  pageNumber: Type.Integer({ minimum: 1 }),
  fileName: Type.String({ description: 'Path in the archive.' }),
  fileFormat: Type.String({ description: 'Image format, for example `jpeg`, `png` or `webp`.' }),
  fileSize: count({ description: 'Size in bytes.' }),
  width: nullable(Type.Integer({ description: 'Width in pixels.' })),
  height: nullable(Type.Integer({ description: 'Height in pixels.' })),
  isDouble: Type.Boolean({ description: 'Whether the image is a two-page spread.' }),
  type: nullable(
    Type.String({
      description: 'Page type from the metadata, for example `FrontCover` or `Story`.',
    }),
  ),
})

const maxAgeSeconds = 3600
const sideLength = (description: string) =>
  maybe(Type.Integer({ minimum: 1, maximum: 10_000, description }))

export const pages = [
  route('GET /books/{id}/pages', {
    operationId: 'listPages',
    permission: 'PagesRead',
    summary: 'List pages of a book',
    description: 'In reading order; empty until the book has been analyzed.',
    params: BookId,
    query: record(shortListQuery),
    responses: { 200: paged(Page) },
    async handle({ params, viewer, ...input }, { sql }) {
      const [row] = await sql<{ pages: Uint8Array | null }[]>`
        select p.pages from book b
        join series s on s.id = b.series_id
        left join book_pages p on p.book_id = b.id
        where b.id = ${params.id} and ${visibleBook(sql, viewer)}`
      if (!row) throw new NotFound('Book not found')
      return shortListResponse(input, row.pages === null ? [] : pagesOf(params.id, row.pages))
    },
  }),
  route('GET /books/{book_id}/pages/{page_number}', {
    operationId: 'getPageImage',
    permission: 'PagesRead',
    cookie: true,
    bucket: 'images',
    summary: 'Get the image of a page',
    description:
      'The original file, unless a size or a format is requested. Images are scaled down to fit into width and height, never enlarged; WebP of more than 16,383 pixels becomes JPEG. Without a format, an image that has to be scaled becomes WebP if `Accept` lists `image/webp`, as browsers do; an image that fits and an animation are sent unchanged. A damaged page is reencoded. Does not change reading progress. 422 if the page cannot be read or decoded, with the reason in `details.code`.',
    params: record({
      book_id: uuid({ description: 'Book id.' }),
      page_number: Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        description: 'Page number, starting at 1.',
      }),
    }),
    query: record({
      width: sideLength('Maximum width in pixels.'),
      height: sideLength('Maximum height in pixels.'),
      format: maybe(
        oneOf(['jpeg', 'png', 'webp'], { description: 'Convert the image to this format.' }),
      ),
    }),
    responses: imageResponses,
    async handle(input, deps) {
      const { params, query, viewer } = input
      const index = params.page_number - 1
      const book = requirePage(await deps.openBooks.find(viewer, params.book_id), index)
      const { width, height, format } = query
      const options = {
        ...(width === undefined ? {} : { width }),
        ...(height === undefined ? {} : { height }),
        ...(format === undefined ? preferenceOf(input) : { format }),
      }
      return await pageResponse(input, deps, { book, index, options, maxAgeSeconds })
    },
  }),
]

function pagesOf(bookId: string, packed: Uint8Array): Static<typeof Page>[] {
  return unpackPages(packed).map((page, i) => ({
    id: pageId(bookId, i + 1),
    bookId,
    pageNumber: i + 1,
    fileName: page.name,
    fileFormat: page.mediaType.replace(/^image\/|\+xml$/g, ''),
    fileSize: page.bytes,
    width: page.width,
    height: page.height,
    isDouble: page.isDouble,
    type: page.type,
  }))
}

/** A stable page id: a UUID version 8 (RFC 9562) from the book id and the page number. */
function pageId(bookId: string, pageNumber: number): string {
  const hex = hash('sha256', `${bookId} ${pageNumber}`, 'hex')
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) % 4]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

// WebP for browsers, which list it in Accept; a wildcard does not guarantee support.
function preferenceOf({ request, reply }: PageInput) {
  reply.header('vary', [reply.getHeader('vary'), 'Accept'].filter(Boolean).join(', '))
  const isAccepted = acceptedTypes(request.headers.accept ?? '').has('image/webp')
  return isAccepted ? { preferredFormat: 'webp' as const } : {}
}
