// Similar titles: pairs of keys by the Dice coefficient over character pairs and word pairs. Keys are compared only
// if they share one of their rarest pairs, as all sufficiently similar keys do.

/** The minimum similarity of a pair. */
export const minSimilarity = 0.85
// A source with more keys is inventing them.
const maxCandidates = 200
const maxLength = 200

type Key = { key: string; grams: readonly string[] }

/** Character pairs and word pairs, numbered if they occur more than once. */
function gramsOf(key: string): string[] {
  const pairs: string[] = []
  for (let i = 0; i + 1 < key.length; i++) pairs.push(key.slice(i, i + 2))
  const words = key.split(' ')
  for (let i = 0; i + 1 < words.length; i++) pairs.push(`${words[i]} ${words[i + 1]}\n`)
  if (pairs.length === 0) return [key]
  const seen = new Map<string, number>()
  return pairs.map(pair => {
    const count = seen.get(pair) ?? 0
    seen.set(pair, count + 1)
    return count === 0 ? pair : `${pair}${count}`
  })
}

/** `Title 2` and `Title 3` are different series. */
const numeralsOf = (key: string) => (key.match(/\p{N}+/gu) ?? []).join(' ')

/** How many pairs any two sufficiently similar keys with this many pairs share. */
const sharedAtLeast = (size: number) =>
  Math.ceil((minSimilarity / (2 - minSimilarity)) * size - 1e-9)

/** The similarity of two keys from 0 to 1. */
export function similarity(a: string, b: string): number {
  return compare(new Set(gramsOf(a)), gramsOf(b))
}

function compare(a: ReadonlySet<string>, b: readonly string[]): number {
  let shared = 0
  for (const gram of b) if (a.has(gram)) shared += 1
  return (2 * shared) / (a.size + b.length)
}

/** Returns a function that calls `onPair` for each of `keys` that is similar to its argument. */
export function createSimilarKeys(keys: Iterable<string>) {
  const entries = [...new Set(keys)]
    .filter(key => key.length <= maxLength)
    .map((key): Key & { set: ReadonlySet<string>; numerals: string } => {
      const grams = gramsOf(key)
      return { key, grams, set: new Set(grams), numerals: numeralsOf(key) }
    })
  const frequency = new Map<string, number>()
  for (const { grams } of entries)
    for (const gram of grams) frequency.set(gram, (frequency.get(gram) ?? 0) + 1)
  const rarest = (grams: readonly string[]) =>
    [...grams]
      .sort(
        (a, b) => (frequency.get(a) ?? 0) - (frequency.get(b) ?? 0) || (a < b ? -1 : Number(a > b)),
      )
      .slice(0, grams.length - sharedAtLeast(grams.length) + 1)
  const byGram = new Map<string, number[]>()
  for (const [i, { grams }] of entries.entries())
    for (const gram of rarest(grams)) {
      const found = byGram.get(gram)
      if (found) found.push(i)
      else byGram.set(gram, [i])
    }
  return (other: string, onPair: (key: string, similarity: number) => void) => {
    if (other.length > maxLength) return
    const grams = gramsOf(other)
    const numerals = numeralsOf(other)
    const candidates = new Set<number>()
    for (const gram of rarest(grams))
      for (const i of byGram.get(gram) ?? []) if (candidates.size < maxCandidates) candidates.add(i)
    for (const i of candidates) {
      const { key, set, numerals: own } = entries[i]!
      if (own !== numerals) continue
      const found = compare(set, grams)
      if (found >= minSimilarity) onPair(key, found)
    }
  }
}
