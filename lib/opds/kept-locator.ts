// Places that reading apps wrote, as they are kept: an app names a resource by the address under which
// it was given, with the host, the tree and perhaps the API key by which it came. Another app, or a
// weaker key, is to be given its own.
import { keyWord } from '../auth/credential.ts'
import type { Links } from './links.ts'
import { enteredTree } from './tree.ts'

type Named = { href: string }

/** With addresses of ours as paths below the root of a tree of OPDS 2.0: `/books/ID/pages/2`. */
export const keptLocator = <T extends Named>(locator: T): T => ({
  ...locator,
  href: pathBelow(locator.href) ?? written(locator.href),
})

/** With those paths, and what was kept as an address of ours, in the tree of `links`. */
export function shownLocator<T extends Named>(locator: T, links: Links): T {
  const path = pathBelow(locator.href)
  return path === null ? locator : { ...locator, href: links.to(path) }
}

const ofBook = /^\/books\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?=[/?#]|$)/i

/** Null for what is no address of ours, on whatever host. */
function pathBelow(href: string): string | null {
  if (ofBook.test(href)) return written(href)
  const path = href.replace(/[?#].*$/s, '')
  // Behind the host and what stands before the trees on it.
  for (let at = path.indexOf('/opds'); at >= 0; at = path.indexOf('/opds', at + 1)) {
    const tree = enteredTree(path.slice(at))
    if (tree === null) continue
    const below = href.slice(at + tree.at.length)
    if (ofBook.test(below)) return written(tree.version === 1 ? fromOne(below) : below)
  }
  return null
}

/** Page streaming counts from 0. */
const fromOne = (path: string) =>
  path.replace(
    /^(\/books\/[^/]+\/pages\/)(\d{1,9})/,
    (_, start, page) => start + (Number(page) + 1),
  )

/** As a URI reference: what may not stand in one (RFC 3986 §2), percent-encoded. */
const written = (href: string) =>
  href
    .toWellFormed()
    .replace(/[^\w\-.~:/?#[\]@!$&'()*+,;=%]|%(?![\da-f]{2})/giu, encodeURIComponent)

const slash = '(?:/|%2F)'
const keyInPath = new RegExp(`(opds)${slash}k${slash}(?:(?!%2F)[^/?#"\\\\\\s])+`, 'gi')
const key = new RegExp(`${keyWord}[\\da-f]{16}_[\\da-f]{32,128}`, 'gi')

/** A copy without API keys, in whatever an app has put them. */
export function withoutKeys<T extends object>(said: T): T {
  return JSON.parse(JSON.stringify(said).replace(keyInPath, '$1').replace(key, 'key'))
}
