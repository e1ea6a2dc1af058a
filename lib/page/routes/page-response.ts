// Page image responses, shared by the REST API and the OPDS catalogs, and the image types that a client accepts.
import { NotFound, Unreadable } from '../../base/errors.ts'
import type { BookFile, OpenBook } from '../../catalog/book/book-file.ts'
import type { Deps } from '../../http/deps.ts'
import { whenClosed } from '../../http/exchange.ts'
import type { Input } from '../../http/route.ts'
import type { FormatName } from '../../media/format/formats.ts'
import { pageEtag } from '../etag.ts'
import type { ImageOptions } from '../variant.ts'
import { imageResponse, notModified } from './image-response.ts'

type ReadableBook = OpenBook & { format: FormatName }
export type PageRequest = {
  book: ReadableBook
  /** From 0. */
  index: number
  options: ImageOptions
  maxAgeSeconds: number
}
export type PageInput = Pick<
  Input<'auth', never, never, never>,
  'request' | 'reply' | 'signal' | 'viewer'
>

/** Throws NotFound if there is no page at `index` (from 0), Unreadable if the file is known to be broken. */
export function requirePage<T extends BookFile>(
  book: T,
  index: number,
): T & { format: FormatName } {
  const { format, errorCode, errorMessage } = book
  if (book.isMissing) throw new NotFound('The file of the book is missing')
  if (errorCode !== null && book.pageCount === 0)
    throw new Unreadable(errorMessage ?? 'The file cannot be read', errorCode)
  if (format === null || index >= book.pageCount) throw new NotFound('Page not found')
  return { ...book, format }
}

/** The page image, or 304. Throws the errors of `pages.image`. */
export async function pageResponse(
  { request, reply, signal, viewer }: PageInput,
  { pages }: Pick<Deps, 'pages'>,
  { book, index, options, maxAgeSeconds }: PageRequest,
) {
  const caching = { etag: pageEtag(book, index, options), maxAgeSeconds }
  const fresh = notModified(request, caching)
  if (fresh) return fresh
  const image = await pages.image(book, index, {
    ...options,
    client: { accountId: viewer.accountId, signal },
  })
  whenClosed(reply, image.release)
  return imageResponse(request, { ...caching, ...image })
}

const wildcards = new Set(['*/*', 'image/*', '*'])

/** The listed media types without parameters, and without excluded ones (`q=0`). */
export function acceptedTypes(accept: string): Set<string> {
  const entries = accept.split(',').map(entry => entry.trim().toLowerCase())
  return new Set(
    entries
      .filter(entry => !/;\s*q=0(?:\.0*)?\s*$/.test(entry))
      .map(entry => entry.split(';', 1)[0]!.trim()),
  )
}

/** Whether any image may be sent: there is no header, or it has a wildcard. */
export function acceptsAnyImage(accept: string | undefined): boolean {
  if (!accept) return true
  return !acceptedTypes(accept).isDisjointFrom(wildcards)
}

/** The format to convert an image of that type to; null if it is accepted unchanged. */
export function acceptedFormat(
  accept: string | undefined,
  mediaType: string,
): 'jpeg' | 'png' | null {
  const types = acceptedTypes(accept ?? '')
  if (types.has(mediaType)) return null
  return types.has('image/png') && !types.has('image/jpeg') ? 'png' : 'jpeg'
}
