// Stored form of locators written by reading apps. An app identifies a resource by the URL it was given, which
// includes the host, the tree and perhaps an API key; another app, or a weaker key, must get its own URLs.
import { apiKeyPrefix } from '../../accounts/credential.ts'
import { parseCatalogPath } from './catalog-path.ts'
import type { Links } from './links.ts'

type WithHref = { href: string }

/** Replaces URLs of this server with paths relative to an OPDS 2.0 root: `/books/ID/pages/2`. */
export const toStoredLocator = <T extends WithHref>(locator: T): T => ({
  ...locator,
  href: relativePath(locator.href) ?? encodeReference(locator.href),
})

/** Replaces those paths, and stored URLs of this server, with URLs in the tree of `links`. */
export function fromStoredLocator<T extends WithHref>(locator: T, links: Links): T {
  const path = relativePath(locator.href)
  return path === null ? locator : { ...locator, href: links.to(path) }
}

// A path in the Komga-compatible API; its pages are also 1-based.
const compatiblePath = /\/api\/v1(\/books\/.*)$/s
const bookPath = /^\/books\/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?=[/?#]|$)/i

/** Null for a URL that does not belong to this server, on any host. */
function relativePath(href: string): string | null {
  if (bookPath.test(href)) return encodeReference(href)
  const path = href.replace(/[?#].*$/s, '')
  // After the host and a path prefix of a reverse proxy.
  for (let at = path.indexOf('/opds'); at >= 0; at = path.indexOf('/opds', at + 1)) {
    const catalog = parseCatalogPath(path.slice(at))
    if (catalog === null) continue
    const rest = href.slice(at + catalog.prefix.length)
    if (bookPath.test(rest))
      return encodeReference(catalog.version === 1 ? countFromOne(rest) : rest)
  }
  const rest = compatiblePath.exec(href)?.[1]
  return rest !== undefined && bookPath.test(rest) ? encodeReference(rest) : null
}

/** Page numbers are 0-based in OPDS 1.2 page streaming, 1-based in OPDS 2.0. */
const countFromOne = (path: string) =>
  path.replace(
    /^(\/books\/[^/]+\/pages\/)(\d{1,9})/,
    (_, start, page) => start + (Number(page) + 1),
  )

/** Percent-encodes what is not allowed in a URI reference (RFC 3986 §2). */
const encodeReference = (href: string) =>
  href
    .toWellFormed()
    .replace(/[^\w\-.~:/?#[\]@!$&'()*+,;=%]|%(?![\da-f]{2})/giu, encodeURIComponent)

const slash = '(?:/|%2F)'
const keyInPath = new RegExp(`(opds)${slash}k${slash}(?:(?!%2F)[^/?#"\\\\\\s])+`, 'gi')
const apiKey = new RegExp(`${apiKeyPrefix}[\\da-f]{16}_[\\da-f]{32,128}`, 'gi')

/** A copy without API keys, wherever an app has put them. */
export function withoutApiKeys<T extends object>(value: T): T {
  return JSON.parse(JSON.stringify(value).replace(keyInPath, '$1').replace(apiKey, 'key'))
}
