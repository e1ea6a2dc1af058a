// Atom links and their media types (OPDS 1.2 §5, §7), and the XML namespaces of the documents.

import { type Attributes, element, removeInvalidChars, type Xml } from '../../../base/xml-writer.ts'
import { coverPath, type Links, thumbnailPath } from '../../publication/links.ts'
import type { FeedKind } from '../feed.ts'

/** Declared on every root: strict parsers reject undeclared prefixes, and KOReader and older apps recognize the prefix `pse` itself. */
export const namespaces = {
  xmlns: 'http://www.w3.org/2005/Atom',
  'xmlns:dc': 'http://purl.org/dc/terms/',
  'xmlns:opds': 'http://opds-spec.org/2010/catalog',
  'xmlns:opensearch': 'http://a9.com/-/spec/opensearch/1.1/',
  'xmlns:pse': 'http://vaemendis.net/opds-pse/ns',
  'xmlns:thr': 'http://purl.org/syndication/thread/1.0',
}

export const feedType = (kind: FeedKind) => `application/atom+xml;profile=opds-catalog;kind=${kind}`
export const entryType = 'application/atom+xml;type=entry;profile=opds-catalog'
export const searchType = 'application/opensearchdescription+xml'

export const link = (rel: string, href: string, attributes: Attributes): Xml =>
  element('link', { rel, href, ...attributes })

/**
 * A link title, prefixed with its label if KOReader would lose part of it: its scanner (luxl) starts a
 * value at the first ASCII letter, digit, dot or slash, and fails without any.
 */
export const linkTitle = (label: string, title: string): string =>
  /^[A-Za-z\d./]/.test(removeInvalidChars(title)) ? title : `${label}: ${title}`

/** Links to the cover and thumbnail of an entity (`/books/ID`). */
export const covers = (owner: string, links: Links): Xml[] => [
  link('http://opds-spec.org/image', links.to(coverPath(owner)), { type: 'image/jpeg' }),
  link('http://opds-spec.org/image/thumbnail', links.to(thumbnailPath(owner)), {
    type: 'image/jpeg',
  }),
]
