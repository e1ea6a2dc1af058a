// Pages for reading apps. OPDS-PSE 1.2 counts them from 0 and promises one media type for all of a
// book; the manifests of OPDS 2.0 count from 1 and name the type of each.
import { type StreamedBook, streamedBook } from '../../catalog/book/book-file.ts'
import { NotFound, Unreadable } from '../../errors.ts'
import { lacks } from '../../http/authorize.ts'
import type { Deps } from '../../http/deps.ts'
import { type Input, route } from '../../http/route.ts'
import { streamedAs } from '../../opds/publication.ts'
import { followFetch } from '../../opds/stream-progress.ts'
import type { Asked } from '../../page/variant.ts'
import { maybe, record, Type, uuid } from '../../schema.ts'
import { imageAnswer, imageResponses, whenOver } from '../images/image.ts'
import { readable, sendPage } from '../images/page-image.ts'

const maxAgeSeconds = 86_400
const mostPixels = 4096
const mostPages = 2_147_483_647

// Whatever an app leaves in them: `{maxWidth}` as it stands in the feed says nothing, and is no mistake.
const query = record({
  width: maybe(Type.String({ description: 'Most pixels across, at most 4096.' })),
  height: maybe(Type.String({ description: 'Most pixels down, at most 4096.' })),
  format: maybe(Type.String({ description: '`jpeg`; of OPDS 2.0 also `png` and `webp`.' })),
})

const common = {
  method: 'GET',
  atRoot: true,
  permission: 'PagesRead',
  cookie: true,
  bucket: 'images',
  query,
  responses: imageResponses,
} as const

export const pageRoutes = [
  route({
    ...common,
    catalogue: 1,
    path: '/opds/v1/books/{id}/pages/{page}',
    summary: 'The image of a page, as OPDS-PSE asks for it',
    description:
      'Pages count from 0. Every page is of the media type that the feed says, made to fit into width and height, never enlarged; sizes that are none are ignored. Fetching moves the reading position for those alone who set their preference `opds.stream_progress` to true.',
    params: record({ id: uuid(), page: Type.Integer({ minimum: 0, maximum: mostPages }) }),
    async handle(input, deps) {
      const { id, page: index } = input.params
      const book = streamable(await streamedBook(deps.sql, input.viewer, id), index)
      const format = input.query.format === 'jpeg' ? 'jpeg' : book.written
      const asked = { ...sizeOf(input.query), format }
      if (book.movesPlace) follow(input, deps, { book, page: index })
      return await send(input, deps, { book, index, asked, maxAgeSeconds })
    },
  }),
  route({
    ...common,
    catalogue: 2,
    path: '/opds/v2/books/{id}/pages/{page}',
    summary: 'The image of a page, as manifests of OPDS 2.0 name it',
    description:
      'Pages count from 1. The original bytes, unless a size or a format is asked for; sizes and formats that are none are ignored.',
    params: record({ id: uuid(), page: Type.Integer({ minimum: 1, maximum: mostPages }) }),
    async handle(input, deps) {
      const { id, page } = input.params
      const book = streamable(await streamedBook(deps.sql, input.viewer, id), page - 1)
      const { format } = input.query
      const asked = { ...sizeOf(input.query), ...(isWritten(format) ? { format } : {}) }
      return await send(input, deps, { book, index: page - 1, asked, maxAgeSeconds })
    },
  }),
]

type Sent = Parameters<typeof sendPage>

/** The page; for one that is damaged a drawing: apps leave a book at the first error, and it may have hundreds of good pages. */
async function send(input: Sent[0], deps: Deps, page: Sent[2]) {
  try {
    return await sendPage(input, deps, page)
  } catch (error) {
    // What the disk does not give now, it may give later.
    if (!(error instanceof Unreadable) || error.code === 'io') throw error
    const drawing = await deps.thumbnails.drawing(page.asked.format)
    const { bytes: body, mediaType, tag } = drawing
    return imageAnswer(input.request, {
      body,
      length: body.length,
      mediaType,
      tag,
      maxAgeSeconds: 0,
    })
  }
}

const syncing = { any: ['ProgressWrite', 'BooksWrite'] } as const

type Fetched = { book: StreamedBook; page: number }
type Fetching = Pick<Input<'auth', never, never, never>, 'request' | 'reply' | 'identity'>

/** Lets a page that arrives tell where the reader is; whatever comes of that, the page is sent. */
function follow(input: Fetching, { sql, log }: Deps, { book, page }: Fetched) {
  const { request, reply, identity } = input
  if (request.method !== 'GET' || lacks(identity, syncing) !== null) return
  const streaming = { viewer: identity.viewer, bookId: book.id, pageCount: book.pageCount, page }
  const over = followFetch(sql, streaming, err => log.warn({ err }, 'streamed page not noted'))
  whenOver(reply, () => over(reply.raw.writableFinished && reply.statusCode < 400))
}

const isWritten = (format: string | undefined): format is 'jpeg' | 'png' | 'webp' =>
  format === 'jpeg' || format === 'png' || format === 'webp'

/** The book with the format of its pages. Throws NotFound, also for a text that has no pages, and Unreadable. */
function streamable(found: StreamedBook, index: number) {
  const book = readable(found, index)
  const type = streamedAs(book, book.pageType)
  if (type === null) throw new NotFound('The book has no pages')
  return { ...book, written: type.slice('image/'.length) as 'jpeg' | 'png' | 'gif' }
}

function sizeOf(asked: { width?: string; height?: string }): Pick<Asked, 'width' | 'height'> {
  const width = pixels(asked.width)
  const height = pixels(asked.height)
  return { ...(width ? { width } : {}), ...(height ? { height } : {}) }
}

/** Undefined for what is no size. */
function pixels(text = ''): number | undefined {
  if (!/^\d{1,10}(?:\.\d{0,10})?$/.test(text)) return undefined
  return Math.min(mostPixels, Math.floor(Number(text))) || undefined
}
