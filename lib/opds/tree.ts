// The addresses under which the catalogues answer. There is one tree a version; saved addresses of
// other servers and a key in the path are other ways into the same, and links stay on the way taken.

export type Version = 1 | 2
/** `at` is where the tree was entered, without a slash at the end; `key` is the API key that stands in it. */
export type Entered = { version: Version; at: string; key: string | null }

const trees: [pattern: RegExp, version: Version][] = [
  [/^\/opds\/v1(?:\.2)?(?=\/|$)/, 1],
  [/^\/opds\/v2(?:\.0)?(?=\/|$)/, 2],
  [/^\/opds\/k\/[^/]+\/v1(?=\/|$)/, 1],
  [/^\/opds\/k\/[^/]+\/v2(?=\/|$)/, 2],
]
// What is typed, and what Chunky tries.
const guesses = /^\/opds(?:-comics)?\/?$/

/** The tree that a path is in; null for other paths. */
export function enteredTree(path: string): Entered | null {
  if (guesses.test(path)) return { version: 1, at: '/opds/v1', key: null }
  for (const [pattern, version] of trees) {
    const at = pattern.exec(path)?.[0]
    if (at !== undefined) return { version, at, key: keyIn(at) }
  }
  return null
}

function keyIn(at: string): string | null {
  const written = /^\/opds\/k\/([^/]+)/.exec(at)?.[1] ?? null
  try {
    return written && decodeURIComponent(written)
  } catch {
    return written
  }
}

/** The path by which the router knows it. */
export function canonicalPath(path: string): string {
  const tree = enteredTree(path)
  if (tree === null) return path
  const rest = guesses.test(path) ? '' : path.slice(tree.at.length)
  const isRoot = /^\/?(?:catalog\/?)?$/.test(rest)
  if (tree.version === 1) return isRoot ? '/opds/v1/catalog' : `/opds/v1${rest}`
  return isRoot ? '/opds/v2' : `/opds/v2${rest}`
}

/** Where the tree of that version is for who came by this one. */
export function treeAt({ at, version }: Entered, wanted: Version): string {
  if (version === wanted) return at
  return at.startsWith('/opds/k/') ? at.replace(/\d$/, String(wanted)) : `/opds/v${wanted}`
}
