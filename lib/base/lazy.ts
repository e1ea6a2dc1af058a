// Packages that are loaded at their first use: most processes never need them, and each holds one to four megabytes.

/** A function that returns what `load` returned at its first call. */
export function lazy<T>(load: () => T): () => T {
  let value: T | undefined
  return () => {
    value ??= load()
    return value
  }
}
