// Where the resources of EPUBs are.
import type { Links } from '../links.ts'

/** The address of a resource, in the tree of `links`. */
export function resourceAddress(bookId: string, name: string, links: Links): string {
  // Slashes stay: what a text refers to is found beside it.
  const path = name.toWellFormed().split('/').map(encodeURIComponent).join('/')
  return links.to(`/books/${bookId}/resource/${path}`)
}
