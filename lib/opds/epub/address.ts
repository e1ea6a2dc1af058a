// Where the resources of EPUBs are.
import type { Links } from '../links.ts'

/** The addresses of the resources of a book by their names, in the tree of `links`. */
export function resourceAddresses(bookId: string, links: Links): (name: string) => string {
  const root = links.to(`/books/${bookId}/resource/`)
  // Slashes stay: what a text refers to is found beside it.
  return name => root + encodeURIComponent(name.toWellFormed()).replaceAll('%2F', '/')
}
