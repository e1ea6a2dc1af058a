// Absolute addresses of what the catalogues lead to, in the tree by which the client came.
import type { Query } from './feed.ts'
import { type Entered, treeAt, type Version } from './tree.ts'

export type Links = ReturnType<typeof linksFrom>

/** `base` is the address of the server, without a slash at the end. */
export function linksFrom(base: string, entered: Entered) {
  const tree = (version: Version) => base + treeAt(entered, version)
  const root = (version: Version) => (version === 1 ? `${tree(1)}/catalog` : tree(2))
  return {
    /** Address of a feed or a resource; `path` is encoded, values of `query` are not. Parameters without a value are left out. */
    to: (path: string, query: Query = {}) =>
      (path === '' ? root(entered.version) : tree(entered.version) + path) + searchOf(query),
    /** The root of the catalogue of that version. */
    root,
    /** Without parameters, for templates: what is added stays as it is. */
    template: (path: string, rest: string) => tree(entered.version) + path + rest,
    base,
  }
}

/** `?a=1&b=2`, in the order given; spaces as `%20`, which every client takes. */
export function searchOf(query: Query): string {
  const pairs = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        `${encodeURIComponent(name)}=${encodeURIComponent(String(value).toWellFormed())}`,
    )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}
