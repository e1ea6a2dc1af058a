// Pages of books: their list, and their images as they are or made to measure.
import { hash } from 'node:crypto'
import { seesBook } from '../../auth/viewer.ts'
import { bookFile } from '../../catalog/book/book-file.ts'
import { NotFound } from '../../errors.ts'
import { route } from '../../http/route.ts'
import { unpackPages } from '../../page/page-list.ts'
import {
  count,
  Id,
  list,
  maybe,
  nullable,
  oneOf,
  record,
  type Static,
  Type,
  uuid,
} from '../../schema.ts'
import { imageResponses } from './image.ts'
import { readable, sendPage } from './page-image.ts'

const Page = record(
  {
    id: uuid(),
    bookId: uuid(),
    pageNumber: Type.Integer({ minimum: 1 }),
    fileName: Type.String({ description: 'In the book.' }),
    fileFormat: Type.String({ description: '`jpeg`, `png`, `webp` and so on.' }),
    fileSize: count({ description: 'Bytes.' }),
    width: nullable(Type.Integer({ description: 'Pixels.' })),
    height: nullable(Type.Integer()),
    isDouble: Type.Boolean({ description: 'Two pages side by side.' }),
    type: nullable(
      Type.String({ description: 'What the book says it is: `FrontCover`, `Story`.' }),
    ),
  },
  { component: 'Page' },
)

const maxAgeSeconds = 3600
const side = (description: string) =>
  maybe(Type.Integer({ minimum: 1, maximum: 10_000, description }))

export const pages = [
  route({
    method: 'GET',
    path: '/books/{id}/pages',
    permission: 'PagesRead',
    summary: 'The pages of a book',
    description: 'In reading order; none until the book was analysed.',
    params: Id,
    responses: { 200: list(Page) },
    async handle({ params, viewer }, { sql }) {
      const [row] = await sql<{ pages: Uint8Array | null }[]>`
        select p.pages from book b
        join series s on s.id = b.series_id
        left join page_list p on p.book_id = b.id
        where b.id = ${params.id} and ${seesBook(sql, viewer)}`
      if (!row) throw new NotFound('Book not found')
      return row.pages === null ? [] : pagesOf(params.id, row.pages)
    },
  }),
  route({
    method: 'GET',
    path: '/books/{book_id}/pages/{page_number}',
    permission: 'PagesRead',
    cookie: true,
    bucket: 'images',
    summary: 'The image of a page',
    description:
      'The original bytes, unless a size or a format is asked for. Images are made to fit into width and height, never enlarged. Fetching a page moves no reading position. 422 when the file cannot be read; `details.code` says why.',
    params: record({
      book_id: uuid(),
      page_number: Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        description: 'From 1.',
      }),
    }),
    query: record({
      width: side('Most pixels across.'),
      height: side('Most pixels down.'),
      format: maybe(oneOf(['jpeg', 'png', 'webp'])),
    }),
    responses: imageResponses,
    async handle(input, deps) {
      const { params, query, viewer } = input
      const index = params.page_number - 1
      const book = readable(await bookFile(deps.sql, viewer, params.book_id), index)
      const { width, height, format } = query
      const asked = {
        ...(width === undefined ? {} : { width }),
        ...(height === undefined ? {} : { height }),
        ...(format === undefined ? {} : { format }),
      }
      return await sendPage(input, deps, { book, index, asked, maxAgeSeconds })
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

/** The same page has the same id: a UUID of version 8 (RFC 9562) from the book's and the number. */
function pageId(bookId: string, pageNumber: number): string {
  const hex = hash('sha256', `${bookId} ${pageNumber}`, 'hex')
  const variant = '89ab'[Number.parseInt(hex[16]!, 16) % 4]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
