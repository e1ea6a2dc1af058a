// The addresses under which the catalogues answer. There is one tree a version; saved addresses of
// other servers and a key in the path are other ways into the same, and links stay on the way taken.

export type Version = 1 | 2
/** `at` is where the tree was entered, without a slash at the end; `key` is the API key that stands in it. */
export type Entered = { version: Version; at: string; key: string | null }

const tree = /^\/opds(?:\/k\/(?<key>[^/]+))?\/v(?:(?<first>1(?:\.2)?)|2(?:\.0)?)(?=\/|$)/
// What is typed, and what Chunky tries.
const guess = /^(?:(?<place>\/opds(?:\/k\/(?<key>[^/]+))?)|\/opds-comics)\/?$/

/** The tree that a path is in; null for other paths. */
export function enteredTree(path: string): Entered | null {
  const guessed = guess.exec(path)?.groups
  if (guessed) return { version: 1, at: `${guessed.place ?? '/opds'}/v1`, key: keyOf(guessed) }
  const found = tree.exec(path)
  if (found === null) return null
  const { 0: at, groups = {} } = found
  return { version: groups.first === undefined ? 2 : 1, at, key: keyOf(groups) }
}

function keyOf({ key = null }: { key?: string | null }): string | null {
  try {
    return key && decodeURIComponent(key)
  } catch {
    return key
  }
}

/** The path by which the router knows it. */
export function canonicalPath(path: string): string {
  const entered = enteredTree(path)
  if (entered === null) return path
  const rest = guess.test(path) ? '' : path.slice(entered.at.length)
  const isRoot = /^\/?(?:catalog\/?)?$/.test(rest)
  if (entered.version === 1) return isRoot ? '/opds/v1/catalog' : `/opds/v1${rest}`
  if (isRoot) return '/opds/v2'
  // Of apps that send a template as it is, `/search{?query}`.
  return `/opds/v2${rest.replace(/^\/search(?:\{|%7B)$/, '/search')}`
}

/** Where the tree of that version is for who came by this one. */
export function treeAt({ at, version }: Entered, wanted: Version): string {
  return version === wanted ? at : at.replace(/[\d.]+$/, String(wanted))
}
