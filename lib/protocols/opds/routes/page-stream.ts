// Page images for OPDS apps. OPDS-PSE 1.2 has 0-based pages and one media type for all pages of a book; OPDS 2.0
// manifests have 1-based pages and a media type for each page.
import { recordsReading } from '../../../accounts/permission.ts'
import { NotFound, Unreadable } from '../../../base/errors.ts'
import { maybe, record, Type } from '../../../base/schema.ts'
import type { OpenBook } from '../../../catalog/book/book-file.ts'
import { missingPermission } from '../../../http/authorize.ts'
import { deviceOf } from '../../../http/client/device.ts'
import type { Deps } from '../../../http/deps.ts'
import { whenClosed } from '../../../http/exchange.ts'
import { BookId } from '../../../http/params.ts'
import { type Input, route } from '../../../http/route.ts'
import { imageResponse, imageResponses } from '../../../page/routes/image-response.ts'
import {
  type PageInput,
  type PageRequest,
  pageResponse,
  requirePage,
} from '../../../page/routes/page-response.ts'
import type { ImageOptions } from '../../../page/variant.ts'
import { streamMediaType } from '../../publication/publication.ts'
import { trackFetch } from '../stream-progress.ts'
import { inCatalog } from './protocol.ts'

const maxAgeSeconds = 86_400
const maxPixels = 4096
const maxPageNumber = 2_147_483_647

// Strings, because some apps leave the placeholder `{maxWidth}` of the feed in the URL; it is ignored.
const query = record({
  width: maybe(Type.String({ description: 'Maximum width in pixels, at most 4096.' })),
  height: maybe(Type.String({ description: 'Maximum height in pixels, at most 4096.' })),
  format: maybe(
    Type.String({ description: 'Image format: `jpeg`; with OPDS 2.0 also `png` and `webp`.' }),
  ),
})

const pageParams = (first: 0 | 1) =>
  record({
    ...BookId.properties,
    page: Type.Integer({
      minimum: first,
      maximum: maxPageNumber,
      description: `Page number, starting at ${first}.`,
    }),
  })

const common = {
  ...inCatalog,
  permission: 'PagesRead',
  cookie: true,
  bucket: 'images',
  query,
  responses: imageResponses,
} as const

export const pageRoutes = [
  route('GET /opds/v1/books/{id}/pages/{page}', {
    ...common,
    operationId: 'getOpds1Page',
    summary: 'Get the image of a page (OPDS-PSE)',
    description:
      'Pages count from 0. All pages have the media type of the feed; they are scaled down to fit the width and height, never enlarged. Invalid sizes are ignored. Reading progress is updated only for users who set the preference `opds.stream_progress` to true.',
    params: pageParams(0),
    async handle(input, deps) {
      const { id, page: index } = input.params
      const book = requireStreamable(await deps.openBooks.find(input.viewer, id), index)
      const format = input.query.format === 'jpeg' ? 'jpeg' : book.streamFormat
      const options = { ...sizeOf(input.query), format }
      if (book.updatesProgress) recordProgress(input, deps, { book, page: index })
      return await sendPage(input, deps, { book, index, options, maxAgeSeconds })
    },
  }),
  route('GET /opds/v2/books/{id}/pages/{page}', {
    ...common,
    operationId: 'getOpds2Page',
    summary: 'Get the image of a page (OPDS 2.0)',
    description:
      'Pages count from 1. Returns the original file unless a size or format is requested. Invalid sizes and formats are ignored.',
    params: pageParams(1),
    async handle(input, deps) {
      const { id, page } = input.params
      const book = requireStreamable(await deps.openBooks.find(input.viewer, id), page - 1)
      const { format } = input.query
      const options = { ...sizeOf(input.query), ...(isOutputFormat(format) ? { format } : {}) }
      return await sendPage(input, deps, { book, index: page - 1, options, maxAgeSeconds })
    },
  }),
]

/** The page, or a placeholder if it is damaged: apps close a book at the first error, but its other pages may be intact. */
async function sendPage(input: PageInput, deps: Deps, page: PageRequest) {
  try {
    return await pageResponse(input, deps, page)
  } catch (error) {
    // An I/O error may be transient.
    if (!(error instanceof Unreadable) || error.code === 'io') throw error
    const placeholder = await deps.thumbnails.placeholderAs(page.options.format)
    const { bytes: body, mediaType, etag } = placeholder
    return imageResponse(input.request, {
      body,
      length: body.length,
      mediaType,
      etag,
      maxAgeSeconds: 0,
    })
  }
}

const progressPermission = { any: recordsReading } as const

type FetchedPage = { book: OpenBook; page: number }
type FetchInput = Pick<Input<'auth', never, never, never>, 'request' | 'reply' | 'identity'>

/** Updates the reading progress once the page was sent. Errors do not affect the response. */
function recordProgress(input: FetchInput, deps: Deps, { book, page }: FetchedPage) {
  const { request, reply, identity } = input
  if (request.method !== 'GET' || missingPermission(identity, progressPermission) !== null) return
  const fetched = {
    ...{ viewer: identity.viewer, bookId: book.id, pageCount: book.pageCount, page },
    device: deviceOf(request, identity),
  }
  const finish = trackFetch(deps, fetched, err =>
    deps.log.warn({ err }, 'reading progress of a streamed page not stored'),
  )
  whenClosed(reply, () => finish(reply.raw.writableFinished && reply.statusCode < 400))
}

const isOutputFormat = (format: string | undefined): format is 'jpeg' | 'png' | 'webp' =>
  format === 'jpeg' || format === 'png' || format === 'webp'

/** The book with the format of its pages. Throws NotFound, also for a text without pages, and Unreadable. */
function requireStreamable(streamed: OpenBook, index: number) {
  const book = requirePage(streamed, index)
  const type = streamMediaType(book, book.pageType)
  if (type === null) throw new NotFound('The book has no pages')
  return { ...book, streamFormat: type.slice('image/'.length) as 'jpeg' | 'png' | 'gif' }
}

function sizeOf(query: {
  width?: string
  height?: string
}): Pick<ImageOptions, 'width' | 'height'> {
  const width = parsePixels(query.width)
  const height = parsePixels(query.height)
  return { ...(width ? { width } : {}), ...(height ? { height } : {}) }
}

/** Undefined if the size is invalid. */
function parsePixels(text = ''): number | undefined {
  if (!/^\d{1,10}(?:\.\d{0,10})?$/.test(text)) return undefined
  return Math.min(maxPixels, Math.floor(Number(text))) || undefined
}
