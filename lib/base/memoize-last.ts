/** Memoizes only the most recent argument. For pure functions that mostly get the same one. */
export function memoizeLast<T>(compute: (key: string) => T): (key: string) => T {
  let last: { key: string; value: T } | null = null
  return key => {
    if (last?.key !== key) last = { key, value: compute(key) }
    return last.value
  }
}
