// Links of the catalogs: absolute URLs in the tree that the client uses, and the paths of a book.
import { type CatalogPath, type OpdsVersion, prefixFor } from './catalog-path.ts'

export type Query = Record<string, string | number | undefined>

export type Links = ReturnType<typeof createLinks>

/** `base` is the server's URL without a trailing slash. */
export function createLinks(base: string, catalog: CatalogPath) {
  const tree = (version: OpdsVersion) => base + prefixFor(catalog, version)
  const root = (version: OpdsVersion) => (version === 1 ? `${tree(1)}/catalog` : tree(2))
  return {
    /** URL of a feed or a resource; `path` is encoded, values of `query` are not. Undefined parameters are left out. */
    to: (path: string, query: Query = {}) =>
      (path === '' ? root(catalog.version) : tree(catalog.version) + path) + formatQuery(query),
    /** The root of the catalog for that version. */
    root,
    /** URL template: `rest` is appended without encoding. */
    template: (path: string, rest: string) => tree(catalog.version) + path + rest,
    base,
  }
}

// What a reader loads from a book.
const readingPath = /^\/books\/[^/]+\/(?:manifest|positions|progression|resource|pages)(?:\/|$)/

/** Links for API clients: what they read from a book is below /api/v1, everything else in the OPDS 2.0 tree. */
export function createApiLinks(base: string): Links {
  const [api, catalog] = (['/api/v1', '/opds/v2'] as const).map(prefix =>
    createLinks(base, { version: 2, prefix, apiKey: null }),
  ) as [Links, Links]
  return {
    ...catalog,
    to: (path, query) => (readingPath.test(path) ? api : catalog).to(path, query),
  }
}

/** `?a=1&b=2`, in the order given; spaces as `%20`, which every client understands. */
export function formatQuery(query: Query): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        `${encodeURIComponent(name)}=${encodeURIComponent(String(value).toWellFormed())}`,
    )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** Path of a book's file. It ends in the file name, from which apps derive the format. */
export const filePath = ({ id, fileName }: { id: string; fileName: string }): string =>
  `/books/${id}/file/${encodeURIComponent(fileName.toWellFormed())}`
/** Path of the JPEG cover of a book or a series; `owner` is a path such as `/books/ID`. */
export const coverPath = (owner: string): string => `${owner}/cover.jpg`
export const thumbnailPath = (owner: string): string => `${owner}/thumbnail.jpg`

/** URLs of the resources of an EPUB, by name. */
export function resourceLinks(bookId: string, links: Links): (name: string) => string {
  const root = links.to(`/books/${bookId}/resource/`)
  // Slashes are not encoded, so that relative references in texts resolve.
  return name => root + encodeURIComponent(name.toWellFormed()).replaceAll('%2F', '/')
}
