// Text of books: words of PDF pages with their boxes, searches in a PDF, and the table of contents of any book.
import type { FastifyRequest } from 'fastify'
import type { Viewer } from '../../accounts/viewer.ts'
import { Invalid, NotFound } from '../../base/errors.ts'
import {
  bytes,
  component,
  count,
  ErrorBody,
  list,
  maybe,
  name,
  nullable,
  record,
  Type,
} from '../../base/schema.ts'
import type { BookFile } from '../../catalog/book/book-file.ts'
import { strongEtag } from '../../download/range.ts'
import type { Deps } from '../../http/deps.ts'
import { whenClosed } from '../../http/exchange.ts'
import { BookId } from '../../http/params.ts'
import { route } from '../../http/route.ts'
import type { EpubLink } from '../../media/format/epub/navigation.ts'
import { isReflowable, isRendered } from '../../media/format/formats.ts'
import { textKey } from '../text.ts'
import { imageResponse, notModified } from './image-response.ts'
import { requirePage } from './page-response.ts'

const permission = { all: ['BooksRead'], any: ['PagesRead'] } as const

const fraction = (description: string) => Type.Number({ description })
const box = {
  x: fraction('Left edge, as a fraction of the width of the page.'),
  y: fraction('Upper edge, as a fraction of the height of the page.'),
  width: fraction('As a fraction of the width of the page.'),
  height: fraction('As a fraction of the height of the page.'),
}
const PageText = component('PageText', {
  lines: list(
    component('PageTextLine', {
      words: list(component('PageTextWord', { text: Type.String(), ...box })),
    }),
    { description: 'In reading order. Words of a line are separated by spaces.' },
  ),
  isTruncated: Type.Boolean({ description: 'Whether the page has more than 10,000 words.' }),
})

const TextMatch = component('TextMatch', {
  pageNumber: Type.Integer({ minimum: 1 }),
  before: Type.String({ description: 'Some characters before the match.' }),
  text: Type.String(),
  after: Type.String({ description: 'Some characters after the match.' }),
  boxes: list(component('PageBox', box), { description: 'One for each line.' }),
})

const ContentsEntry = component('ContentsEntry', {
  title: Type.String(),
  depth: count({ description: '0 for the entries at the top.' }),
  pageNumber: nullable(Type.Integer({ description: 'For PDF; null if it leads to no page.' })),
  href: nullable(
    Type.String({ description: 'For EPUB: path in the archive, with the fragment after `#`.' }),
  ),
})

const maxAgeSeconds = 3600
const maxEntries = 5_000

type BookInput = { viewer: Viewer; signal: AbortSignal; request: FastifyRequest }
const clientOf = ({ viewer, signal }: BookInput) => ({ accountId: viewer.accountId, signal })

export const bookText = [
  route('GET /books/{id}/pages/{page_number}/text', {
    operationId: 'getPageText',
    permission,
    // One page.
    cost: 'record',
    bucket: 'images',
    summary: 'Get the words of a PDF page with their boxes',
    description:
      'No words for a page that consists of an image. 404 for books of other formats, whose pages are images.',
    params: record({
      ...BookId.properties,
      page_number: Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        description: 'Page number, starting at 1.',
      }),
    }),
    responses: {
      200: { ...bytes('application/json'), schema: PageText },
      304: null,
      422: ErrorBody,
      503: ErrorBody,
    },
    async handle({ params, ...input }, deps) {
      const index = params.page_number - 1
      const book = requireText(await deps.openBooks.find(input.viewer, params.id), index)
      const caching = { etag: strongEtag(textKey(book, index)), maxAgeSeconds }
      const fresh = notModified(input.request, caching)
      if (fresh) return fresh
      const text = await deps.pages.texts.page(book, index, clientOf(input))
      whenClosed(input.reply, text.release)
      return imageResponse(input.request, { ...text, ...caching, mediaType: 'application/json' })
    },
  }),
  route('GET /books/{id}/text', {
    operationId: 'searchBookText',
    permission,
    // Bounded by time: a response has some of the pages.
    cost: 'record',
    bucket: 'images',
    summary: 'Search the text of a PDF',
    description:
      'Ignores case and accents. A response has the matches on some of the pages: request `nextPage` until it is null. 404 for books of other formats.',
    params: BookId,
    query: record({
      query: name(200, { description: 'Words as they follow each other in the text.' }),
      page: maybe(
        Type.Integer({
          minimum: 1,
          maximum: 2_147_483_647,
          default: 1,
          description: 'The page to begin with.',
        }),
      ),
    }),
    responses: {
      200: component('TextMatches', {
        matches: list(TextMatch),
        nextPage: nullable(
          Type.Integer({ description: 'Where the search goes on; null at the end of the book.' }),
        ),
      }),
      422: ErrorBody,
      503: ErrorBody,
    },
    async handle({ params, query: { query, page = 1 }, ...input }, deps) {
      if (!query.isWellFormed()) throw new Invalid('query/query is not valid Unicode')
      const book = requireText(await deps.openBooks.find(input.viewer, params.id), 0)
      const search = { query, from: page - 1 }
      const { matches, next } = await deps.pages.texts.search(book, search, clientOf(input))
      return {
        matches: matches.map(({ index, ...match }) => ({ ...match, pageNumber: index + 1 })),
        nextPage: next === null ? null : next + 1,
      }
    },
  }),
  route('GET /books/{id}/contents', {
    operationId: 'getBookContents',
    permission,
    // Reads one file.
    cost: 'record',
    bucket: 'images',
    summary: 'Get the table of contents of a book',
    description: `Of a PDF or an EPUB, up to ${maxEntries} entries in the order of the book; empty for other formats.`,
    params: BookId,
    responses: {
      200: component('BookContents', { data: list(ContentsEntry) }),
      422: ErrorBody,
      503: ErrorBody,
    },
    async handle({ params, ...input }, deps) {
      const book = requirePage(await deps.openBooks.find(input.viewer, params.id), 0)
      return { data: (await contentsOf(deps, book, input)).slice(0, maxEntries) }
    },
  }),
]

/** Throws NotFound for a book whose pages have no text. */
function requireText<T extends BookFile>(found: T, index: number) {
  const book = requirePage(found, index)
  if (!isRendered(book.format))
    throw new NotFound('The pages of the book are images: only a PDF has text')
  return book
}

type OpenBook = ReturnType<typeof requireText<Awaited<ReturnType<Deps['openBooks']['find']>>>>

async function contentsOf({ pages }: Deps, book: OpenBook, input: BookInput) {
  if (isReflowable(book.format)) {
    const { toc, resources } = await pages.epubs.contents(book, clientOf(input))
    return [...epubEntries(toc, resources, 0)]
  }
  if (!isRendered(book.format)) return []
  const entries = await pages.texts.contents(book, clientOf(input))
  return entries.map(({ title, depth, index }) => ({
    title,
    depth,
    pageNumber: index === null ? null : index + 1,
    href: null,
  }))
}

function* epubEntries(
  links: readonly EpubLink[],
  resources: readonly { name: string }[],
  depth: number,
): Generator<{ title: string; depth: number; pageNumber: null; href: string }> {
  for (const { title, resource, fragment, children } of links) {
    const path = resources[resource]?.name.split('/').map(encodeURIComponent).join('/')
    const href = `${path}${fragment && `#${encodeURIComponent(fragment)}`}`
    if (path !== undefined) yield { title, depth, pageNumber: null, href }
    yield* epubEntries(children, resources, depth + 1)
  }
}
