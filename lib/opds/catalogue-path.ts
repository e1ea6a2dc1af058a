// Catalogue paths: one URL tree per OPDS version. Addresses of other servers that apps have saved, and an
// API key in the path, are aliases of the same trees; links use the prefix of the request.

export type OpdsVersion = 1 | 2
/** `prefix` is the root of the tree in the request path, without a trailing slash; `apiKey` is the key in it. */
export type CataloguePath = { version: OpdsVersion; prefix: string; apiKey: string | null }

const tree = /^\/opds(?:\/k\/(?<key>[^/]+))?\/v(?:(?<first>1(?:\.2)?)|2(?:\.0)?)(?=\/|$)/
// Addresses that people type, and one that the app Chunky tries.
const shortcut = /^(?:(?<base>\/opds(?:\/k\/(?<key>[^/]+))?)|\/opds-comics)\/?$/

/** The tree that a path is in; null for other paths. */
export function parseCataloguePath(path: string): CataloguePath | null {
  const groups = shortcut.exec(path)?.groups
  if (groups)
    return { version: 1, prefix: `${groups.base ?? '/opds'}/v1`, apiKey: decodeKey(groups) }
  const match = tree.exec(path)
  if (match === null) return null
  const { 0: prefix, groups: parts = {} } = match
  return { version: parts.first === undefined ? 2 : 1, prefix, apiKey: decodeKey(parts) }
}

function decodeKey({ key = null }: { key?: string | null }): string | null {
  try {
    return key && decodeURIComponent(key)
  } catch {
    return key
  }
}

/** The path of the route, without aliases and key. */
export function canonicalPath(path: string): string {
  const catalogue = parseCataloguePath(path)
  if (catalogue === null) return path
  const rest = shortcut.test(path) ? '' : path.slice(catalogue.prefix.length)
  const isRoot = /^\/?(?:catalog\/?)?$/.test(rest)
  if (catalogue.version === 1) return isRoot ? '/opds/v1/catalog' : `/opds/v1${rest}`
  if (isRoot) return '/opds/v2'
  // Some apps send the template `/search{?query}` unexpanded.
  return `/opds/v2${rest.replace(/^\/search(?:\{|%7B)$/, '/search')}`
}

/** The prefix of the tree of `targetVersion`, for a client that uses the given one. */
export function prefixFor({ prefix, version }: CataloguePath, targetVersion: OpdsVersion): string {
  return version === targetVersion ? prefix : prefix.replace(/[\d.]+$/, String(targetVersion))
}
