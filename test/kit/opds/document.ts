// What a client of either catalogue reads out of a document, for tests that follow it.

export type Link = {
  /** Of the feed, or of one of its items. */
  rels: string[]
  href: string
  /** Media type with its parameters; empty where none is said. */
  type: string
  title: string
  isTemplate: boolean
  /** Items that are said to be where it leads. */
  count: number | null
  /** Of a facet: the name of its group. */
  group: string | null
  isActive: boolean
  /** Bytes. */
  length: number | null
  /** Of a stream of pages. */
  pages: { count: number; lastRead: number | null } | null
}

export type Item = {
  /** As Atom says it; in JSON the address of the item itself. */
  id: string
  title: string
  updated: string | null
  isBook: boolean
  links: Link[]
}

export type Document = {
  version: 1 | 2
  shape: 'feed' | 'entry' | 'search' | 'manifest' | 'other'
  /** As Atom says it; in JSON the address under which it calls itself. */
  id: string
  title: string
  updated: string | null
  links: Link[]
  items: Item[]
  /** Null where it is not paged. */
  paging: { total: number; size: number; page: number } | null
  /** The JSON itself; null for XML. */
  json: any
}

export const rel = (document: Pick<Document, 'links'>, name: string): Link | undefined =>
  document.links.find(link => link.rels.includes(name))

export const rels = {
  facet: 'http://opds-spec.org/facet',
  acquisition: 'http://opds-spec.org/acquisition',
  image: 'http://opds-spec.org/image',
  thumbnail: 'http://opds-spec.org/image/thumbnail',
  stream: 'http://vaemendis.net/opds-pse/stream',
  progression: 'http://www.cantook.com/api/progression',
}
