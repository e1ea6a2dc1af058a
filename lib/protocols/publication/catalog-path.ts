// Catalog paths: one URL tree per OPDS version. Paths of other servers that apps have saved, and paths with an
// API key, are aliases of the same trees; links use the prefix of the request.

export type OpdsVersion = 1 | 2
/**
 * `prefix` is the root of the tree in the request path, without a trailing slash; `apiKey` is the key in the path.
 * `isNegotiated`: the version was derived from the Accept header.
 */
export type CatalogPath = {
  version: OpdsVersion
  prefix: string
  apiKey: string | null
  isNegotiated?: true
}

const tree = /^\/opds(?:\/k\/(?<key>[^/]+))?\/v(?:(?<first>1(?:\.2)?)|2(?:\.0)?)(?=\/|$)/
// Paths that people type, and one that the app Chunky tries.
const shortcut = /^(?:(?<base>\/opds(?:\/k\/(?<key>[^/]+))?)|\/opds-comics)\/?$/

/** The tree that a path is in; null for other paths. The `accept` header chooses the tree of a shortcut. */
export function parseCatalogPath(path: string, accept = ''): CatalogPath | null {
  const groups = shortcut.exec(path)?.groups
  if (groups) {
    const version = prefersJson(accept) ? 2 : 1
    const prefix = `${groups.base ?? '/opds'}/v${version}`
    return { version, prefix, apiKey: decodeKey(groups), isNegotiated: true }
  }
  const match = tree.exec(path)
  if (match === null) return null
  const { 0: prefix, groups: parts = {} } = match
  const version = parts.first === undefined ? 2 : 1
  return { version, prefix, apiKey: decodeKey(parts) }
}

/** Whether OPDS 2.0 has a higher quality than OPDS 1.2, or the same and is listed first. */
function prefersJson(accept: string): boolean {
  const entries = accept.toLowerCase().split(',')
  const [json, atom] = ['application/opds+json', 'application/atom+xml'].map(type => {
    const place = entries.findIndex(entry => entry.split(';', 1)[0]!.trim() === type)
    const [, quality = '1'] = /;\s*q=([\d.]+)/.exec(entries[place] ?? '') ?? []
    return { place, quality: place < 0 ? 0 : Number(quality) }
  }) as [Named, Named]
  if (json.quality !== atom.quality) return json.quality > atom.quality
  return json.quality > 0 && json.place < atom.place
}

type Named = { place: number; quality: number }

function decodeKey({ key = null }: { key?: string | null }): string | null {
  try {
    return key && decodeURIComponent(key)
  } catch {
    return key
  }
}

/** The path of the route, without aliases and key. */
export function canonicalPath(path: string, catalog: CatalogPath): string {
  const rest = shortcut.test(path) ? '' : path.slice(catalog.prefix.length)
  const isRoot = /^\/?(?:catalog\/?)?$/.test(rest)
  if (catalog.version === 1) return isRoot ? '/opds/v1/catalog' : `/opds/v1${rest}`
  if (isRoot) return '/opds/v2'
  // Some apps send the template `/search{?query}` unexpanded.
  return `/opds/v2${rest.replace(/^\/search(?:\{|%7B)$/, '/search')}`
}

/** The prefix of the `targetVersion` tree, for a client that uses the given one. */
export function prefixFor({ prefix, version }: CatalogPath, targetVersion: OpdsVersion): string {
  return version === targetVersion ? prefix : prefix.replace(/[\d.]+$/, String(targetVersion))
}
