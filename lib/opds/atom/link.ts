// Links and their media types (OPDS 1.2 §5, §7), and the namespaces that documents declare.
import type { Kind } from '../feed.ts'
import type { Links } from '../links.ts'
import { coverPath, thumbnailPath } from '../naming.ts'
import { type Attributes, clean, element, type Xml } from './xml.ts'

/** All of them on every root: strict parsers refuse a document for one prefix, and KOReader and older apps know `pse` by that word. */
export const namespaces = {
  xmlns: 'http://www.w3.org/2005/Atom',
  'xmlns:dc': 'http://purl.org/dc/terms/',
  'xmlns:opds': 'http://opds-spec.org/2010/catalog',
  'xmlns:opensearch': 'http://a9.com/-/spec/opensearch/1.1/',
  'xmlns:pse': 'http://vaemendis.net/opds-pse/ns',
  'xmlns:thr': 'http://purl.org/syndication/thread/1.0',
}

export const feedType = (kind: Kind) => `application/atom+xml;profile=opds-catalog;kind=${kind}`
export const entryType = 'application/atom+xml;type=entry;profile=opds-catalog'
export const searchType = 'application/opensearchdescription+xml'

export const link = (rel: string, href: string, more: Attributes): Xml =>
  element('link', { rel, href, ...more })

/**
 * Words of readers as a title of a link, after what they are where KOReader would lose some: its scanner
 * (luxl) begins a value at the first ASCII letter, digit, point or slash, and breaks down without any.
 */
export const linkTitle = (what: string, words: string): string =>
  /^[A-Za-z\d./]/.test(clean(words)) ? words : `${what}: ${words}`

/** The cover of what is at `owner` (`/books/ID`), large and small. */
export const covers = (owner: string, links: Links): Xml[] => [
  link('http://opds-spec.org/image', links.to(coverPath(owner)), { type: 'image/jpeg' }),
  link('http://opds-spec.org/image/thumbnail', links.to(thumbnailPath(owner)), {
    type: 'image/jpeg',
  }),
]
