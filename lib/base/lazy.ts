// Loads packages on first use: most processes never need them, and each takes one to four megabytes.

/** A function that calls `load` once and returns its result every time. */
export function lazy<T>(load: () => T): () => T {
  let value: T | undefined
  return () => {
    value ??= load()
    return value
  }
}
