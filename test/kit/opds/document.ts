// Common model of OPDS 1.2 and 2.0 documents as a client reads them.

export type Link = {
  rels: string[]
  href: string
  /** Media type with its parameters; empty if missing. */
  type: string
  title: string
  isTemplate: boolean
  /** Number of items that the target claims to have. */
  count: number | null
  /** Name of the group of a facet. */
  group: string | null
  isActive: boolean
  /** Size in bytes. */
  length: number | null
  /** Attributes of a page stream. */
  pages: { count: number; lastRead: number | null } | null
}

export type Item = {
  /** Atom id; in JSON the self link of the item. */
  id: string
  title: string
  updated: string | null
  isBook: boolean
  links: Link[]
}

export type Document = {
  version: 1 | 2
  shape: 'feed' | 'entry' | 'search' | 'manifest' | 'other'
  /** Atom id; in JSON the self link of the document. */
  id: string
  title: string
  updated: string | null
  links: Link[]
  items: Item[]
  /** Null if the document is not paged. */
  paging: { total: number; size: number; page: number } | null
  /** The parsed JSON; null for XML. */
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
