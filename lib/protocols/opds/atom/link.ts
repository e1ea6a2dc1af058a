// Atom links, their media types and permanent ids (OPDS 1.2 §5, §7), and the XML namespaces of the documents.
import { hash } from 'node:crypto'
import { type Attributes, element, removeInvalidChars, type Xml } from '../../../base/xml-writer.ts'
import {
  coverPath,
  formatQuery,
  type Links,
  type Query,
  thumbnailPath,
} from '../../publication/links.ts'
import type { FeedKind } from '../feed.ts'

// A random UUID. If it changed, every client would consider all entries new.
const namespace = Buffer.from('8f3e09dfede74639a1fa9882e16bca49', 'hex')

/** Id of a book, a series or a library. */
export const entityId = (id: string): string => `urn:uuid:${id}`

/** Id of a feed: its entity's id if it represents just that, otherwise derived from path and query. */
export function feedId({ path, query = {}, id }: { path: string; query?: Query; id?: string }) {
  const sorted = Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1))
  const queryText = formatQuery(Object.fromEntries(sorted))
  if (id !== undefined && queryText === '' && path.endsWith(`/${id}`)) return entityId(id)
  return `urn:uuid:${uuidV5(`opds:v1:${path}${queryText}`)}`
}

/** RFC 9562 §5.5. */
function uuidV5(name: string): string {
  const bytes = Buffer.from(
    hash('sha1', Buffer.concat([namespace, Buffer.from(name)]), 'hex'),
    'hex',
  )
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex', 0, 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

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
