// Seeded pseudo-random numbers (mulberry32): the same sequence on every run.

export type Random = ReturnType<typeof createRandom>

export function createRandom(seed: number) {
  let state = seed >>> 0
  /** At least 0, less than 1. */
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  /** An integer of at least 0, less than `limit`. */
  const below = (limit: number) => Math.floor(next() * limit)
  const pick = <T>(items: readonly T[]) => items[below(items.length)]!
  return {
    next,
    below,
    pick,
    chance: (probability: number) => next() < probability,
    /** Up to `max` different items. */
    some: <T>(items: readonly T[], max: number) => [
      ...new Set(Array.from({ length: below(max + 1) }, () => pick(items))),
    ],
    shuffled: <T>(items: readonly T[]) =>
      items
        .map(item => ({ item, at: next() }))
        .toSorted((a, b) => a.at - b.at)
        .map(({ item }) => item),
    /** Prefers the first items, roughly by Zipf's law. */
    pickByRank: <T>(items: readonly T[]) => items[Math.floor(items.length ** next()) - 1]!,
    hex: (digits: number) =>
      Array.from({ length: digits / 4 }, () => below(65_536).toString(16).padStart(4, '0')).join(
        '',
      ),
    /** Overwrites up to `max` bytes with random values; at least one. */
    mutate(bytes: Uint8Array, max: number) {
      for (let left = 1 + below(max); left > 0; left--) bytes[below(bytes.length)] = below(256)
    },
  }
}
