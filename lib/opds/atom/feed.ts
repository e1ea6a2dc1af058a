// A feed as Atom (OPDS 1.2, RFC 4287).
import type { Feed } from '../feed.ts'
import type { Publication } from '../publication.ts'
import type { Writing } from '../writing.ts'

export function atomFeed(feed: Feed, { links, server }: Writing): string {
  return `<feed xmlns="http://www.w3.org/2005/Atom"><title>${feed.title}</title><author><name>${server}</name></author><id>${links.to(feed.path)}</id></feed>`
}

/** The complete entry of a book, as a document of its own. */
export function atomEntry(book: Publication, { links }: Writing): string {
  return `<entry xmlns="http://www.w3.org/2005/Atom"><title>${book.title}</title><id>${links.to(`/books/${book.id}`)}</id></entry>`
}
