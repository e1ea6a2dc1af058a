// The answer to whoever asks for the image of a page, under whatever address.
import { type BookFile, packedPages } from '../../catalog/book/book-file.ts'
import { NotFound, Unreadable } from '../../errors.ts'
import type { FormatName } from '../../format/contract.ts'
import type { Deps } from '../../http/deps.ts'
import type { Input } from '../../http/route.ts'
import { pageTag } from '../../page/etag.ts'
import type { Asked } from '../../page/variant.ts'
import { imageAnswer, notModified, whenOver } from './image.ts'

type Readable = BookFile & { format: FormatName }
type Asking = {
  book: Readable
  /** From 0. */
  index: number
  asked: Asked
  maxAgeSeconds: number
}

/** Throws NotFound where there can be no such page (`index` from 0), Unreadable where the file was found to be broken. */
export function readable<T extends BookFile>(book: T, index: number): T & Readable {
  const { format, errorCode, errorMessage } = book
  if (book.isMissing) throw new NotFound('The file of the book is not there')
  if (errorCode !== null && book.pageCount === 0)
    throw new Unreadable(errorMessage ?? 'The file cannot be read', errorCode)
  if (format === null || index >= book.pageCount) throw new NotFound('The book has no such page')
  return { ...book, format }
}

/** The page, or 304. Throws as `pages.image`. */
export async function sendPage(
  input: Pick<Input<'auth', never, never, never>, 'request' | 'reply' | 'signal'>,
  { sql, pages }: Pick<Deps, 'sql' | 'pages'>,
  { book, index, asked, maxAgeSeconds }: Asking,
) {
  const { request, reply } = input
  const caching = { tag: pageTag(book, index, asked), maxAgeSeconds }
  const fresh = notModified(request, caching)
  if (fresh) return fresh
  const whole = { ...book, pages: () => packedPages(sql, book.id) }
  const image = await pages.image(whole, index, { ...asked, signal: input.signal })
  whenOver(reply, image.done)
  return imageAnswer(request, { ...caching, ...image })
}
