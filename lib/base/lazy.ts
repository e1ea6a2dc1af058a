// Values that are computed when they are needed first, or again for another argument.

/**
 * A function that calls `load` once and returns its result every time. For packages: most processes never need them, and each
 * takes one to four megabytes.
 */
export function lazy<T>(load: () => T): () => T {
  let value: T | undefined
  return () => {
    value ??= load()
    return value
  }
}

/** Memoizes only the most recent argument. For pure functions that mostly get the same one. */
export function memoizeLast<T>(compute: (key: string) => T): (key: string) => T {
  let last: { key: string; value: T } | null = null
  return key => {
    if (last?.key !== key) last = { key, value: compute(key) }
    return last.value
  }
}
